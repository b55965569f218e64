//! Looking at a stream that passes by, without copying it on.

use std::io;
use std::os::fd::AsFd;

use fullbore_measure::Bytes;
use fullbore_pipe::transfer::{
    Moved, Patience, Side, TransferError, duplicate, give, take, wait_until,
};
use fullbore_pipe::{OwnPipe, grow};
use rustix::event::PollFlags;

/// How a stream went by.
#[derive(Debug)]
pub enum Inspected<E> {
    /// To its end; its bytes.
    Passed(u64),
    /// Up to a fault; everything before it was handed on.
    Fault(E),
    /// Nothing was taken: one of the two sides cannot be spliced.
    CannotSplice,
}

/// What is wrong with a block, and how many of its bytes come before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flaw<E> {
    /// Bytes of the block before the flaw.
    pub before: usize,
    /// What is wrong.
    pub error: E,
}

const AT_ONCE: Bytes = Bytes(1 << 20);
/// What passes before the pipes on both sides are grown.
const GROW_BYTES: u64 = 1 << 20;

/// Passes a stream from pipe to pipe; `look` sees every byte of it once, before it is handed on.
///
/// The pages move by splice(2); only what `look` sees is copied, by tee(2) and read(2).
///
/// # Errors
/// [`TransferError`] with the side it came from.
pub fn inspect<E>(
    input: impl AsFd,
    output: impl AsFd,
    mut look: impl FnMut(&[u8]) -> Result<(), Flaw<E>>,
) -> Result<Inspected<E>, TransferError> {
    let of_input = |source| TransferError { side: Side::Input, source };
    let stream = OwnPipe::new(AT_ONCE).map_err(of_input)?;
    let copy = OwnPipe::new(stream.capacity()).map_err(of_input)?;
    let most = usize::try_from(stream.capacity().0).unwrap_or(usize::MAX);
    let mut block = vec![0; most];
    let (mut passed, mut is_grown) = (0, false);
    loop {
        let mut left = match take(&input, &stream, most, Patience::Waits)? {
            Moved::Bytes(count) => count,
            Moved::End => return Ok(Inspected::Passed(passed)),
            Moved::CannotSplice(_) if passed == 0 => return Ok(Inspected::CannotSplice),
            Moved::CannotSplice(why) => return Err(why.into_error()),
            _ => {
                wait_until(&input, PollFlags::IN).map_err(|errno| of_input(errno.into()))?;
                0
            }
        };
        while left > 0 {
            let count = duplicate(&stream, &copy, left).map_err(of_input)?;
            read_all(&copy, &mut block[..count]).map_err(of_input)?;
            let flaw = look(&block[..count]).err();
            hand_on(&stream, &output, flaw.as_ref().map_or(count, |flaw| flaw.before))?;
            if let Some(flaw) = flaw {
                return Ok(Inspected::Fault(flaw.error));
            }
            left -= count;
            passed += count as u64;
        }
        if !is_grown && passed >= GROW_BYTES {
            is_grown = true;
            grow(&input);
            grow(&output);
        }
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

fn hand_on(from: &OwnPipe, output: impl AsFd, mut count: usize) -> Result<(), TransferError> {
    while count > 0 {
        match give(from, &output, count, Patience::Waits)? {
            Moved::Bytes(gone) => count -= gone,
            Moved::CannotSplice(why) => return Err(why.into_error()),
            _ => wait_until(&output, PollFlags::OUT)
                .map_err(|errno| TransferError { side: Side::Output, source: errno.into() })?,
        }
    }
    Ok(())
}
