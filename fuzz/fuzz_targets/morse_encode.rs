//! Every kernel encodes as the oracle does. The first byte chooses the way with errors and the cut.
#![no_main]

use fullbore_codec::morse::{Encoder, OnError, naive};
use fullbore_codec::{Codec, Tier};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let mode = [OnError::Fail, OnError::Replace, OnError::Skip][usize::from(choice % 3)];
    let (a, b) = text.split_at(text.len() * usize::from(choice / 3) / 85);
    let expected = naive::encode(text, mode);
    for tier in Tier::all() {
        let mut codec = Encoder::new(tier, mode);
        let mut whole = Vec::new();
        let mut error = None;
        for block in [Some(a), Some(b), None] {
            let mut output = vec![0; codec.output_bound(block.map_or(0, <[u8]>::len))];
            let result = match block {
                Some(block) => codec.push(block, &mut output),
                None => codec.finish(&mut output),
            };
            match result {
                Ok(written) => whole.extend_from_slice(&output[..written]),
                Err(fault) => {
                    whole.extend_from_slice(&output[..fault.written]);
                    error = Some(fault.error);
                    break;
                }
            }
        }
        assert_eq!((whole, error), expected, "{tier}");
    }
});
