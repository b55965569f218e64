//! `par --auto --prove=all`: everything is worked on both ways at the same time. What is written is what the command itself
//! writes; of the other way, only a digest is kept.

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write, pipe, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::thread;

use anyhow::{Context, Result};
use blake3::{Hash, Hasher};
use fullbore_feed::par::Command;
use fullbore_pipeline::die_of;
use fullbore_process::hand_on_ignored_signals;

use crate::args::par::ParOptions;
use crate::commands::auto::{Done, tell};
use crate::exit::Exit;

/// Input and output are moved in pieces of this size.
const PIECE_BYTES: usize = 128 << 10;

/// What came out of one way.
#[derive(Debug, PartialEq, Eq)]
struct Output {
    bytes: u64,
    digest: Hash,
}

/// What became of the input.
enum Given {
    /// All that came.
    All(u64),
    /// The command wanted no more of it, so that there is nothing to compare.
    Less,
}

/// Gives the input to the command, and to `other` at the same time; `other` has a pipe for its output, and returns its exit
/// status, or `None` if it cannot take so much.
pub(super) fn run(
    options: &ParOptions,
    command: &Command,
    input: File,
    other: impl FnOnce(OwnedFd, PipeWriter) -> Result<Option<u8>> + Send,
) -> Result<Exit> {
    let making = "par: making a pipe";
    let (for_command, to_command) = pipe().context(making)?;
    let (for_other, to_other) = pipe().context(making)?;
    let (from_command, command_out) = pipe().context(making)?;
    let (from_other, other_out) = pipe().context(making)?;
    let mut process = command.as_it_is();
    hand_on_ignored_signals(&mut process);
    process.stdin(for_command).stdout(command_out);
    let mut child = process.spawn().context("par: starting the command")?;
    // It holds ends of the pipes.
    drop(process);
    let (ours, others, given, status) = thread::scope(|scope| {
        let given = scope.spawn(|| give(input, to_command, to_other));
        let others = scope.spawn(move || taken(from_other, None));
        let status = scope.spawn(move || other(for_other.into(), other_out));
        let ours = taken(from_command, Some(stdout().as_fd().try_clone_to_owned()));
        (ours, others.join(), given.join(), status.join())
    });
    let exited = child.wait().context("par: waiting for the command")?;
    let is_same = matches!((&ours, &others), (Ok(ours), Ok(Ok(others))) if ours == others);
    let has_same_status = |status: u8| exited.code().is_some_and(|ours| ours == i32::from(status));
    let done = match (&given, status) {
        // There is nothing to compare.
        _ if ours.is_err() => Done::Alone,
        (Ok(Ok(Given::Less)), _) | (_, Ok(Ok(None))) => Done::Alone,
        (Ok(Ok(Given::All(proved_bytes))), Ok(Ok(Some(status))))
            if is_same && has_same_status(status) =>
        {
            Done::Proved { proved_bytes: *proved_bytes }
        }
        _ => Done::Differs,
    };
    tell(options.tell.as_deref(), done);
    match ours {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Exit::ReaderLeft),
        Err(error) => return Err(error).context("par: writing standard output"),
    }
    if let Ok(given) = given {
        given.context("par: reading the input")?;
    }
    Ok(end_as(exited))
}

/// Gives each piece of the input to both. When the command wants no more, that is the end for both.
fn give(mut input: File, mut one: PipeWriter, mut other: PipeWriter) -> io::Result<Given> {
    let (mut piece, mut bytes) = (vec![0; PIECE_BYTES], 0);
    let mut takes_more = true;
    loop {
        let count = match input.read(&mut piece) {
            Ok(0) => return Ok(Given::All(bytes)),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes += count as u64;
        match one.write_all(&piece[..count]) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Given::Less),
            Err(error) => return Err(error),
        }
        // A way that failed early shows it by its output.
        takes_more = takes_more && other.write_all(&piece[..count]).is_ok();
    }
}

/// Takes an output to its end, and writes it where it belongs.
fn taken(mut from: PipeReader, to: Option<io::Result<OwnedFd>>) -> io::Result<Output> {
    let mut to = to.transpose()?.map(File::from);
    let (mut piece, mut bytes, mut hasher) = (vec![0; PIECE_BYTES], 0, Hasher::new());
    loop {
        let count = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if let Some(to) = &mut to {
            to.write_all(&piece[..count])?;
        }
        bytes += count as u64;
        hasher.update(&piece[..count]);
    }
    Ok(Output { bytes, digest: hasher.finalize() })
}

/// Ends as a child did.
pub(super) fn end_as(status: ExitStatus) -> Exit {
    if let Some(signal) = status.signal() {
        die_of(signal);
    }
    Exit::Child(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX))
}
