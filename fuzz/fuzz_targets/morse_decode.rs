//! Every kernel decodes as the oracle does. The first byte chooses the alphabet, the way with errors and the cut.
#![no_main]

use fullbore_codec::Tier;
use fullbore_codec::morse::{Alphabet, Decoder, OnError, naive};
use fullbore_fuzz::run;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = data.split_first() else { return };
    let alphabet = Alphabet::ALL[usize::from(choice % 7)];
    let mode = [OnError::Fail, OnError::Replace, OnError::Skip][usize::from(choice % 3)];
    let (a, b) = text.split_at(text.len() * usize::from(choice / 3) / 85);
    let expected = naive::decode(text, alphabet, mode);
    for tier in Tier::all() {
        assert_eq!(run(&mut Decoder::new(tier, alphabet, mode), &[a, b]), expected, "{tier}");
    }
});
