//! `fullbore morse`.

use std::fs::File;
use std::io::{self, ErrorKind, stdout};
use std::path::Path;

use anyhow::{Result, anyhow};
use fullbore_codec::Codec;
use fullbore_codec::morse::audio::{Audio, Settings};
use fullbore_codec::morse::{Decoder, Encoder};
use fullbore_feed::Input;

use super::sound::{state_length, write_wav};
use super::stage::{Stage, refuse_closed_output, tier};
use crate::args::stages::{EncodeOptions, MorseTask};
use crate::exit::Exit;
use crate::messages::plain;

const HINT: &str = "--on-error skip leaves out what has no code, --on-error replace marks it";

/// Encodes or decodes.
pub(crate) fn run(task: &MorseTask) -> Result<Exit> {
    match task {
        MorseTask::Encode(options) => {
            let stage = Stage { name: "morse encode", file: options.file.as_deref(), hint: HINT };
            let encoder = match options.alphabet {
                None => Encoder::new(tier()?, options.on_error),
                Some(alphabet) => Encoder::of_alphabet(tier()?, alphabet, options.on_error),
            };
            match &options.audio {
                None => stage.run_divided(encoder),
                Some(path) => sound(&stage, encoder, path, options),
            }
        }
        MorseTask::Decode(options) => {
            let stage = Stage { name: "morse decode", file: options.file.as_deref(), hint: HINT };
            stage.run_divided(Decoder::new(tier()?, options.alphabet, options.on_error))
        }
    }
}

/// Writes the code as sound. If the input is malformed, writes the sound of everything before the fault.
fn sound(
    stage: &Stage<'_>,
    encoder: Encoder,
    path: &Path,
    options: &EncodeOptions,
) -> Result<Exit> {
    let dot_s = 60.0 / (50.0 * f64::from(options.wpm));
    let settings = Settings {
        words_per_minute: options.wpm.into(),
        tone_hz: options.tone.into(),
        sample_rate_hz: SAMPLE_RATE_HZ,
        edge_s: Settings::default().edge_s.min(dot_s / 2.0),
        ..Settings::default()
    };
    let mut code = Code::new(stage.input()?, encoder);
    let sound = Audio::new(&mut code, settings);
    let (name, written) = if path == Path::new("-") {
        refuse_closed_output(stage.name)?;
        ("standard output".into(), write_wav(stdout().lock(), SAMPLE_RATE_HZ, sound))
    } else {
        (path.display().to_string(), File::create(path).and_then(|file| write_file(file, sound)))
    };
    match written {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(Exit::ReaderLeft),
        Err(error) => {
            return Err(anyhow!("{}: writing: {name}: {}", stage.name, plain(&error)));
        }
    }
    match code.ended {
        Ended::Fault(fault) => Err(stage.malformed(&fault).into()),
        Ended::Failed(error) => Err(anyhow!("{}: {error}", stage.name)),
        Ended::No | Ended::Done => Ok(Exit::Done),
    }
}

/// Writes a file with its length in the header; a pipe or a device gets an unknown length.
fn write_file(mut file: File, sound: impl Iterator<Item = i16>) -> io::Result<()> {
    write_wav(&mut file, SAMPLE_RATE_HZ, sound)?;
    if file.metadata()?.is_file() { state_length(&mut file) } else { Ok(()) }
}

/// Sufficient for tones up to 3 kHz, and keeps the file small.
const SAMPLE_RATE_HZ: u32 = 8_000;

/// The signs of a text, one byte after the other.
struct Code {
    input: Input,
    encoder: Encoder,
    block: Vec<u8>,
    signs: Vec<u8>,
    at: usize,
    len: usize,
    ended: Ended,
}

enum Ended {
    No,
    Done,
    Fault(<Encoder as Codec>::Error),
    Failed(fullbore_feed::InputError),
}

impl Code {
    fn new(input: Input, encoder: Encoder) -> Self {
        let block = vec![0; 4096];
        let signs = vec![0; encoder.output_bound(block.len()).max(encoder.output_bound(0))];
        Self { input, encoder, block, signs, at: 0, len: 0, ended: Ended::No }
    }

    /// Encodes the next block.
    fn refill(&mut self) {
        let result = match self.input.read(&mut self.block) {
            Err(error) => {
                self.ended = Ended::Failed(error);
                return;
            }
            Ok(0) => {
                self.ended = Ended::Done;
                self.encoder.finish(&mut self.signs)
            }
            Ok(count) => self.encoder.push(&self.block[..count], &mut self.signs),
        };
        self.at = 0;
        self.len = result.unwrap_or_else(|fault| {
            self.ended = Ended::Fault(fault.error);
            fault.written
        });
    }
}

impl Iterator for Code {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        while self.at == self.len {
            if !matches!(self.ended, Ended::No) {
                return None;
            }
            self.refill();
        }
        self.at += 1;
        Some(self.signs[self.at - 1])
    }
}
