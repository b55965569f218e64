//! `fullbore gost seal` and `fullbore gost open`.

use std::io::{IsTerminal, stdout};
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use anyhow::{Result, anyhow};
use fullbore_codec::gost::stream::{Chunks, Header, Place, StreamError};
use fullbore_feed::{Chunk, Chunked, FeedError, Input, in_chunks};

use super::keygen::fill_with_random;
use super::keys;
use crate::args::gost::{OpenOptions, SealOptions};
use crate::commands::stage::{Stage, output, output_failed, tier};
use crate::exit::Exit;
use crate::messages::Failure;

const HINT: &str = "the key is another, or the stream was changed, cut short or added to";

/// Seals.
pub(super) fn seal(options: &SealOptions) -> Result<Exit> {
    let stage = Stage { name: "gost seal", file: options.file.as_deref(), hint: "" };
    refuse_terminal(stage.name)?;
    let key = keys::read(&options.key, stage.name, stage.reads_standard_input())?;
    let input = stage.input()?;
    let mut writer = output(stage.name)?;
    let mut salt = [0; Header::SALT_BYTES];
    fill_with_random(&mut salt)?;
    let header = Header::new(options.cipher, salt);
    let chunks = Chunks::new(&key, &header, tier()?);
    drop(key);
    if let Err(error) = writer.put(&header.to_bytes()) {
        return output_failed(stage.name, &error);
    }
    finish(&stage, in_chunks(input, Sealing(chunks), writer, jobs(options.jobs)))
}

/// Opens.
pub(super) fn open(options: &OpenOptions) -> Result<Exit> {
    let stage = Stage { name: "gost open", file: options.file.as_deref(), hint: HINT };
    let key = keys::read(&options.key, stage.name, stage.reads_standard_input())?;
    let mut input = stage.input()?;
    let writer = output(stage.name)?;
    let header = match header(&mut input, stage.name)? {
        Ok(header) => header,
        Err(error) => return Err(Stage { hint: "", ..stage }.malformed(&error).into()),
    };
    let chunks = Chunks::new(&key, &header, tier()?);
    drop(key);
    finish(&stage, in_chunks(input, Opening(chunks), writer, jobs(options.jobs)))
}

fn header(input: &mut Input, name: &str) -> Result<Result<Header, StreamError>> {
    let mut front = [0; Header::BYTES];
    let bytes = input.read_all(&mut front).map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(Header::read(&front[..bytes]))
}

/// What is sealed is nothing to look at, and may drive a terminal mad.
pub(super) fn refuse_terminal(name: &str) -> Result<(), Failure> {
    if !stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure {
        message: format!("{name}: writing: standard output: it is a terminal, and this is no text"),
        hint: format!("send it to a file or a pipe: fullbore {name} [OPTIONS] > FILE"),
        exit: Exit::NotDone,
    })
}

fn jobs(wanted: Option<NonZeroUsize>) -> usize {
    wanted.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get)
}

fn finish<T>(stage: &Stage<'_>, done: Result<T, FeedError<StreamError>>) -> Result<Exit> {
    match done {
        Ok(_) => Ok(Exit::Done),
        Err(error) if error.is_broken_pipe() => Ok(Exit::ReaderLeft),
        Err(FeedError::Codec(error @ StreamError::TooLong { .. })) => Err(Failure {
            message: format!("{}: {error}", stage.name),
            hint: "kuznyechik seals 4 PiB; what was written cannot be opened to its end".to_owned(),
            exit: Exit::NotDone,
        }
        .into()),
        Err(FeedError::Codec(error)) => Err(stage.malformed(&error).into()),
        Err(error) => Err(anyhow!("{}: {error}", stage.name)),
    }
}

fn place(chunk: Chunk) -> Place {
    if chunk.is_last { Place::Last } else { Place::Middle }
}

/// Data in, sealed chunks out.
struct Sealing(Chunks);

impl Chunked for Sealing {
    type Error = StreamError;

    fn input_bytes(&self) -> usize {
        self.0.header().chunk_bytes()
    }

    fn output_bytes(&self) -> usize {
        self.0.header().sealed_chunk_bytes()
    }

    fn process(&self, chunk: Chunk, data: &[u8], sealed: &mut [u8]) -> Result<usize, StreamError> {
        self.0.seal(chunk.index, place(chunk), data, sealed)
    }
}

/// Sealed chunks in, data out.
struct Opening(Chunks);

impl Chunked for Opening {
    type Error = StreamError;

    fn input_bytes(&self) -> usize {
        self.0.header().sealed_chunk_bytes()
    }

    fn output_bytes(&self) -> usize {
        self.0.header().chunk_bytes()
    }

    fn process(&self, chunk: Chunk, sealed: &[u8], data: &mut [u8]) -> Result<usize, StreamError> {
        self.0.open(chunk.index, place(chunk), sealed, data)
    }
}
