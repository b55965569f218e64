//! What every stage is: a function from blocks of input to blocks of output.

/// A stage: bytes in, bytes out, with whatever state joins the blocks.
///
/// The blocks may end anywhere, also within a character; the output does not depend on where.
pub trait Codec: Send {
    /// What can be wrong with the input.
    type Error: std::error::Error + Send + Sync + 'static;

    /// The most bytes that [`push`](Self::push) of `input_bytes`, or [`finish`](Self::finish) with 0, can
    /// write from here on. It may not grow faster than in proportion, so that a caller can halve a block until it fits.
    fn output_bound(&self, input_bytes: usize) -> usize;

    /// Takes all of `input` and writes to the front of `output`; returns how many bytes it wrote. The end of the input
    /// may be kept back until the next call.
    ///
    /// # Errors
    /// [`Fault`]: the input is malformed. Everything before the fault has been written.
    ///
    /// # Panics
    /// May panic when `output` is shorter than [`output_bound`](Self::output_bound) of the input.
    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<Self::Error>>;

    /// The input is over: writes what was kept back. Nothing may be pushed after it.
    ///
    /// # Errors
    /// [`Fault`]: the input ends too early.
    ///
    /// # Panics
    /// May panic when `output` is shorter than `output_bound(0)`.
    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<Self::Error>>;
}

/// A codec that is as at its beginning after certain bytes, so that what comes after them can be worked on elsewhere.
pub trait Divisible: Codec + Sync + Sized + 'static {
    /// Another one, as it is at the beginning of its input.
    #[must_use]
    fn fresh(&self) -> Self;

    /// How long the longest front of `block` is after which a codec is as at the beginning, whatever came before the
    /// block; but for what it counts. 0 when there is none.
    fn divide(block: &[u8]) -> usize;

    /// Goes on where `later` is, which was fresh when this one was where it is now, and has taken what comes next.
    fn append(&mut self, later: Self);

    /// An error of one that was fresh when this one was where it is now, as this one would have told it.
    fn after_this(&self, error: Self::Error) -> Self::Error;
}

/// Malformed input, and what was written before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault<E> {
    /// Bytes written to the output before the fault.
    pub written: usize,
    /// What is wrong, and where.
    pub error: E,
}
