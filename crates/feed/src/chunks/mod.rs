//! A stage whose chunks are independent of each other, on several CPUs and in order.
//!
//! Flow: input ─chunk─▶ worker (reads, changes in place, waits for its turn) ─▶ output. A worker keeps its chunk from the
//! first byte to the last, so that nothing moves from the cache of one CPU to that of another.

mod source;
mod workers;

use std::os::fd::AsFd;

use fullbore_pipe::PipeWriter;

use crate::{FeedError, Input, Moved};
use source::Source;
use workers::Line;

/// A transformation of a stream by chunks, each of which needs nothing of the others.
pub trait Chunked: Send + Sync + 'static {
    /// What can be wrong with a chunk.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Bytes of a chunk of the input that is not the last; at least one.
    fn input_bytes(&self) -> usize;

    /// Bytes that a chunk may grow to.
    fn output_bytes(&self) -> usize;

    /// Changes a chunk in place: the first `chunk.bytes` of `buffer`, which is as long as the larger of
    /// [`input_bytes`](Self::input_bytes) and [`output_bytes`](Self::output_bytes). Returns how many bytes of it are
    /// output.
    ///
    /// # Errors
    /// The chunk is malformed: nothing of it is output, nor of any that follows.
    fn process(&self, chunk: Chunk, buffer: &mut [u8]) -> Result<usize, Self::Error>;
}

/// Which part of the input a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its number, from 0.
    pub index: u64,
    /// Bytes of it; of all but the last [`Chunked::input_bytes`]. An empty input is one chunk of none.
    pub bytes: usize,
    /// Whether none follows.
    pub is_last: bool,
}

/// Bytes of all chunks in work: of larger chunks there are fewer at a time.
const CHUNKS_BYTES: usize = 16 << 20;
/// The same for each worker, when that is more: a mebibyte and what it grows by.
const WORKER_BYTES: usize = (1 << 20) + (4 << 10);

/// Sends all of an input through `stage`, chunk by chunk, with as many as `workers` chunks in work at a time.
///
/// Threads are started after the first chunk, if it is not the last. When this fails, a thread may still wait for
/// input; it writes nothing, and ends with the input or with the process.
///
/// # Errors
/// [`FeedError`]; exactly the chunks before the one that failed were written.
///
/// # Panics
/// When `stage` does.
pub fn in_chunks<T: Chunked, F: AsFd + Send + 'static>(
    input: Input,
    stage: T,
    writer: PipeWriter<F>,
    workers: usize,
) -> Result<Moved, FeedError<T::Error>> {
    let buffer_bytes = stage.input_bytes().max(stage.output_bytes());
    let most = CHUNKS_BYTES.max(workers.saturating_mul(WORKER_BYTES)) / buffer_bytes;
    let workers = workers.clamp(1, most.max(1));
    let source = Source::new(input, stage.input_bytes());
    Line::new(source, stage, writer).run(workers, buffer_bytes)
}
