//! Defines a stage: a function from blocks of input to blocks of output.

/// A stage that transforms bytes and carries its state from block to block.
///
/// Blocks may end anywhere, even within a character; that does not affect the output.
pub trait Codec: Send {
    /// The error of malformed input.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Returns the most bytes that [`push`](Self::push) of `input_bytes`, or [`finish`](Self::finish) with 0, can write
    /// from here on. It must grow at most in proportion, so that a caller can halve a block until it fits.
    fn output_bound(&self, input_bytes: usize) -> usize;

    /// Takes all of `input`, writes to the front of `output`, and returns how many bytes it wrote. It may keep the end
    /// of the input until the next call.
    ///
    /// # Errors
    /// [`Fault`]: the input is malformed. Everything before the fault has been written.
    ///
    /// # Panics
    /// May panic when `output` is shorter than [`output_bound`](Self::output_bound) of the input.
    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<Self::Error>>;

    /// Ends the input and writes what was kept back. Push nothing after it.
    ///
    /// # Errors
    /// [`Fault`]: the input ends too early.
    ///
    /// # Panics
    /// May panic when `output` is shorter than `output_bound(0)`.
    fn finish(&mut self, output: &mut [u8]) -> Result<usize, Fault<Self::Error>>;
}

/// A codec whose state resets at known boundaries (such as `\n`), so input can be split there and processed in
/// parallel.
pub trait Divisible: Codec + Sync + Sized + 'static {
    /// Returns a new codec in the initial state, with the same settings.
    #[must_use]
    fn fresh(&self) -> Self;

    /// Returns the length of the longest prefix of `block` after which a codec's state resets (except for its
    /// position), whatever came before the block; 0 when there is none.
    fn divide(block: &[u8]) -> usize;

    /// Appends a codec that started fresh at this codec's position and consumed the bytes that follow.
    fn append(&mut self, later: Self);

    /// Adjusts an error of a codec that started fresh at this codec's position, as if this one had reported it.
    fn after_this(&self, error: Self::Error) -> Self::Error;
}

/// Malformed input, and how much was written before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault<E> {
    /// Bytes written to the output before the fault.
    pub written: usize,
    /// The error and its position.
    pub error: E,
}
