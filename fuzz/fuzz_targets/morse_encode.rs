//! Every kernel encodes as the oracle does. The first byte chooses the way with errors and the cut.
#![no_main]

use fullbore_codec::Tier;
use fullbore_codec::morse::{Encoder, OnError, naive};
use fullbore_fuzz::run;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let mode = [OnError::Fail, OnError::Replace, OnError::Skip][usize::from(choice % 3)];
    let (a, b) = text.split_at(text.len() * usize::from(choice / 3) / 85);
    let expected = naive::encode(text, mode);
    for tier in Tier::all() {
        assert_eq!(run(&mut Encoder::new(tier, mode), &[a, b]), expected, "{tier}");
    }
});
