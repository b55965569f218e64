//! `fullbore gost keygen`.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Write, stdout};
use std::os::fd::AsFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use fullbore_codec::gost::Key;
use rustix::rand::{GetRandomFlags, getrandom};
use zeroize::Zeroizing;

use crate::args::gost::KeygenOptions;
use crate::commands::stage::refuse_closed_output;
use crate::exit::Exit;
use crate::messages::{Failure, complain, plain};

const NAME: &str = "gost keygen";

/// Makes a key.
pub(super) fn run(options: &KeygenOptions) -> Result<Exit> {
    let line = line()?;
    if let Some(path) = &options.output {
        create(path)
            .map_err(|error| refused(path, &error))?
            .write_all(&line)
            .with_context(|| format!("{NAME}: writing: {}", path.display()))?;
        return Ok(Exit::Done);
    }
    refuse_closed_output(NAME)?;
    let file = File::from(stdout().as_fd().try_clone_to_owned()?);
    keep_to_the_owner(&file);
    match (&file).write_all(&line) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        Err(error) => Err(anyhow!("{NAME}: writing: standard output: {}", plain(&error))),
        Ok(()) => Ok(Exit::Done),
    }
}

/// The digits of a new key, and a newline.
fn line() -> Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new([0; Key::BYTES]);
    fill_with_random(&mut *bytes)?;
    // With all its room from the start: a copy that grows leaves another behind.
    let mut line = Zeroizing::new(Vec::with_capacity(2 * Key::BYTES + 1));
    for byte in bytes.iter() {
        line.extend([byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
    line.push(b'\n');
    Ok(line)
}

/// Random bytes of the kernel, fit for keys.
///
/// Source: getrandom(2).
pub(super) fn fill_with_random(bytes: &mut [u8]) -> Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno).context("gost: random bytes"),
        }
    }
    Ok(())
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn refused(path: &Path, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            "what was sealed with the key in it could not be opened again; choose another name"
        }
        _ => "",
    };
    Failure {
        message: format!("{NAME}: creating: {}: {}", path.display(), plain(error)),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    }
}

/// A file that the shell has made is readable for others, as a rule. Who cannot change that is told.
fn keep_to_the_owner(file: &File) {
    let Ok(metadata) = file.metadata() else { return };
    if !metadata.is_file() || metadata.permissions().mode() & 0o077 == 0 {
        return;
    }
    if file.set_permissions(Permissions::from_mode(0o600)).is_err() {
        complain(
            &format!("{NAME}: standard output: others have access to this file"),
            "fullbore gost keygen -o FILE makes one of your own; or set umask 077 before",
        );
    }
}
