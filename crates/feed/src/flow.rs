//! From the input through a codec to the output.

use std::os::fd::AsFd;

use fullbore_codec::Codec;
use fullbore_pipe::{OutputError, PipeWriter};

use crate::ahead::{Ahead, Blocks};
use crate::{FeedError, Input};

/// How much went through a stage, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Taken from the input.
    pub read: u64,
    /// Taken by the output.
    pub written: u64,
}

/// Sends all of an input through a codec.
///
/// What is there goes out before the stage waits for more, so that a line typed into a pipeline comes out at once.
///
/// # Errors
/// [`FeedError`]; what was written before stays written, and of malformed input that is everything before the fault.
pub fn transform<C: Codec, F: AsFd>(
    input: Input,
    codec: &mut C,
    writer: &mut PipeWriter<F>,
    ahead: Ahead,
) -> Result<Moved, FeedError<C::Error>> {
    let mut blocks = Blocks::new(input, ahead);
    let mut read = 0;
    loop {
        blocks.advance(|| writer.flush_all().map_err(FeedError::from))?;
        if blocks.block().is_empty() {
            break;
        }
        read += blocks.block().len() as u64;
        push(codec, blocks.block(), writer)?;
        blocks = blocks.reconsider();
    }
    step(writer, codec.output_bound(0), |room| codec.finish(room))?;
    writer.flush_all()?;
    Ok(Moved { read, written: writer.written() })
}

/// Pushes a block in pieces that fit.
fn push<C: Codec, F: AsFd>(
    codec: &mut C,
    mut block: &[u8],
    writer: &mut PipeWriter<F>,
) -> Result<(), FeedError<C::Error>> {
    while !block.is_empty() {
        let mut len = block.len();
        while codec.output_bound(len) > writer.most_room() && len > 1 {
            len = len.div_ceil(2);
        }
        let (piece, rest) = block.split_at(len);
        step(writer, codec.output_bound(len), |room| codec.push(piece, room))?;
        block = rest;
    }
    Ok(())
}

/// One call of a codec; what it wrote is kept even when it fails.
fn step<E, F: AsFd>(
    writer: &mut PipeWriter<F>,
    bound: usize,
    call: impl FnOnce(&mut [u8]) -> Result<usize, fullbore_codec::Fault<E>>,
) -> Result<(), FeedError<E>> {
    match call(writer.room(bound)?) {
        Ok(count) => Ok(writer.commit(count)?),
        Err(fault) => {
            writer.commit(fault.written)?;
            writer.flush_all()?;
            Err(FeedError::Codec(fault.error))
        }
    }
}

/// What a source is asked for at the least; it gets all the room there is up to the end of a chunk.
const GENERATE_BYTES: usize = 64 << 10;

/// Writes what `fill` makes, until it makes nothing or `limit` bytes were written.
///
/// # Errors
/// When the output fails.
pub fn generate<F: AsFd>(
    mut fill: impl FnMut(&mut [u8]) -> usize,
    limit: Option<u64>,
    writer: &mut PipeWriter<F>,
) -> Result<Moved, OutputError> {
    let mut left = limit.unwrap_or(u64::MAX);
    while left > 0 {
        let wanted = GENERATE_BYTES.min(usize::try_from(left).unwrap_or(usize::MAX));
        let room = writer.room(wanted)?;
        let most = room.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let count = fill(&mut room[..most]);
        if count == 0 {
            break;
        }
        writer.commit(count)?;
        left -= count as u64;
    }
    writer.flush_all()?;
    Ok(Moved { read: 0, written: writer.written() })
}
