//! Runs stages on blocks, and makes text that finds trouble.

use fullbore_codec::{Codec, Fault};

/// What a stage made of a stream: its output, and the error that stopped it.
pub(crate) type Outcome<E> = (Vec<u8>, Option<E>);

/// Runs a stage over the blocks.
pub(crate) fn run<C: Codec>(mut codec: C, blocks: &[&[u8]]) -> Outcome<C::Error> {
    let mut whole = Vec::new();
    let mut step = |result: Result<usize, Fault<C::Error>>, output: &[u8]| {
        let (written, error) = match result {
            Ok(written) => (written, None),
            Err(fault) => (fault.written, Some(fault.error)),
        };
        whole.extend_from_slice(&output[..written]);
        error
    };
    for block in blocks {
        let mut output = vec![0xAA; codec.output_bound(block.len())];
        let result = codec.push(block, &mut output);
        if let Some(error) = step(result, &output) {
            return (whole, Some(error));
        }
    }
    let mut output = vec![0xAA; codec.output_bound(0)];
    let result = codec.finish(&mut output);
    let error = step(result, &output);
    (whole, error)
}

/// Generates numbers that look random and are the same every time.
pub(crate) struct Numbers(pub u64);

impl Numbers {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// Makes text of `length` bytes from random `pieces`.
pub(crate) fn mixture(pieces: &[&[u8]], length: usize, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers(seed);
    let mut text = Vec::new();
    while text.len() < length {
        text.extend_from_slice(pieces[numbers.below(pieces.len())]);
    }
    text.truncate(length);
    text
}
