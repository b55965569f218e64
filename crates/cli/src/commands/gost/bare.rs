//! `fullbore gost encrypt` and `fullbore gost decrypt`: the bare modes.

use anyhow::{Result, anyhow};
use fullbore_codec::gost::modes::{Bare, Direction, Mgm, Mode};
use fullbore_codec::gost::{BlockCipher, Cipher, Key, Kuznyechik, Magma, ModeError};
use fullbore_pipe::Scratch;

use super::sealed::refuse_terminal;
use super::{keys, memory};
use crate::args::gost::{BareMode, BareOptions};
use crate::commands::stage::{Stage, output, output_failed, tier};
use crate::exit::Exit;
use crate::messages::Failure;

/// The longest message that is kept in memory until its tag is verified.
const MOST_MGM_BYTES: usize = 16 << 20;

/// Encrypts or decrypts.
pub(super) fn run(options: &BareOptions, direction: Direction) -> Result<Exit> {
    let is_encryption = direction == Direction::Encrypt;
    let stage = Stage {
        name: if is_encryption { "gost encrypt" } else { "gost decrypt" },
        file: options.file.as_deref(),
        hint: match (direction, options.mode) {
            (Direction::Encrypt, _) => "--padding one-and-zeros takes data of any length",
            (_, BareMode::Mgm) => {
                "the message was changed, or the key, --cipher or --iv differs from that of the encryption"
            }
            _ => {
                "the data was changed, or the key, --cipher, --iv or --padding differs from that of the encryption"
            }
        },
    };
    if is_encryption {
        refuse_terminal(stage.name)?;
    }
    check(options, &stage)?;
    memory::check_stage(stage.name)?;
    let key = keys::read(&options.key, stage.name, stage.reads_standard_input())?;
    match mode(options) {
        Some(mode) => {
            let iv = options.iv.as_ref().map_or(&[][..], |iv| &iv.0);
            let padding = options.padding.unwrap_or_default().into();
            let codec = Bare::new(options.cipher, mode, direction, &key, iv, padding, tier()?);
            drop(key);
            stage.run(&mut codec.map_err(|error| wrong(options, &stage, &error))?)
        }
        None => match options.cipher {
            Cipher::Kuznyechik => mgm::<Kuznyechik>(options, &stage, direction, &key),
            Cipher::Magma => mgm::<Magma>(options, &stage, direction, &key),
        },
    }
}

/// The mode, unless it is MGM.
fn mode(options: &BareOptions) -> Option<Mode> {
    Some(match options.mode {
        BareMode::Ecb => Mode::Ecb,
        BareMode::Cbc => Mode::Cbc,
        BareMode::Ctr => Mode::Ctr,
        BareMode::Cfb => Mode::Cfb,
        BareMode::Ofb => Mode::Ofb,
        BareMode::CtrAcpkm => Mode::CtrAcpkm { section_bytes: section_bytes(options) },
        BareMode::Mgm => return None,
    })
}

/// Source: RFC 9189, 4.2: the sections of the cipher suites.
fn section_bytes(options: &BareOptions) -> usize {
    let usual = match options.cipher {
        Cipher::Kuznyechik => 4096,
        Cipher::Magma => 1024,
    };
    options.section.map_or(usual, |section| usize::try_from(section.0).unwrap_or(usize::MAX))
}

/// Refuses options that do not go together.
fn check(options: &BareOptions, stage: &Stage<'_>) -> Result<(), Failure> {
    let refuse = |message: &str, hint: &str| {
        Err(Failure {
            message: format!("{}: {message}", stage.name),
            hint: hint.to_owned(),
            exit: Exit::NotDone,
        })
    };
    if options.padding.is_some() && !matches!(options.mode, BareMode::Ecb | BareMode::Cbc) {
        return refuse("--padding: only ecb and cbc fill blocks", "leave --padding out");
    }
    match (options.mode, &options.iv) {
        (BareMode::Ecb, Some(_)) => {
            refuse("--iv: ecb takes none", "leave --iv out, or choose another mode")
        }
        (BareMode::Ecb, None) | (_, Some(_)) => match (options.mode, options.section) {
            (mode, Some(_)) if mode != BareMode::CtrAcpkm => {
                refuse("--section: only ctr-acpkm has sections", "leave --section out")
            }
            _ => Ok(()),
        },
        (_, None) => refuse("--iv: this mode needs one", &wanted_iv(options)),
    }
}

