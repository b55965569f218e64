//! A stream whose every byte is known, written in a chosen way, and readers that check or discard it.
//!
//! `FULLBORE_SEQUENCE_SAYS=1` makes the writer say by which way the last bytes went.
//!
//! `fullbore-sequence write STRATEGY BYTES [RING [CHUNK]] | fullbore-sequence check|discard|splice [BYTES]`
#![allow(clippy::print_stderr, reason = "a program of the tests reports its own failures")]

#[path = "../../pipe/tests/integrity/sequence.rs"]
mod sequence;

use std::fs::File;
use std::io::{Read, stdin, stdout};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use fullbore_apparatus::DoubleBuffer;
use fullbore_measure::Bytes;
use fullbore_pipe::{Options, PipeWriter, Strategy};
use rustix::pipe::{SpliceFlags, splice};

fn main() -> ExitCode {
    match run(&std::env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fullbore-sequence: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[String]) -> Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["write", strategy, bytes, rest @ ..] => write(strategy, size(bytes)?, rest),
        ["check"] => check(),
        ["discard"] => read(|_| ()).map(drop),
        ["splice"] => discard(Bytes(u64::MAX)),
        ["splice", most] => discard(size(most)?),
        _ => bail!("usage: write STRATEGY BYTES [RING [CHUNK]] | check | discard | splice [BYTES]"),
    }
}

fn size(text: &str) -> Result<Bytes> {
    text.parse().with_context(|| text.to_owned())
}

fn write(strategy: &str, len: Bytes, rest: &[&str]) -> Result<()> {
    let mut options = Options::default();
    if let [ring, ..] = rest {
        options = options.ring(size(ring)?);
    }
    if let [_, chunk] = rest {
        options = options.chunk(size(chunk)?);
    }
    let len = len.0 & !7;
    let mut writer = match strategy {
        "auto" => PipeWriter::new(stdout(), options),
        "double" => {
            // For comparison; the readers it is used with copy or discard what they read.
            return Ok(sequence::write(&mut DoubleBuffer::without_promise(stdout())?, len)?);
        }
        _ => {
            let strategy: Strategy = strategy.parse().map_err(anyhow::Error::msg)?;
            PipeWriter::new(stdout(), options.strategy(strategy))
        }
    };
    sequence::write(&mut writer, len)?;
    if std::env::var_os("FULLBORE_SEQUENCE_SAYS").is_some() {
        eprintln!("{}", writer.strategy());
    }
    Ok(())
}

fn read(mut take: impl FnMut(&[u8])) -> Result<()> {
    let mut block = vec![0; 1 << 18];
    loop {
        match stdin().lock().read(&mut block)? {
            0 => return Ok(()),
            count => take(&block[..count]),
        }
    }
}

fn check() -> Result<()> {
    let mut checked = sequence::Checked::default();
    read(|bytes| checked.take(bytes))?;
    if checked.wrong > 0 {
        bail!("{checked:?}");
    }
    Ok(())
}

fn discard(most: Bytes) -> Result<()> {
    let nowhere = File::options().write(true).open("/dev/null")?;
    let mut left = most.0;
    while left > 0 {
        let at_once = usize::try_from(left.min(1 << 20))?;
        match splice(stdin(), None, &nowhere, None, at_once, SpliceFlags::MOVE)? {
            0 => break,
            count => left -= count as u64,
        }
    }
    Ok(())
}
