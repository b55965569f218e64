//! Tries on the beginning of the input whether dealing it out changes anything.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fullbore_pipe::Lender;
use fullbore_pipe::transfer::Moved;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::command::Command;
use super::cut::Block;
use super::ended::{Ended, Error};
use super::intake::Intake;
use super::job::Status;
use super::options::Options;
use super::orphans::Orphans;
use super::stop::Stop;
use super::store::Part;

/// The copy gets so long to end after a signal.
const GRACE: Duration = Duration::from_secs(2);

/// Where Linux has no descriptor for processes, their end is looked for so often.
const PAUSE_NANOSECONDS: i64 = 10_000_000;

/// The exit status of a process whose reader left.
const SIGPIPE_STATUS: u8 = 141;

/// The beginning of the input.
#[derive(Debug)]
pub(super) struct Beginning {
    pub(super) header: Option<Part>,
    pub(super) blocks: Vec<Block>,
}

impl Beginning {
    /// Takes it from what comes in.
    pub(super) fn take(intake: &mut Intake, most_bytes: u64, stop: &Stop) -> Self {
        let (mut blocks, mut bytes) = (Vec::new(), 0);
        // One block alone shows nothing.
        while (bytes < most_bytes || blocks.len() < 2)
            && let Some(block) = intake.wait_for_block(stop)
        {
            bytes += block.part.len();
            blocks.push(block);
        }
        Self { header: intake.header().cloned(), blocks }
    }

    /// Puts it back.
    pub(super) fn put_back(self, intake: &mut Intake) {
        self.blocks.into_iter().rev().for_each(|block| intake.put_back(block));
    }

    /// Bytes in its blocks.
    pub(super) fn len(&self) -> u64 {
        self.blocks.iter().map(|block| block.part.len()).sum()
    }

    fn parts(&self) -> impl Iterator<Item = Part> {
        self.header.iter().chain(self.blocks.iter().map(|block| &block.part)).cloned()
    }

    /// Works on it in blocks with `deal`, and at the same time in one piece; returns the first byte of the output that
    /// differs, if the output or the exit status does, and how the command in one piece ended.
    pub(super) fn difference(
        &self,
        command: &Command,
        lender: &Lender,
        stop: &Stop,
        deal: impl FnOnce(Option<Part>, Vec<Block>, &File, &File) -> Result<Ended, Error> + Send,
    ) -> Result<(Option<u64>, Ended), Error> {
        let files: Result<Vec<File>, io::Error> = (0..4).map(|_| in_memory()).collect();
        let files = files.map_err(Error::Preparing)?;
        let (dealt, alone) = thread::scope(|scope| {
            let dealt = scope
                .spawn(|| deal(self.header.clone(), self.blocks.clone(), &files[0], &files[1]));
            let parts = self.parts().map(Ok);
            let alone = serially(command, parts, [&files[2], &files[3]], lender, stop);
            let panicked = || Err(Error::Preparing(io::Error::other("a thread has failed")));
            (dealt.join().unwrap_or_else(|_| panicked()), alone)
        });
        let (dealt, alone) = (dealt?, alone?);
        let difference = first_difference(&files[0], &files[2]).map_err(Error::Preparing)?;
        let end = || files[2].metadata().map_or(0, |file| file.len());
        Ok((difference.or_else(|| (dealt != alone).then(end)), alone))
    }

    /// Goes on with one copy of the command that gets everything.
    pub(super) fn go_on_serially(
        self,
        mut intake: Intake,
        command: &Command,
        ends: [impl AsFd; 2],
        lender: &Lender,
        stop: &Stop,
    ) -> Result<Ended, Error> {
        let beginning: Vec<Part> = self.parts().collect();
        // Their memory can be used again.
        drop(self);
        let rest = std::iter::from_fn(|| match intake.wait_for_block(stop) {
            Some(block) => Some(Ok(block.part)),
            None => intake.take_failure().map(Err),
        });
        serially(command, beginning.into_iter().map(Ok).chain(rest), ends, lender, stop)
    }
}

/// Runs the command once on all parts.
fn serially(
    command: &Command,
    parts: impl Iterator<Item = Result<Part, Error>>,
    ends: [impl AsFd; 2],
    lender: &Lender,
    stop: &Stop,
) -> Result<Ended, Error> {
    let starting = |error| Error::Starting(1, error);
    let [out, err] = ends.map(|end| end.as_fd().try_clone_to_owned());
    let (child_in, pipe) = io::pipe().map_err(Error::Preparing)?;
    let pipe = OwnedFd::from(pipe);
    rustix::io::ioctl_fionbio(&pipe, true).map_err(|errno| Error::Preparing(errno.into()))?;
    let mut process = command.process();
    process.stdin(child_in);
    process.stdout(Stdio::from(out.map_err(Error::Preparing)?));
    process.stderr(Stdio::from(err.map_err(Error::Preparing)?));
    let mut child = process.spawn().map_err(starting)?;
    // It holds the reading end.
    drop(process);
    let fed = feed(parts, &pipe, lender, stop);
    drop(pipe);
    if fed.is_err() {
        signal(&child, Signal::TERM);
    }
    let status = Status::of(wait(&mut child, stop).map_err(starting)?).code;
    fed?;
    Ok(match stop.signal() {
        Some(signal) => Ended::Stopped(signal),
        None if status == SIGPIPE_STATUS => Ended::ReaderLeft,
        None => Ended::Done(status),
    })
}

