//! Stages that are one question, answered without sorting every line, once it has shown on this data that the answer is
//! the same.

use std::ffi::OsString;
use std::fs::{File, metadata};
use std::io::{self, PipeWriter, Read as _, Seek as _, Write as _, copy, pipe, stdin, stdout};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Output, Stdio};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow};
use fullbore_auto::{Fusion, Question};
use fullbore_feed::Input;
use fullbore_feed::par::Command;
use fullbore_measure::Bytes;
use fullbore_process::hand_on_ignored_signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};

use super::answer::{Answered, answer};
use super::both_ways::{self, end_as};
use super::program;
use crate::args::par::ParOptions;
use crate::args::prove::Prove;
use crate::commands::auto::{Done, tell};
use crate::exit::Exit;

/// So much of the input is worked on both ways. Less is not worth the trouble: the stages themselves are as quick.
const PROVED_BYTES: Bytes = Bytes(1 << 20);

/// What comes while the proof runs waits in memory, at most so much of it.
const MOST_WAITING: usize = 128 << 20;

/// What failed, in messages.
const READING: &str = "par: reading standard input";

/// The input is looked for so often while the proof runs.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 2_000_000 };

/// What one read of the input takes at most.
const READ_BYTES: usize = 1 << 20;

/// Answers the question about a file; `None` if it is no regular file, short, or the answers differ: then nothing was done.
pub(super) fn run_on_file(options: &ParOptions, fusion: &Fusion) -> Result<Option<Exit>> {
    let Some(path) = fusion.file.as_deref() else { return Ok(None) };
    let is_regular = |path| metadata(path).is_ok_and(|about| about.is_file());
    // A named pipe would be waited for.
    let Some(input) = Some(path).filter(|path| is_regular(*path)).and_then(|p| File::open(p).ok())
    else {
        return Ok(None);
    };
    let words = ["sh", "-c", &fusion.line()].map(OsString::from);
    let Ok(stages) = program::find(words.into()) else { return Ok(None) };
    let (input, proved) = match begin(options, fusion.question, &stages, (input, path))? {
        Begun::Ended(exit) => return Ok(Some(exit)),
        Begun::Proof(input, bytes) => (input, bytes),
    };
    let mut held = Vec::new();
    (&input).take(proved.0).read_to_end(&mut held).context(path.to_owned())?;
    let end = whole_lines(&held);
    if (held.len() as u64) < proved.0 || end == 0 {
        return Ok(None);
    }
    if !prove(&stages, fusion, None, (&mut held, end))? {
        tell(options.tell.as_deref(), Done::Differs);
        return Ok(None);
    }
    tell(options.tell.as_deref(), Done::Fused { proved_bytes: Some(end as u64) });
    let input = Input::open(path.as_ref()).map_err(|error| anyhow!("par: {path}: {error}"))?;
    answer_all(fusion.question, input, &stages).map(Some)
}

/// Answers the question: by the stages themselves if the input is short or the answers differ.
pub(super) fn run(options: &ParOptions, command: &Command, fusion: &Fusion) -> Result<Exit> {
    // Nothing may stay in a buffer of its own.
    let input = File::from(stdin().as_fd().try_clone_to_owned().context(READING)?);
    let input = (input, "standard input");
    let (input, proved) = match begin(options, fusion.question, command, input)? {
        Begun::Ended(exit) => return Ok(exit),
        Begun::Proof(input, bytes) => (input, bytes),
    };
    let mut held = Vec::new();
    (&input).take(proved.0).read_to_end(&mut held).context(READING)?;
    if (held.len() as u64) < proved.0 {
        tell(options.tell.as_deref(), Done::AsItIs);
        return serially(command, &held, input);
    }
    let end = whole_lines(&held);
    let is_proved = match end {
        0 => false,
        _ => prove(command, fusion, Some(&input), (&mut held, end))?,
    };
    if !is_proved {
        tell(options.tell.as_deref(), Done::Differs);
        return serially(command, &held, input);
    }
    tell(options.tell.as_deref(), Done::Fused { proved_bytes: Some(end as u64) });
    answer_all(fusion.question, Input::new(input, "standard input").after(held), command)
}

