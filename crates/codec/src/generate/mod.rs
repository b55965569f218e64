//! Sources: streams that are made up. The same parameters give the same bytes, however they are asked for.

mod jsonl;
mod lines;
mod random;

pub use jsonl::JsonLines;
pub use lines::Lines;
pub use random::Random;

/// Something that bytes come out of.
pub trait Source: Send {
    /// Fills the front of `output`, and returns how much of it; less than all of it only at the end of the stream.
    fn fill(&mut self, output: &mut [u8]) -> usize;
}

/// A source that can go on at a later place of its stream.
pub trait Skip: Source + Clone + Sync + 'static {
    /// Leaves out the next `bytes` bytes; returns how many there were, fewer only at the end of the stream. Takes about as
    /// long for many as for few.
    fn skip(&mut self, bytes: u64) -> u64;
}

/// Zeros, without end.
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

/// The first bytes of another source.
#[derive(Clone, Debug)]
pub struct Limited<S> {
    source: S,
    bytes_left: u64,
}

impl<S: Source> Limited<S> {
    /// The first `bytes` bytes of `source`.
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

/// Text that comes in pieces, and the piece that is on its way.
#[derive(Clone, Debug, Default)]
struct Begun {
    text: Vec<u8>,
    at: usize,
}

impl Begun {
    /// Leaves out at most `bytes` bytes; returns how many.
    fn skip(&mut self, bytes: u64) -> u64 {
        let left = self.text.len() - self.at;
        let count = usize::try_from(bytes).unwrap_or(usize::MAX).min(left);
        self.at += count;
        count as u64
    }

    /// Fills `output` from pieces that `make` appends to a vector; it appends nothing at the end.
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
