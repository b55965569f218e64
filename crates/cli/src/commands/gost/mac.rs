//! `fullbore gost mac`.

use std::io::{self, Write, stdout};

use anyhow::{Result, anyhow};
use fullbore_codec::gost::modes::Omac;
use fullbore_codec::gost::{BlockCipher, Cipher, Key, Kuznyechik, Magma};

use super::{keys, memory};
use crate::args::gost::MacOptions;
use crate::commands::stage::{Stage, refuse_closed_output, tier};
use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// Shorter codes are too easy to guess.
const LEAST_BYTES: usize = 4;

/// Prints or verifies the code.
pub(super) fn run(options: &MacOptions) -> Result<Exit> {
    let stage = Stage {
        name: "gost mac",
        file: options.file.as_deref(),
        hint: "the message was changed, or the key or --cipher differs from that of the code",
    };
    let most = options.cipher.block_bytes();
    if let Some(code) = &options.verify
        && !(LEAST_BYTES..=most).contains(&code.0.len())
    {
        return Err(Failure {
            message: format!("gost mac: --verify: a code of {} bytes", code.0.len()),
            hint: format!(
                "{} makes codes of {most} bytes; give at least the first {LEAST_BYTES}",
                options.cipher
            ),
            exit: Exit::NotDone,
        }
        .into());
    }
    let key = keys::read(&options.key, stage.name, stage.reads_standard_input())?;
    match options.cipher {
        Cipher::Kuznyechik => code::<Kuznyechik>(options, &stage, &key),
        Cipher::Magma => code::<Magma>(options, &stage, &key),
    }
}

fn code<C: BlockCipher>(options: &MacOptions, stage: &Stage<'_>, key: &Key) -> Result<Exit> {
    let mut omac = Omac::new(C::new(key, tier()?));
    let mut input = stage.input()?;
    let mut block = memory::for_message(stage.name, 1 << 18)?;
    loop {
        match input.read(&mut block).map_err(|error| anyhow!("{}: {error}", stage.name))? {
            0 => break,
            count => omac.update(&block[..count]),
        }
    }
    let Some(code) = &options.verify else { return print(stage, &omac.finish()) };
    if omac.verify(&code.0) {
        return Ok(Exit::Done);
    }
    Err(stage.malformed(&"authentication failed: the message has another code").into())
}

fn print(stage: &Stage<'_>, code: &[u8]) -> Result<Exit> {
    refuse_closed_output(stage.name)?;
    let mut line: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
    line.push('\n');
    match stdout().write_all(line.as_bytes()).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        Err(error) => Err(anyhow!("{}: writing: standard output: {}", stage.name, plain(&error))),
        Ok(()) => Ok(Exit::Done),
    }
}
