//! A stage on several CPUs, its output in order.
//!
//! Flow: source ─piece─▶ worker (reads it into memory that stays in its cache, works, waits for its turn) ─▶ output. A
//! worker keeps its piece from the first byte to the last, so that nothing moves from the cache of one CPU to that of another.

mod divided;
mod fixed;
mod line;
mod made_up;
mod memory;

use fullbore_codec::Fault;

use crate::InputError;
pub(crate) use divided::in_pieces;
pub use fixed::{Chunk, Chunked, in_chunks};
pub(crate) use made_up::in_parts;

/// How a stream is cut into pieces, what is made of each, and what goes from one to the next.
trait Parallel: Send + Sync + 'static {
    /// What pieces are cut from.
    type Source: Send;
    /// Which part of the stream a piece is.
    type Piece: Send;
    /// What a worker keeps from one of its pieces to the next.
    type Worker;
    /// What became of a piece before its turn.
    type Made: Send;
    /// What goes from piece to piece.
    type State: Send;
    /// What can be wrong with a piece.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Whether the source may have nothing for a long time.
    const MAY_WAIT_FOR_INPUT: bool = true;

    /// Most bytes of input of a piece.
    fn input_bytes(&self) -> usize;

    /// Most bytes of output of a piece.
    fn output_bytes(&self) -> usize;

    /// What a worker begins with.
    fn worker(&self) -> Self::Worker;

    /// Fills the front of `input` with the next piece; `None` after the last.
    fn take(
        &self,
        source: &mut Self::Source,
        input: &mut [u8],
    ) -> Result<Option<Self::Piece>, InputError>;

    /// Whether no piece follows.
    fn is_last(piece: &Self::Piece) -> bool;

    /// Works on a piece, beside other workers.
    fn make(
        &self,
        worker: &mut Self::Worker,
        piece: &Self::Piece,
        input: &[u8],
        output: &mut [u8],
    ) -> Self::Made;

    /// Whether a piece, with its input, has to wait for what those before it leave.
    fn needs_the_one_before(_: &Self::Made) -> bool {
        false
    }

    /// Does the rest when all pieces before have been written; returns how many bytes of `output` go out. May find that
    /// the piece is the last. `input` is there only for a piece that needs the one before.
    fn settle(
        &self,
        state: &mut Self::State,
        piece: &mut Self::Piece,
        made: Self::Made,
        input: &[u8],
        output: &mut [u8],
    ) -> Result<usize, Fault<Self::Error>>;

    /// Bytes read from the source.
    fn bytes_read(source: &Self::Source) -> u64;
}