/// Feeds everything, until the command reads no more or a signal comes.
fn feed(
    parts: impl Iterator<Item = Result<Part, Error>>,
    pipe: &OwnedFd,
    lender: &Lender,
    stop: &Stop,
) -> Result<(), Error> {
    for part in parts {
        let mut part = part?;
        while part.len() > 0 {
            match part.feed(pipe, lender) {
                Ok(Moved::Bytes(_)) => {}
                Ok(Moved::WouldBlock) => {
                    let bell = stop.bell();
                    let mut fds =
                        [PollFd::new(pipe, PollFlags::OUT), PollFd::new(&bell, PollFlags::IN)];
                    // Interrupted: then this look comes early.
                    let _ = poll(&mut fds, None);
                    if stop.signal().is_some() {
                        return Ok(());
                    }
                }
                Ok(_) => return Err(Error::Reading(io::ErrorKind::UnexpectedEof.into())),
                // It reads no more, as head does.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Err(error) => return Err(Error::Moving(1, error)),
            }
        }
    }
    Ok(())
}

/// Waits for the end; when a signal comes, passes it on, and kills after a while.
fn wait(child: &mut Child, stop: &Stop) -> io::Result<ExitStatus> {
    let ending = Pid::from_raw(child.id().cast_signed())
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let mut told: Option<(Instant, Orphans)> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            if let (Some((_, orphans)), Some(number)) = (told, stop.signal()) {
                orphans.end(named(number), GRACE);
            }
            return Ok(status);
        }
        match (&mut told, stop.signal()) {
            (None, Some(number)) => {
                told = Some((Instant::now(), Orphans::adopt([child.id()])));
                signal(child, named(number));
            }
            (Some((since, orphans)), _) => {
                orphans.look();
                if since.elapsed() >= GRACE {
                    signal(child, Signal::KILL);
                }
            }
            _ => {}
        }
        let bell = stop.bell();
        // It rings on after the signal.
        let ends = [ending.as_ref().map(AsFd::as_fd), told.is_none().then_some(bell)];
        let mut fds: Vec<PollFd<'_>> =
            ends.iter().flatten().map(|end| PollFd::new(end, PollFlags::IN)).collect();
        let pause = Timespec { tv_sec: 0, tv_nsec: PAUSE_NANOSECONDS };
        let _ = poll(&mut fds, Some(&pause));
    }
}

fn named(signal: i32) -> Signal {
    Signal::from_named_raw(signal).unwrap_or(Signal::TERM)
}

fn signal(child: &Child, signal: Signal) {
    if let Some(pid) = Pid::from_raw(child.id().cast_signed()) {
        // It may end at this moment.
        let _ = kill_process(pid, signal);
    }
}

pub(super) fn in_memory() -> io::Result<File> {
    Ok(File::from(memfd_create("fullbore-par", MemfdFlags::CLOEXEC)?))
}

/// The first byte in which two files differ; the end of the shorter one if it is the beginning of the other.
fn first_difference(one: &File, other: &File) -> io::Result<Option<u64>> {
    const PIECE_BYTES: usize = 64 << 10;
    let (mut one, mut other) = (one, other);
    one.rewind()?;
    other.rewind()?;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let mut at = 0;
    loop {
        a.clear();
        b.clear();
        one.take(PIECE_BYTES as u64).read_to_end(&mut a)?;
        other.take(PIECE_BYTES as u64).read_to_end(&mut b)?;
        if let Some(first) = a.iter().zip(&b).position(|(a, b)| a != b) {
            return Ok(Some(at + first as u64));
        }
        if a.len() != b.len() {
            return Ok(Some(at + a.len().min(b.len()) as u64));
        }
        if a.is_empty() {
            return Ok(None);
        }
        at += a.len() as u64;
    }
}

/// What is worth repeating of a plan for the beginning.
pub(super) fn plan(options: &Options) -> Options {
    Options {
        records: options.records.clone(),
        block: options.block,
        header_lines: options.header_lines,
        jobs: options.jobs,
        window: options.window,
        is_unordered: false,
        merge: options.merge.clone(),
        status: options.status,
        halt: None,
        retries: 0,
        joblog: None,
        proved: None,
        caution: None,
        pipe_limits: options.pipe_limits,
    }
}
