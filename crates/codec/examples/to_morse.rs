//! Encodes standard input in Morse code: `echo 'SOS Москва' | to_morse`.

use std::error::Error;
use std::io::{Read, Write, stdin, stdout};

use fullbore_codec::morse::{Encoder, OnError};
use fullbore_codec::{Codec, Tier};

fn main() -> Result<(), Box<dyn Error>> {
    let mut encoder = Encoder::new(Tier::best(), OnError::Fail);
    let mut input = [0; 1 << 16];
    let mut output = vec![0; encoder.output_bound(input.len())];
    loop {
        let read = stdin().read(&mut input)?;
        // What comes before malformed input is still written.
        let encoded = match read {
            0 => encoder.finish(&mut output),
            _ => encoder.push(&input[..read], &mut output),
        };
        let written = encoded.as_ref().map_or_else(|fault| fault.written, |written| *written);
        stdout().write_all(&output[..written])?;
        encoded.map_err(|fault| fault.error)?;
        if read == 0 {
            return Ok(stdout().flush()?);
        }
    }
}