/// What came of the question before any proof of the beginning.
enum Begun {
    /// It was answered without one, or the whole input was the proof.
    Ended(Exit),
    /// So much of this input is to be proved.
    Proof(File, Bytes),
}

/// Does what `--prove` asks for, as far as that is not a proof of the beginning.
fn begin(
    options: &ParOptions,
    question: Question,
    stages: &Command,
    (input, name): (File, &str),
) -> Result<Begun> {
    match options.prove.unwrap_or(Prove::First(PROVED_BYTES)) {
        Prove::First(bytes) => Ok(Begun::Proof(input, bytes)),
        Prove::Off => {
            tell(options.tell.as_deref(), Done::Fused { proved_bytes: None });
            answer_all(question, Input::new(input, name), stages).map(Begun::Ended)
        }
        Prove::All => {
            let beside = |input: OwnedFd, out: PipeWriter| match answer(
                question,
                Input::new(input, name),
                out,
            )? {
                Answered::Written(_) => Ok(Some(0)),
                Answered::TooLarge(..) => Ok(None),
            };
            both_ways::run(options, stages, input, beside).map(Begun::Ended)
        }
    }
}

/// Answers the question about all of the input; the stages do if that takes too much memory.
fn answer_all(question: Question, input: Input, stages: &Command) -> Result<Exit> {
    match answer(question, input, stdout())? {
        Answered::Written(exit) => Ok(exit),
        Answered::TooLarge(held, rest) => serially(stages, &held, rest),
    }
}

/// Bytes up to the last line end.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

/// Whether the stages and the answer are the same of the first bytes that are held, while what comes of a stream is held, too.
fn prove(
    command: &Command,
    fusion: &Fusion,
    input: Option<&File>,
    (held, end): (&mut Vec<u8>, usize),
) -> Result<bool> {
    let [for_stages, for_us] = [in_memory(&held[..end])?, in_memory(&held[..end])?];
    let mut process = command.as_it_is();
    hand_on_ignored_signals(&mut process);
    process.stdin(for_stages).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = process.spawn().context("par: starting the stages")?;
    let stages = thread::spawn(move || child.wait_with_output());
    let ours = in_memory(&[])?;
    let beginning = Input::new(for_us, "the beginning");
    let answered = answer(fusion.question, beginning, ours.try_clone()?);
    if let Some(input) = input {
        wait_for(&stages, input, held)?;
    }
    let Ok(Ok(Output { status, stdout, stderr })) = stages.join() else { return Ok(false) };
    let mut own = Vec::new();
    (&ours).rewind()?;
    (&ours).read_to_end(&mut own)?;
    Ok(matches!(answered, Ok(Answered::Written(_)))
        && status.success()
        && stderr.is_empty()
        && stdout == own)
}

/// Takes input in until the proof has ended.
fn wait_for(
    stages: &JoinHandle<io::Result<Output>>,
    input: &File,
    held: &mut Vec<u8>,
) -> Result<()> {
    while !stages.is_finished() && held.len() < MOST_WAITING {
        let mut fds = [PollFd::new(input, PollFlags::IN)];
        // Interrupted: then this look comes early.
        if poll(&mut fds, Some(&LOOK)) != Ok(1) {
            continue;
        }
        let before = held.len();
        held.resize(before + READ_BYTES, 0);
        let count = rustix::io::retry_on_intr(|| rustix::io::read(input, &mut held[before..]));
        let count = count.context(READING);
        held.truncate(before + *count.as_ref().unwrap_or(&0));
        if count? == 0 {
            break;
        }
    }
    Ok(())
}

/// The stages themselves, with what was read already and the rest.
fn serially(command: &Command, held: &[u8], mut input: impl io::Read) -> Result<Exit> {
    let (reader, mut writer) = pipe().context("par: making a pipe")?;
    let mut process = command.as_it_is();
    hand_on_ignored_signals(&mut process);
    let mut child = process.stdin(reader).spawn().context("par: starting the stages")?;
    drop(process);
    // They may read no more, as head does; that is no error.
    if writer.write_all(held).is_ok() {
        let _ = copy(&mut input, &mut writer);
    }
    drop(writer);
    Ok(end_as(child.wait().context("par: waiting for the stages")?))
}

fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("fullbore-auto", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
