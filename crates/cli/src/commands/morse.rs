//! `fullbore morse`.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use fullbore_codec::Codec;
use fullbore_codec::morse::audio::{Audio, Settings};
use fullbore_codec::morse::{Decoder, Encoder};
use fullbore_feed::Input;

use super::stage::{Stage, tier};
use crate::args::stages::{EncodeOptions, MorseTask};
use crate::exit::Exit;

const HINT: &str = "--on-error skip leaves such things out, --on-error replace marks them";

/// Encodes or decodes.
pub(crate) fn run(task: &MorseTask) -> Result<Exit> {
    match task {
        MorseTask::Encode(options) => {
            let stage = Stage { name: "morse encode", file: options.file.as_deref(), hint: HINT };
            let encoder = Encoder::new(tier()?, options.on_error);
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

/// Writes the sound of the code to a file; of malformed input, the sound of everything before the fault.
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
    let spec = hound::WavSpec {
        channels: 1,
        sample_rate: SAMPLE_RATE_HZ,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let writing = || format!("morse encode: writing: {}", path.display());
    let mut code = Code::new(stage.input()?, encoder);
    let mut file = hound::WavWriter::create(path, spec).with_context(writing)?;
    for sample in Audio::new(&mut code, settings) {
        file.write_sample(sample).with_context(writing)?;
    }
    file.finalize().with_context(writing)?;
    match code.ended {
        Ended::Fault(fault) => Err(stage.malformed(&fault).into()),
        Ended::Failed(error) => Err(anyhow!("{}: {error}", stage.name)),
        Ended::No | Ended::Done => Ok(Exit::Done),
    }
}

/// Enough for tones up to 3 kHz; the file stays small.
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
