//! Checks a stream that passes by, without copying the stream itself.

use std::io;
use std::os::fd::AsFd;

use fullbore_measure::Bytes;
use fullbore_pipe::transfer::{
    Moved, Patience, Side, TransferError, duplicate, give, take, wait_until,
};
use fullbore_pipe::{Limits, OwnPipe, widen};
use rustix::event::PollFlags;
use rustix::io::Errno;

/// How a stream passed.
#[derive(Debug)]
pub enum Inspected<E> {
    /// The stream passed to its end, with this many bytes.
    Passed(u64),
    /// The stream has a fault; everything before it was passed on.
    Fault(E),
    /// Nothing was read: one of the two sides cannot be spliced.
    CannotSplice,
}

/// A fault in a stream, and where the part before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw<E> {
    /// Bytes of the stream before the fault.
    pub before: u64,
    /// The fault.
    pub error: E,
}

const AT_ONCE: Bytes = Bytes(1 << 20);
/// Bytes that pass before the pipes on both sides are widened.
const GROW_BYTES: u64 = 1 << 20;

/// Passes a stream from pipe to pipe; `examine` sees every byte once, before it is passed on.
///
/// `examine` returns up to which byte the stream may pass. Bytes after that wait in memory until a later call releases
/// them, and are dropped when none does. They are meant to be few, such as an unfinished character.
///
/// The pages move by splice(2); tee(2) and read(2) copy only what `examine` sees.
///
/// # Errors
/// [`TransferError`] with the side it came from.
pub fn inspect<E>(
    input: impl AsFd,
    output: impl AsFd,
    mut examine: impl FnMut(&[u8]) -> Result<u64, Flaw<E>>,
) -> Result<Inspected<E>, TransferError> {
    let mut passage = Passage::new(output).map_err(of_input)?;
    let mut is_grown = false;
    loop {
        let mut left = match take(&input, &passage.stream, passage.block.len(), Patience::Waits)? {
            Moved::Bytes(count) => count,
            Moved::End => return Ok(Inspected::Passed(passage.passed)),
            Moved::CannotSplice(_) if passage.seen == 0 => return Ok(Inspected::CannotSplice),
            Moved::CannotSplice(why) => return Err(why.into_error()),
            _ => {
                wait_until(&input, PollFlags::IN).map_err(|errno| of_input(errno.into()))?;
                0
            }
        };
        while left > 0 {
            let count = passage.see(left).map_err(of_input)?;
            let seen = examine(&passage.block[..count]);
            let until = seen.as_ref().map_or_else(|flaw| flaw.before, |until| *until);
            passage.pass(until)?;
            if let Err(flaw) = seen {
                return Ok(Inspected::Fault(flaw.error));
            }
            passage.hold(count).map_err(of_input)?;
            left -= count;
        }
        if !is_grown && passage.passed >= GROW_BYTES {
            is_grown = true;
            widen(&input, Limits::DEFAULT.pipe_max);
            widen(&passage.output, Limits::DEFAULT.pipe_max);
        }
    }
}

fn of_input(source: io::Error) -> TransferError {
    TransferError { side: Side::Input, source }
}

fn of_output(errno: Errno) -> TransferError {
    TransferError { side: Side::Output, source: errno.into() }
}

/// Holds what is between the input and the output.
struct Passage<F> {
    output: F,
    /// Pages on their way to the output.
    stream: OwnPipe,
    /// A duplicate of them, for reading.
    copy: OwnPipe,
    /// The bytes of the duplicate.
    block: Vec<u8>,
    /// Bytes that were seen but may not pass yet.
    held: Vec<u8>,
    /// How many bytes of the stream were seen, and how many were passed on.
    seen: u64,
    passed: u64,
}

impl<F: AsFd> Passage<F> {
    fn new(output: F) -> io::Result<Self> {
        let stream = OwnPipe::new(AT_ONCE)?;
        let copy = OwnPipe::new(stream.capacity())?;
        let block = vec![0; usize::try_from(stream.capacity().0).unwrap_or(usize::MAX)];
        Ok(Self { output, stream, copy, block, held: Vec::new(), seen: 0, passed: 0 })
    }

    /// Copies at most `most` bytes from the front of the passing pages to the front of the block, and returns how many.
    fn see(&mut self, most: usize) -> io::Result<usize> {
        let count = duplicate(&self.stream, &self.copy, most)?;
        read_all(&self.copy, &mut self.block[..count])?;
        self.seen += count as u64;
        Ok(count)
    }

    /// Passes on everything before byte `until` of the stream.
    fn pass(&mut self, until: u64) -> Result<(), TransferError> {
        let count = usize::try_from(until - self.passed).unwrap_or(usize::MAX);
        let from_held = count.min(self.held.len());
        write_all(&self.output, &self.held[..from_held])?;
        self.held.drain(..from_held);
        hand_on(&self.stream, &self.output, count - from_held)?;
        self.passed = until;
        Ok(())
    }

    /// Moves what is left of the last `count` bytes seen from the pages into memory.
    fn hold(&mut self, count: usize) -> io::Result<()> {
        let left = usize::try_from(self.seen - self.passed).unwrap_or(usize::MAX);
        let begin = self.held.len();
        debug_assert!(left - begin <= count, "older bytes are held already");
        self.held.resize(left, 0);
        read_all(&self.stream, &mut self.held[begin..])
    }
}

fn read_all(from: &OwnPipe, block: &mut [u8]) -> io::Result<()> {
    let mut filled = 0;
    while filled < block.len() {
        filled +=
            rustix::io::retry_on_intr(|| rustix::io::read(from.read_end(), &mut block[filled..]))?;
    }
    Ok(())
}

fn write_all(output: impl AsFd, mut bytes: &[u8]) -> Result<(), TransferError> {
    while !bytes.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::write(&output, bytes)) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::AGAIN) => wait_until(&output, PollFlags::OUT).map_err(of_output)?,
            Err(errno) => return Err(of_output(errno)),
        }
    }
    Ok(())
}

fn hand_on(from: &OwnPipe, output: impl AsFd, mut count: usize) -> Result<(), TransferError> {
    while count > 0 {
        match give(from, &output, count, Patience::Waits)? {
            Moved::Bytes(gone) => count -= gone,
            Moved::CannotSplice(why) => return Err(why.into_error()),
            _ => wait_until(&output, PollFlags::OUT).map_err(of_output)?,
        }
    }
    Ok(())
}
