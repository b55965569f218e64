//! The validator of every tier has the verdict of the naive one, wherever the stream is cut.
#![no_main]

use fullbore_codec::json::{Validator, naive};
use fullbore_codec::{Place, Tier};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((cut, text)) = data.split_first() else { return };
    // Kernels need some text, so the text comes several times.
    let text = [text, b"\n"].concat().repeat(1 + 600 / (text.len() + 1));
    let (a, b) = text.split_at(text.len() * usize::from(*cut) / 255);
    let expected = naive::check(&text).map_err(|(at, cause)| (Place::default().after(&text[..at]), cause));
    for tier in Tier::all() {
        let mut validator = Validator::new(tier);
        let result = validator.push(a).and_then(|()| validator.push(b)).and_then(|()| validator.finish());
        let ours = result.map(|()| validator.documents()).map_err(|error| (error.place, error.cause));
        assert_eq!(ours, expected, "{tier}");
    }
});
