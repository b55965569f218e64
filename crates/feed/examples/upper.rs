//! A stage with a codec of its own, which writes ASCII letters in upper case: `echo hello | upper`.

use std::convert::Infallible;
use std::error::Error;

use fullbore_codec::{Codec, Fault};
use fullbore_feed::{Input, Threads, transform};
use fullbore_pipe::{Options, PipeWriter};

struct Upper;

impl Codec for Upper {
    type Error = Infallible;

    fn output_bound(&self, input_bytes: usize) -> usize {
        input_bytes
    }

    fn push(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize, Fault<Infallible>> {
        output[..input.len()].copy_from_slice(input);
        output[..input.len()].make_ascii_uppercase();
        Ok(input.len())
    }

    fn finish(&mut self, _output: &mut [u8]) -> Result<usize, Fault<Infallible>> {
        Ok(0)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut writer = PipeWriter::new(std::io::stdout(), Options::default());
    match transform(Input::standard()?, &mut Upper, &mut writer, Threads::WherePays) {
        // A reader that has enough is no failure.
        Err(error) if error.is_broken_pipe() => Ok(()),
        done => Ok(done.map(drop)?),
    }
}
