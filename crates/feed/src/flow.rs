//! Moves a stream from the input through a codec to the output.

use std::convert::Infallible;
use std::os::fd::AsFd;
use std::thread::available_parallelism;
use std::time::Duration;

use fullbore_codec::generate::{Skip, Source};
use fullbore_codec::{Codec, Divisible};
use fullbore_pipe::{OutputError, PipeWriter};

use crate::ahead::{Blocks, Pays, Threads};
use crate::parallel::{in_parts, in_pieces};
use crate::{FeedError, Input, Moved};

/// Sends the whole input through a codec. A second thread may read ahead.
///
/// Before the stage waits for more input, it writes everything it has, so that a line typed into a pipeline appears at
/// once.
///
/// # Errors
/// [`FeedError`]; everything written before the error stays written. For malformed input that is everything before the
/// fault.
pub fn transform<C: Codec, F: AsFd>(
    input: Input,
    codec: &mut C,
    writer: &mut PipeWriter<F>,
    threads: Threads,
) -> Result<Moved, FeedError<C::Error>> {
    let mut blocks = Blocks::new(input, threads);
    let mut read = 0;
    while let count @ 1.. = block(&mut blocks, codec, writer)? {
        read += count;
        blocks = blocks.reconsider();
    }
    finish(codec, writer, read)
}

/// Sends the whole input through a codec whose input can be split; several threads may work on it.
///
/// # Errors
/// As [`transform`].
pub fn transform_divided<C: Divisible, F: AsFd + Send + 'static>(
    input: Input,
    mut codec: C,
    mut writer: PipeWriter<F>,
    threads: Threads,
) -> Result<Moved, FeedError<C::Error>> {
    if let Threads::Always(workers) = threads {
        return in_pieces(input, codec, writer, workers);
    }
    let mut blocks = Blocks::new(input, threads);
    let mut read = 0;
    while let count @ 1.. = block(&mut blocks, &mut codec, &mut writer)? {
        read += count;
        if let Some(input) = blocks.to_be_divided() {
            return in_pieces(input, codec, writer, all_cpus());
        }
    }
    finish(&mut codec, &mut writer, read)
}

/// Sends one block through the codec and returns its length, 0 at the end.
fn block<C: Codec, F: AsFd>(
    blocks: &mut Blocks,
    codec: &mut C,
    writer: &mut PipeWriter<F>,
) -> Result<u64, FeedError<C::Error>> {
    blocks.advance(|| writer.flush_all().map_err(FeedError::from))?;
    push(codec, blocks.block(), writer)?;
    Ok(blocks.block().len() as u64)
}

fn finish<C: Codec, F: AsFd>(
    codec: &mut C,
    writer: &mut PipeWriter<F>,
    read: u64,
) -> Result<Moved, FeedError<C::Error>> {
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

/// Calls a codec once, and keeps what it wrote even when it fails.
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

/// Least output to ask a source for; it gets all the room up to the end of a chunk.
const GENERATE_BYTES: usize = 64 << 10;
/// Bytes between two checks of whether several threads would pay.
const SAMPLE_BYTES: usize = 1 << 20;

/// Writes what `source` generates, until it ends or `limit` bytes were written.
///
/// # Errors
/// When the output fails.
pub fn generate<S: Source + ?Sized, F: AsFd>(
    source: &mut S,
    limit: Option<u64>,
    writer: &mut PipeWriter<F>,
) -> Result<Moved, OutputError> {
    let mut left = limit.unwrap_or(u64::MAX);
    while let count @ 1.. = fill(source, left, writer)? {
        left -= count as u64;
    }
    writer.flush_all()?;
    Ok(Moved { read: 0, written: writer.written() })
}

/// Writes the output of a source that can start at any position; several threads may work on it.
///
/// # Errors
/// When the output fails.
pub fn generate_divided<S: Skip, F: AsFd + Send + 'static>(
    mut source: S,
    limit: Option<u64>,
    mut writer: PipeWriter<F>,
    threads: Threads,
) -> Result<Moved, FeedError<Infallible>> {
    let mut left = limit.unwrap_or(u64::MAX);
    if let Threads::Always(workers) = threads {
        return in_parts(source, left, writer, workers);
    }
    let mut pays = Pays::new(threads);
    let mut since_sample = 0;
    while let count @ 1.. = fill(&mut source, left, &mut writer)? {
        left -= count as u64;
        since_sample += count;
        if since_sample >= SAMPLE_BYTES {
            pays.note(Duration::ZERO, since_sample);
            since_sample = 0;
            if pays.is_worth_dividing() {
                return in_parts(source, left, writer, all_cpus());
            }
        }
    }
    writer.flush_all()?;
    Ok(Moved { read: 0, written: writer.written() })
}

/// Most workers for one stream. More do not make it faster, because they take and write pieces one after the other.
const MOST_WORKERS: usize = 4;

fn all_cpus() -> usize {
    available_parallelism().map_or(1, usize::from).min(MOST_WORKERS)
}

/// Fills some room from a source, and returns how many bytes it generated, 0 at the end.
fn fill<S: Source + ?Sized, F: AsFd>(
    source: &mut S,
    left: u64,
    writer: &mut PipeWriter<F>,
) -> Result<usize, OutputError> {
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    if left == 0 {
        return Ok(0);
    }
    let room = writer.room(GENERATE_BYTES.min(left))?;
    let most = room.len().min(left);
    let count = source.fill(&mut room[..most]);
    writer.commit(count)?;
    Ok(count)
}
