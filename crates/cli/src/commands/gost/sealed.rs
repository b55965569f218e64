//! `fullbore gost seal` and `fullbore gost open`.

use std::io::{IsTerminal, Stdout, stdout};

use anyhow::{Result, anyhow};
use fullbore_codec::gost::stream::{ChunkKind, Chunks, Header, StreamError};
use fullbore_feed::{Chunk, Chunked, FeedError, Input, in_chunks};
use fullbore_pipe::PipeWriter;

use super::keygen::fill_with_random;
use super::{keys, memory};
use crate::args::gost::{OpenOptions, SealOptions};
use crate::commands::stage::{Stage, output, output_failed, tier};
use crate::exit::Exit;
use crate::messages::Failure;

const HINT: &str = "the key is wrong, or the stream was changed, cut short or extended";

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
    let chunks = Sealing(Chunks::new(&key, &header, tier()?));
    drop(key);
    let jobs = memory::jobs(stage.name, options.jobs, sizes(&chunks))?;
    if let Err(error) = writer.put(&header.to_bytes()) {
        return output_failed(stage.name, &error);
    }
    run(&stage, input, chunks, writer, jobs)
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
    let chunks = Opening(Chunks::new(&key, &header, tier()?));
    drop(key);
    let jobs = memory::jobs(stage.name, options.jobs, sizes(&chunks))?;
    run(&stage, input, chunks, writer, jobs)
}

fn header(input: &mut Input, name: &str) -> Result<Result<Header, StreamError>> {
    let mut front = [0; Header::BYTES];
    let bytes = input.read_all(&mut front).map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(Header::read(&front[..bytes]))
}

/// Refuses to write sealed data to a terminal, which it could confuse.
pub(super) fn refuse_terminal(name: &str) -> Result<(), Failure> {
    if !stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure {
        message: format!(
            "{name}: writing: standard output: it is a terminal, and the data is not text"
        ),
        hint: format!("redirect it to a file or a pipe: fullbore {name} [OPTIONS] > FILE"),
        exit: Exit::NotDone,
    })
}

/// The input and output bytes of a chunk.
fn sizes(chunked: &impl Chunked) -> (usize, usize) {
    (chunked.input_bytes(), chunked.output_bytes())
}

fn run<T: Chunked<Error = StreamError>>(
    stage: &Stage<'_>,
    input: Input,
    chunked: T,
    writer: PipeWriter<Stdout>,
    jobs: usize,
) -> Result<Exit> {
    match in_chunks(input, chunked, writer, jobs) {
        Err(FeedError::Memory(error)) => Err(memory::ended(stage.name, jobs, &error).into()),
        Ok(_) => Ok(Exit::Done),
        Err(error) if error.is_broken_pipe() => Ok(Exit::ReaderLeft),
        Err(FeedError::Codec(error @ StreamError::TooLong { .. })) => Err(Failure {
            message: format!("{}: {error}", stage.name),
            hint: "kuznyechik seals up to 4 PiB; the output so far cannot be opened to its end"
                .to_owned(),
            exit: Exit::NotDone,
        }
        .into()),
        Err(FeedError::Codec(error)) => Err(stage.malformed(&error).into()),
        Err(error) => Err(anyhow!("{}: {error}", stage.name)),
    }
}

fn kind(chunk: Chunk) -> ChunkKind {
    if chunk.is_last { ChunkKind::Last } else { ChunkKind::Middle }
}

/// Turns data into sealed chunks.
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
        self.0.seal(chunk.index, kind(chunk), data, sealed)
    }
}

/// Turns sealed chunks into data.
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
        self.0.open(chunk.index, kind(chunk), sealed, data)
    }
}
