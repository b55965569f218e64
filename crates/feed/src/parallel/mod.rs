//! Runs a stage on several CPUs and keeps its output in order.
//!
//! Flow: source ─piece─▶ worker (reads the piece into memory that stays in its cache, works, waits for its turn) ─▶
//! output. One worker handles a piece from the first byte to the last, so that nothing moves between the caches of
//! CPUs.

mod divided;
mod fixed;
mod line;
mod made_up;
mod memory;

use fullbore_codec::Fault;

use crate::InputError;
pub(crate) use divided::in_pieces;
pub use fixed::{Chunk, Chunked, in_chunks, memory_for_chunks};
pub(crate) use made_up::in_parts;

/// Defines how a stream is cut into pieces, how each is processed, and what passes from one to the next.
trait Parallel: Send + Sync + 'static {
    /// The source that pieces are cut from.
    type Source: Send;
    /// The position of a piece in the stream.
    type Piece: Send;
    /// What a worker keeps between its pieces.
    type Worker;
    /// The result of a piece before its turn.
    type Made: Send;
    /// State that passes from piece to piece.
    type State: Send;
    /// The error of a malformed piece.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Whether the source may supply nothing for a long time.
    const MAY_WAIT_FOR_INPUT: bool = true;

    /// Returns the most bytes of input of a piece.
    fn input_bytes(&self) -> usize;

    /// Returns the most bytes of output of a piece.
    fn output_bytes(&self) -> usize;

    /// Makes the state that a worker starts with.
    fn worker(&self) -> Self::Worker;

    /// Fills the front of `input` with the next piece; returns `None` after the last.
    fn take(
        &self,
        source: &mut Self::Source,
        input: &mut [u8],
    ) -> Result<Option<Self::Piece>, InputError>;

    /// Tells whether no piece follows.
    fn is_last(piece: &Self::Piece) -> bool;

    /// Works on a piece while other workers work on theirs.
    fn make(
        &self,
        worker: &mut Self::Worker,
        piece: &Self::Piece,
        input: &[u8],
        output: &mut [u8],
    ) -> Self::Made;

    /// Tells whether a piece and its input must wait for the state that earlier pieces leave.
    fn needs_the_one_before(_: &Self::Made) -> bool {
        false
    }

    /// Finishes a piece after all earlier ones were written, and returns how many bytes of `output` go out. It may find
    /// that the piece is the last. `input` is present only for a piece that needs the one before.
    fn settle(
        &self,
        state: &mut Self::State,
        piece: &mut Self::Piece,
        made: Self::Made,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Fault<Self::Error>>;

    /// Returns how many bytes were read from the source.
    fn bytes_read(source: &Self::Source) -> u64;
}
