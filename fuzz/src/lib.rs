//! What the targets share.

use fullbore_codec::{Codec, Fault};

/// All that a codec writes for these blocks and the end, and the error it stops at.
pub fn run<C: Codec>(codec: &mut C, blocks: &[&[u8]]) -> (Vec<u8>, Option<C::Error>) {
    let mut whole = Vec::new();
    for block in blocks.iter().map(|block| Some(*block)).chain([None]) {
        let mut output = vec![0; codec.output_bound(block.map_or(0, <[u8]>::len))];
        let result = match block {
            Some(block) => codec.push(block, &mut output),
            None => codec.finish(&mut output),
        };
        match result {
            Ok(written) => whole.extend_from_slice(&output[..written]),
            Err(Fault { written, error }) => {
                whole.extend_from_slice(&output[..written]);
                return (whole, Some(error));
            }
        }
    }
    (whole, None)
}