/// Says which vector the mode takes.
fn wanted_iv(options: &BareOptions) -> String {
    let block = options.cipher.block_bytes();
    let digits = match options.mode {
        BareMode::Ctr | BareMode::CtrAcpkm => format!("{block} digits (half a block)"),
        BareMode::Mgm => format!("{} digits (one block, its first bit zero)", 2 * block),
        _ => format!("{} digits (one block) or a multiple", 2 * block),
    };
    format!(
        "for {}, give --iv with {digits}; never use one twice with the same key",
        options.cipher
    )
}

/// The message for a parameter that the mode refuses.
fn wrong(options: &BareOptions, stage: &Stage<'_>, error: &ModeError) -> Failure {
    let (what, hint) = match error {
        ModeError::SectionLength { .. } => {
            let block = options.cipher.block_bytes();
            ("--section", format!("for {}, give a multiple of {block}", options.cipher))
        }
        _ => ("--iv", wanted_iv(options)),
    };
    Failure { message: format!("{}: {what}: {error}", stage.name), hint, exit: Exit::NotDone }
}

/// Encrypts and authenticates a message in memory. Its tag, one whole block, comes last.
fn mgm<C: BlockCipher>(
    options: &BareOptions,
    stage: &Stage<'_>,
    direction: Direction,
    key: &Key,
) -> Result<Exit> {
    let iv = options.iv.as_ref().map_or(&[][..], |iv| &iv.0);
    let mgm = Mgm::<C>::new(key, tier()?);
    // Try the vector on dummy data first, so that a wrong one is reported before any input is read.
    mgm.seal(iv, &[0], &mut [], &mut [0; 16][..C::BLOCK_BYTES])
        .map_err(|error| wrong(options, stage, &error))?;
    let (mut memory, bytes) = read(stage, C::BLOCK_BYTES)?;
    let (bytes, data_bytes) = match direction {
        Direction::Encrypt => (bytes + C::BLOCK_BYTES, Some(bytes)),
        Direction::Decrypt => (bytes, bytes.checked_sub(C::BLOCK_BYTES)),
    };
    let message = &mut memory[..bytes];
    let Some(data_bytes) = data_bytes else {
        return Err(stage
            .malformed(&"authentication failed: the message is shorter than a tag")
            .into());
    };
    let (data, tag) = message.split_at_mut(data_bytes);
    let done = match direction {
        Direction::Encrypt => mgm.seal(iv, &[], data, tag),
        Direction::Decrypt => mgm.open(iv, &[], data, tag),
    };
    done.map_err(|error| Stage { hint: mgm_hint(stage, &error), ..*stage }.malformed(&error))?;
    let made = if direction == Direction::Encrypt { &*message } else { &message[..data_bytes] };
    let mut writer = output(stage.name)?;
    match writer.put(made).and_then(|()| writer.flush_all()) {
        Ok(()) => Ok(Exit::Done),
        Err(error) => output_failed(stage.name, &error),
    }
}

fn mgm_hint<'a>(stage: &Stage<'a>, error: &ModeError) -> &'a str {
    match error {
        ModeError::MessageLength => {
            "RFC 9058 has no message of no bytes; fullbore gost seal takes any"
        }
        _ => stage.hint,
    }
}

/// Reads the whole input into memory with room for a tag; returns the memory and the length.
fn read(stage: &Stage<'_>, tag_bytes: usize) -> Result<(Scratch, usize)> {
    let mut input = stage.input()?;
    let most = MOST_MGM_BYTES + tag_bytes;
    let mut message = memory::for_message(stage.name, most + 1)?;
    let bytes = input.read_all(&mut message).map_err(|error| anyhow!("{}: {error}", stage.name))?;
    if bytes > most || bytes > MOST_MGM_BYTES && stage.name == "gost encrypt" {
        return Err(Failure {
            message: format!(
                "{}: the message has more than {} MiB",
                stage.name,
                MOST_MGM_BYTES >> 20
            ),
            hint: "mgm keeps the whole message in memory; use fullbore gost seal and open for more"
                .to_owned(),
            exit: Exit::NotDone,
        }
        .into());
    }
    Ok((message, bytes))
}
