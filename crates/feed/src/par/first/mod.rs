//! The first copy of a command that is dealt out with caution.
//!
//! It takes what comes, and writes to where the output belongs, with nothing in between. Meanwhile it is watched: how many
//! bytes it takes per second of CPU time, and whether it is what the input waits for. A fast one gets the rest of the
//! input, page by page, without a copy. A slow one ends at the end of a record, and blocks are dealt out from there on.

mod copy;
mod judge;
mod proof;
mod source;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use fullbore_measure::Bytes;
use fullbore_pipe::widen;
use memchr::{memchr, memrchr};

use self::copy::{Copy, Waited};
pub use self::judge::FAST_BYTES_PER_SECOND;
use self::judge::{Judge, Verdict};
pub(super) use self::proof::Proof;
use self::source::{Input, Took};
use super::caution::{Caution, Guard};
use super::command::Command;
use super::cut::Source;
use super::ended::{Ended, Error};
use super::job::Status;
use super::merge::Merge;
use super::options::Options;
use super::records::Records;
use super::stop::Stop;

/// A record that is longer goes to one copy, with all that follows.
const MOST_RECORD: usize = 1 << 20;

/// The capacity of the pipes to and from this process once the copy gets everything.
const WIDE: Bytes = Bytes(1 << 20);

/// What came of the first copy.
#[derive(Debug)]
pub(super) enum First {
    /// It got everything.
    Ended(Ended),
    /// It ended before the rest of the input, which is dealt out.
    Begun(Source, Begun),
}

/// What was done before blocks are dealt out.
#[derive(Debug)]
pub(super) struct Begun {
    /// The exit status of the first copy.
    pub(super) status: u8,
    /// What it has written, if outputs are merged.
    pub(super) output: Vec<u8>,
    /// What was read of the input and it was not given.
    pub(super) rest: Vec<u8>,
    /// So many copies may run.
    pub(super) copies: usize,
}

/// The first copy and what it gets.
struct Alone<'a> {
    copy: Copy,
    input: Input,
    record_end: u8,
    guard: Guard,
    judge: Judge,
    /// What was read and it was not given yet.
    held: Vec<u8>,
    /// What it was given of a record that has not ended.
    record: Vec<u8>,
    /// What must hold before anything is dealt out.
    proof: Option<Proof<'a>>,
    stop: &'a Stop,
}

/// What the input has become.
enum Next {
    /// Nothing more comes.
    End,
    /// The copy gets the rest.
    Through,
    /// So many copies share the rest.
    Deal(usize),
    /// The copy, or somebody else, wants no more.
    Left,
}

/// Gives the input to a first copy, until that was all or it is better to deal out.
pub(super) fn begin<'a>(
    (command, source): (&Command, Source),
    ends: [BorrowedFd<'_>; 2],
    (options, caution): (&Options, &Caution),
    proof: Option<Proof<'a>>,
    stop: &'a Stop,
) -> Result<First, Error> {
    let Records::EndByte(record_end) = options.records else {
        return Ok(First::Begun(source, Begun::nothing()));
    };
    let starting = |error| Error::Starting(1, error);
    let is_kept = matches!(options.merge, Some(Merge::Sum | Merge::Greatest));
    let mut alone = Alone {
        copy: Copy::start(command, ends, is_kept).map_err(starting)?,
        input: Input::new(source),
        record_end,
        guard: Guard::new(caution),
        judge: Judge::new(options.jobs, Instant::now()),
        held: Vec::new(),
        record: Vec::new(),
        proof,
        stop,
    };
    let next = match alone.watch() {
        Ok(next) => next,
        Err(error) => {
            alone.copy.end(None);
            return Err(error);
        }
    };
    alone.finish(next, ends[0], caution)
}

impl Begun {
    fn nothing() -> Self {
        Self { status: 0, output: Vec::new(), rest: Vec::new(), copies: 1 }
    }
}

