//! Sources: generated streams. The same parameters give the same bytes, whatever the sizes of the requests.

#[cfg(feature = "generate")]
mod jsonl;
#[cfg(feature = "generate")]
mod lines;
#[cfg(feature = "generate")]
mod random;

#[cfg(feature = "generate")]
pub use jsonl::JsonLines;
#[cfg(feature = "generate")]
pub use lines::Lines;
#[cfg(feature = "generate")]
pub use random::Random;

/// A generator of a stream of bytes.
pub trait Source: Send {
    /// Fills the front of `output` and returns how many bytes it filled; it fills less than all only at the end of the
    /// stream.
    fn fill(&mut self, output: &mut [u8]) -> usize;
}

/// A source that can continue at a later position of its stream.
pub trait Skip: Source + Clone + Sync + 'static {
    /// Skips the next `bytes` bytes and returns how many it skipped, fewer only at the end of the stream. Skipping many
    /// bytes takes about as long as skipping few.
    fn skip(&mut self, bytes: u64) -> u64;
}

/// Generates zeros, without end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zero;

impl Source for Zero {
    fn fill(&mut self, output: &mut [u8]) -> usize {
        output.fill(0);
        output.len()
    }
}

impl Skip for Zero {
    fn skip(&mut self, bytes: u64) -> u64 {
        bytes
    }
}

/// Generates the first bytes of another source.
#[derive(Clone, Debug)]
pub struct Limited<S> {
    source: S,
    bytes_left: u64,
}

impl<S: Source> Limited<S> {
    /// Limits `source` to its first `bytes` bytes.
    pub fn new(source: S, bytes: u64) -> Self {
        Self { source, bytes_left: bytes }
    }
}

impl<S: Source> Source for Limited<S> {
    fn fill(&mut self, output: &mut [u8]) -> usize {
        let most = usize::try_from(self.bytes_left).unwrap_or(usize::MAX).min(output.len());
        let filled = self.source.fill(&mut output[..most]);
        self.bytes_left -= filled as u64;
        filled
    }
}

/// Text that comes in pieces, and the piece that is partly written.
#[derive(Clone, Debug, Default)]
struct Begun {
    text: Vec<u8>,
    at: usize,
}

impl Begun {
    /// Skips at most `bytes` bytes, and returns how many.
    fn skip(&mut self, bytes: u64) -> u64 {
        let left = self.text.len() - self.at;
        let count = usize::try_from(bytes).unwrap_or(usize::MAX).min(left);
        self.at += count;
        count as u64
    }

    /// Fills `output` from pieces that `make` appends to a vector; at the end it appends nothing.
    fn fill(&mut self, output: &mut [u8], mut make: impl FnMut(&mut Vec<u8>)) -> usize {
        let mut filled = 0;
        while filled < output.len() {
            if self.at == self.text.len() {
                self.at = 0;
                self.text.clear();
                make(&mut self.text);
                if self.text.is_empty() {
                    break;
                }
            }
            let length = (output.len() - filled).min(self.text.len() - self.at);
            output[filled..filled + length].copy_from_slice(&self.text[self.at..][..length]);
            filled += length;
            self.at += length;
        }
        filled
    }
}
