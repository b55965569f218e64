//! Checking and repairing agree with the standard library, wherever the stream is cut.
#![no_main]

use fullbore_codec::Codec;
use fullbore_codec::utf8::{Repairer, Replacement, Validator};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((cut, text)) = data.split_first() else { return };
    let (a, b) = text.split_at(text.len() * usize::from(*cut) / 255);
    let mut validator = Validator::new();
    let checked = validator.push(a).and_then(|()| validator.push(b)).and_then(|()| validator.finish());
    match (checked, std::str::from_utf8(text)) {
        (Ok(()), Ok(_)) => {}
        (Err(ours), Err(theirs)) => assert_eq!(ours.place.offset, theirs.valid_up_to() as u64),
        (ours, theirs) => panic!("{ours:?} {theirs:?}"),
    }
    let mut codec = Repairer::new(Replacement::Character);
    let mut output = vec![0; codec.output_bound(text.len()) + 16];
    let mut written = codec.push(a, &mut output).unwrap();
    written += codec.push(b, &mut output[written..]).unwrap();
    written += codec.finish(&mut output[written..]).unwrap();
    assert_eq!(&output[..written], String::from_utf8_lossy(text).as_bytes());
});
