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

/// Zeros, without end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zero;

impl Source for Zero {
    fn fill(&mut self, output: &mut [u8]) -> usize {
        output.fill(0);
        output.len()
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
