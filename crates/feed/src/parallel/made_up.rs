//! Generates parts of a stream, starting at any position.

use std::convert::Infallible;
use std::os::fd::AsFd;

use fullbore_codec::Fault;
use fullbore_codec::generate::Skip;
use fullbore_pipe::PipeWriter;

use super::Parallel;
use super::line::Line;
use crate::{FeedError, InputError, Moved};

/// Size of a part: the capacity of a pipe, and half of a huge page.
const PART_BYTES: usize = 1 << 20;

/// Writes what `source` generates, at most `limit` bytes of it, on this many `workers`.
pub(crate) fn in_parts<S: Skip, F: AsFd + Send + 'static>(
    source: S,
    limit: u64,
    writer: PipeWriter<F>,
    workers: usize,
) -> Result<Moved, FeedError<Infallible>> {
    Line::new(MadeUp { source, limit }, Next(0), (), writer).run_on_threads(workers)
}

struct MadeUp<S> {
    source: S,
    limit: u64,
}

/// Where the next part begins.
struct Next(u64);

struct Part {
    begin: u64,
    bytes: usize,
    is_last: bool,
}

/// A worker's own source and its position.
struct Own<S> {
    source: S,
    at: u64,
}

impl<S: Skip> Parallel for MadeUp<S> {
    type Source = Next;
    type Piece = Part;
    type Worker = Own<S>;
    /// How many bytes the part has.
    type Made = usize;
    type State = ();
    type Error = Infallible;

    const MAY_WAIT_FOR_INPUT: bool = false;

    fn input_bytes(&self) -> usize {
        0
    }

    fn output_bytes(&self) -> usize {
        PART_BYTES
    }

    fn worker(&self) -> Own<S> {
        Own { source: self.source.clone(), at: 0 }
    }

    fn take(&self, next: &mut Next, _: &mut [u8]) -> Result<Option<Part>, InputError> {
        let left = self.limit - next.0;
        let bytes = usize::try_from(left).unwrap_or(usize::MAX).min(self.output_bytes());
        let part = Part { begin: next.0, bytes, is_last: bytes as u64 == left };
        next.0 += bytes as u64;
        Ok(Some(part))
    }

    fn is_last(part: &Part) -> bool {
        part.is_last
    }

    fn make(&self, own: &mut Own<S>, part: &Part, _: &[u8], output: &mut [u8]) -> usize {
        own.at += own.source.skip(part.begin - own.at);
        let bytes = own.source.fill(&mut output[..part.bytes]);
        own.at += bytes as u64;
        bytes
    }

    fn settle(
        &self,
        (): &mut (),
        part: &mut Part,
        bytes: usize,
        _: &[u8],
        _: &mut [u8],
    ) -> Result<usize, Fault<Infallible>> {
        part.is_last |= bytes < part.bytes;
        Ok(bytes)
    }

    fn bytes_read(_: &Next) -> u64 {
        0
    }
}