impl Alone<'_> {
    /// Gives the copy what comes, as it comes, until it is known what to do with the rest.
    fn watch(&mut self) -> Result<Next, Error> {
        let mut wanted = None;
        loop {
            if self.wait_for_input()? == Waited::Left {
                return Ok(Next::Left);
            }
            let before = self.held.len();
            match self.input.read(&mut self.held).map_err(Error::Reading)? {
                Took::Nothing => continue,
                Took::End => return Ok(Next::End),
                Took::Bytes => {}
            }
            if let Some(proof) = &mut self.proof {
                proof.remember(&self.held[before..]);
            }
            if let (Some(copies), Some(at)) = (wanted, memchr(self.record_end, &self.held)) {
                return self.give_last_record(at + 1, copies);
            }
            let is_borne = self.bears_what_is_held();
            if let Some(next) = self.give(self.held.len())? {
                return Ok(next);
            }
            if !is_borne || self.copy.has_complained() {
                return Ok(Next::Through);
            }
            if wanted.is_some() {
                continue;
            }
            match self.judge.verdict(Instant::now(), || self.copy.seen()) {
                Verdict::Unknown => {}
                Verdict::Fast => return Ok(Next::Through),
                Verdict::Slow(_) if self.proof.as_ref().is_some_and(|proof| !proof.is_ready()) => {}
                Verdict::Slow(_) if !self.is_proved() => return Ok(Next::Through),
                Verdict::Slow(copies) if self.record.is_empty() => return Ok(Next::Deal(copies)),
                Verdict::Slow(copies) => wanted = Some(copies),
            }
        }
    }

    /// Whether nothing speaks against dealing out.
    fn is_proved(&mut self) -> bool {
        self.proof.take().is_none_or(|proof| proof.holds(self.record_end))
    }

    /// Gives it the end of its last record, unless that is not as the command assumes.
    fn give_last_record(&mut self, end: usize, copies: usize) -> Result<Next, Error> {
        self.record.extend_from_slice(&self.held[..end]);
        let is_borne = self.guard.bears_bytes(&self.record);
        let end = if is_borne { end } else { self.held.len() };
        let next = if is_borne { Next::Deal(copies) } else { Next::Through };
        Ok(self.give(end)?.unwrap_or(next))
    }

    /// Whether the records that end in what is held, and the one that begins, are as the command assumes.
    fn bears_what_is_held(&mut self) -> bool {
        self.record.extend_from_slice(&self.held);
        let end = memrchr(self.record_end, &self.record).map_or(0, |at| at + 1);
        let is_borne = self.guard.bears_bytes(&self.record[..end]);
        self.record.drain(..end);
        is_borne && self.record.len() < MOST_RECORD
    }

    fn wait_for_input(&mut self) -> Result<Waited, Error> {
        let waited = self.copy.wait(self.input.fd(), false, self.stop);
        waited.map_err(Error::Preparing)
    }

    /// Gives the copy the first bytes that are held.
    fn give(&mut self, end: usize) -> Result<Option<Next>, Error> {
        let mut at = 0;
        while at < end {
            match self.copy.give(&self.held[at..end]) {
                Ok(0) => {
                    let waited = self.copy.wait(None, true, self.stop).map_err(Error::Preparing)?;
                    if waited == Waited::Left {
                        return Ok(Some(Next::Left));
                    }
                }
                Ok(count) => at += count,
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(Some(Next::Left));
                }
                Err(error) => return Err(Error::Moving(1, error)),
            }
        }
        self.held.drain(..end);
        Ok(None)
    }

    /// Moves the rest of the input to the copy, page by page.
    fn pass_on(&mut self) -> Result<Next, Error> {
        let pipe = self.input.fd().and_then(|fd| fd.try_clone_to_owned().ok());
        let widened = pipe.as_ref().and_then(|pipe| widen(pipe, WIDE));
        self.copy.widen(WIDE);
        let next = self.pass_pages();
        if let (Some(widened), Some(pipe)) = (widened, pipe) {
            widened.put_back(pipe);
        }
        next
    }

    fn pass_pages(&mut self) -> Result<Next, Error> {
        loop {
            match self.input.pass(&mut self.copy) {
                Ok(Took::End) => return Ok(Next::End),
                Ok(Took::Bytes) => {}
                Ok(Took::Nothing) => {
                    let is_full = self.copy.is_full();
                    let fd = if is_full { None } else { self.input.fd() };
                    let waited = self.copy.wait(fd, is_full, self.stop);
                    if waited.map_err(Error::Preparing)? == Waited::Left {
                        return Ok(Next::Left);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Next::Left),
                Err(error) => return Err(Error::Reading(error)),
            }
        }
    }

    fn finish(
        mut self,
        next: Next,
        output: BorrowedFd<'_>,
        caution: &Caution,
    ) -> Result<First, Error> {
        let next = match next {
            Next::Through => match self.pass_on() {
                Ok(next) => next,
                Err(error) => {
                    self.copy.end(None);
                    return Err(error);
                }
            },
            next => next,
        };
        // An end of the input would let the copy end well before it gets the signal.
        if let Some(signal) = self.stop.signal() {
            return Ok(self.stopped(signal));
        }
        self.copy.close();
        let Some(status) = self.wait_for_end()? else {
            let signal = self.stop.signal().unwrap_or_default();
            return Ok(self.stopped(signal));
        };
        let has_failed = caution.failed_from.is_some_and(|least| status.code >= least);
        let written = self.copy.take_output();
        if let (Next::Deal(copies), false) = (next, has_failed) {
            let begun = Begun { status: status.code, output: written, rest: self.held, copies };
            return Ok(First::Begun(self.input.into_source(), begun));
        }
        let ended = match write_all(output, &written) {
            Ok(()) => Ended::Done(status.code),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ended::ReaderLeft,
            Err(error) => return Err(Error::Writing(error)),
        };
        Ok(First::Ended(ended))
    }

    fn stopped(&mut self, signal: i32) -> First {
        self.copy.end(Some(signal));
        First::Ended(Ended::Stopped(signal))
    }

    /// Waits for the end of the copy; `None` if a signal comes before.
    fn wait_for_end(&mut self) -> Result<Option<Status>, Error> {
        loop {
            if let Some(status) = self.copy.status().map_err(Error::Preparing)? {
                return Ok(Some(status));
            }
            if self.stop.signal().is_some() {
                return Ok(None);
            }
            self.copy.wait(None, false, self.stop).map_err(Error::Preparing)?;
        }
    }
}

fn write_all(output: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    File::from(output.try_clone_to_owned()?).write_all(bytes)
}
