//! Pieces of one size, which need nothing of each other.

use std::os::fd::AsFd;

use fullbore_codec::Fault;
use fullbore_pipe::PipeWriter;

use super::Parallel;
use super::line::Line;
use crate::{FeedError, Input, InputError, Moved};

/// A transformation of a stream by chunks, each of which needs nothing of the others.
pub trait Chunked: Send + Sync + 'static {
    /// What can be wrong with a chunk.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Bytes of a chunk of the input that is not the last; at least one.
    fn input_bytes(&self) -> usize;

    /// Most bytes of output of a chunk.
    fn output_bytes(&self) -> usize;

    /// Makes the output of a chunk, whose bytes are `input`, in the front of `output`, which has
    /// [`output_bytes`](Self::output_bytes). Returns how many bytes it has.
    ///
    /// # Errors
    /// The chunk is malformed: nothing of it is output, nor of any that follows.
    fn process(&self, chunk: Chunk, input: &[u8], output: &mut [u8]) -> Result<usize, Self::Error>;
}

/// Which part of the input a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its number, from 0.
    pub index: u64,
    /// Whether none follows. An empty input is one chunk of no bytes.
    pub is_last: bool,
    bytes: usize,
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
    let most_bytes = CHUNKS_BYTES.max(workers.saturating_mul(WORKER_BYTES));
    let most = most_bytes / stage.input_bytes().max(stage.output_bytes());
    let source = Source { input, next: 0, beyond: Vec::new(), is_over: false };
    Line::new(Fixed(stage), source, (), writer).run(workers.clamp(1, most.max(1)))
}

struct Fixed<T>(T);

/// An input, and what was read of its next chunk.
struct Source {
    input: Input,
    next: u64,
    beyond: Vec<u8>,
    is_over: bool,
}

/// Bytes that are read beyond a chunk to see whether it is the last. A page, so that the next chunk goes on at a whole
/// page of a file, in a whole page of memory.
const BEYOND_BYTES: usize = 4096;

impl<T: Chunked> Parallel for Fixed<T> {
    type Source = Source;
    type Piece = Chunk;
    type Worker = ();
    type Made = Result<usize, T::Error>;
    type State = ();
    type Error = T::Error;

    fn input_bytes(&self) -> usize {
        self.0.input_bytes()
    }

    fn output_bytes(&self) -> usize {
        self.0.output_bytes()
    }

    fn worker(&self) {}

    fn take(&self, source: &mut Source, input: &mut [u8]) -> Result<Option<Chunk>, InputError> {
        if source.is_over { Ok(None) } else { source.next(input).map(Some) }
    }

    fn is_last(chunk: &Chunk) -> bool {
        chunk.is_last
    }

    fn make(&self, (): &mut (), chunk: &Chunk, input: &[u8], output: &mut [u8]) -> Self::Made {
        self.0.process(*chunk, &input[..chunk.bytes], output)
    }

    fn settle(
        &self,
        (): &mut (),
        _: &mut Chunk,
        made: Self::Made,
        _: &[u8],
        _: &mut [u8],
    ) -> Result<usize, Fault<T::Error>> {
        made.map_err(|error| Fault { written: 0, error })
    }

    fn bytes_read(source: &Source) -> u64 {
        source.input.bytes_read()
    }
}

impl Source {
    /// Fills `buffer` with the next chunk, and counts it.
    fn next(&mut self, buffer: &mut [u8]) -> Result<Chunk, InputError> {
        let mut bytes = self.beyond.len();
        buffer[..bytes].copy_from_slice(&self.beyond);
        self.beyond.clear();
        bytes += self.input.read_all(&mut buffer[bytes..])?;
        let mut is_last = bytes < buffer.len();
        if !is_last {
            self.beyond.resize(BEYOND_BYTES.min(buffer.len()), 0);
            let count = self.input.read(&mut self.beyond)?;
            self.beyond.truncate(count);
            is_last = count == 0;
        }
        self.is_over = is_last;
        self.next += 1;
        Ok(Chunk { index: self.next - 1, is_last, bytes })
    }
}
