//! `fullbore gost keygen`.

use std::fs::{File, Permissions};
use std::io::{self, Write, stdout};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use fullbore_codec::gost::Key;
use rustix::rand::{GetRandomFlags, getrandom};
use zeroize::Zeroizing;

use crate::args::gost::KeygenOptions;
use crate::commands::stage::refuse_closed_output;
use crate::exit::Exit;
use crate::messages::secret::may_be_key;
use crate::messages::{Failure, complain, plain};

const NAME: &str = "gost keygen";

/// Makes a key.
pub(super) fn run(options: &KeygenOptions) -> Result<Exit> {
    let line = line()?;
    if let Some(path) = options.output.as_deref().filter(|path| *path != Path::new("-")) {
        if may_be_key(path.as_os_str()) {
            let message = format!("{NAME}: --output: this is a key, not a file name");
            let hint = "other users can see command lines, so do not use this key";
            return Err(Failure { message, hint: hint.to_owned(), exit: Exit::NotDone }.into());
        }
        create(path, &line).map_err(|error| refused(path, &error))?;
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
    // Allocate everything at once: a growing vector would leave copies of the key in memory.
    let mut line = Zeroizing::new(Vec::with_capacity(2 * Key::BYTES + 1));
    for byte in bytes.iter() {
        line.extend([byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
    line.push(b'\n');
    Ok(line)
}

/// Fills `bytes` with random bytes from Linux that are fit for keys.
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

/// Creates a file that only its owner can read. It gets its name only when everything is on the disk, so a failure leaves nothing
/// behind. An existing file is not touched.
fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // Its mode is 600 from the start.
    let mut file = tempfile::Builder::new().prefix(".fullbore-key-").tempfile_in(folder)?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    // If a folder cannot be synchronized, its new entry reaches the disk a little later.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

fn refused(path: &Path, error: &io::Error) -> Failure {
    let hint = match error.kind() {
        io::ErrorKind::AlreadyExists => {
            "if you replaced the key in this file, you could not open what it sealed; choose another name"
        }
        _ => "no key was made; choose a directory that you can write to",
    };
    let cause = match error.kind() {
        io::ErrorKind::AlreadyExists => "File exists".to_owned(),
        _ => plain(error),
    };
    Failure {
        message: format!("{NAME}: creating: {}: {cause}", path.display()),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    }
}

/// The shell usually creates files that others can read: changes the mode, or warns if that fails.
fn keep_to_the_owner(file: &File) {
    let Ok(metadata) = file.metadata() else { return };
    if !metadata.is_file() || metadata.permissions().mode() & 0o077 == 0 {
        return;
    }
    if file.set_permissions(Permissions::from_mode(0o600)).is_err() {
        complain(
            &format!("{NAME}: standard output: other users have access to this file"),
            "use fullbore gost keygen -o FILE, or set umask 077 first",
        );
    }
}
