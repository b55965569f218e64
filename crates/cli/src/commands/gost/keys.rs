//! The user's key: from a file, a descriptor or the environment. No message ever shows a part of it.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use anyhow::Result;
use fullbore_codec::gost::Key;
use fullbore_process::inherited;
use zeroize::{Zeroize, Zeroizing};

use crate::args::gost::KeyOptions;
use crate::exit::Exit;
use crate::messages::secret::may_be_key;
use crate::messages::{Failure, plain};

/// Hexadecimal digits of a key.
const DIGITS: usize = 2 * Key::BYTES;

/// Reads the key.
///
/// If `is_input_standard`, the data comes from standard input, so the key cannot come from there.
///
/// # Errors
/// If there is no key: the message says where it was expected and why it is not usable.
pub(super) fn read(options: &KeyOptions, name: &str, is_input_standard: bool) -> Result<Key> {
    let reader = Reader { name };
    let key = match options {
        KeyOptions { key_file: Some(path), .. } => reader.of_file(path),
        KeyOptions { key_fd: Some(number), .. } => reader.of_descriptor(number, is_input_standard),
        KeyOptions { key_env: Some(variable), .. } => reader.of_environment(variable),
        _ => Err(reader.failure("no key given".to_owned(), "give --key-file FILE")),
    };
    Ok(key?)
}

/// Reads keys. Its messages name the command that needs them.
struct Reader<'a> {
    name: &'a str,
}

impl Reader<'_> {
    fn of_file(&self, path: &Path) -> Result<Key, Failure> {
        // Messages end in logs, so they must not repeat the key.
        if may_be_key(path.as_os_str()) && !path.exists() {
            return Err(self.on_the_command_line("--key-file: this is a key, not a file name"));
        }
        let place = format!("--key-file: {}", path.display());
        let failed = |error: &io::Error, hint: &str| {
            self.failure(format!("{place}: {}", plain(error)), hint)
        };
        let file = File::open(path).map_err(|error| {
            let hint = match error.kind() {
                io::ErrorKind::NotFound => "make a key with: fullbore gost keygen -o FILE",
                _ => "",
            };
            failed(&error, hint)
        })?;
        let metadata = file.metadata().map_err(|error| failed(&error, ""))?;
        if metadata.is_dir() {
            return Err(self
                .failure(format!("{place}: it is a directory"), "give the path of a file in it"));
        }
        // Others may write to a terminal to send messages, so devices are not checked.
        let is_checked = !metadata.file_type().is_char_device();
        let mode = metadata.permissions().mode() & 0o7777;
        if is_checked && mode & 0o077 != 0 {
            return Err(self.failure(
                format!("{place}: other users have access to it (mode {mode:o})"),
                &hint_for_mode(path, &metadata),
            ));
        }
        self.of_open(file, &place)
    }

    fn of_descriptor(&self, number: &OsStr, is_input_standard: bool) -> Result<Key, Failure> {
        if may_be_key(number) {
            return Err(self.on_the_command_line("--key-fd: this is a key, not a descriptor"));
        }
        let Some(number) = number.to_str().and_then(|text| text.parse::<u16>().ok()) else {
            return Err(self.failure(
                "--key-fd: expected the number of a descriptor".to_owned(),
                "let the shell open one: --key-fd 3 3< FILE",
            ));
        };
        let place = format!("--key-fd: {number}");
        if number == 0 && is_input_standard {
            return Err(self.failure(
                format!("{place}: standard input already carries the data"),
                "give the data as a file, or the key on another descriptor: --key-fd 3 3< FILE",
            ));
        }
        let file = inherited(number).map_err(|error| {
            self.failure(
                format!("{place}: {}", plain(&error)),
                &format!("let the shell open it: --key-fd {number} {number}< FILE"),
            )
        })?;
        self.of_open(file.into(), &place)
    }

    fn of_environment(&self, variable: &OsStr) -> Result<Key, Failure> {
        if may_be_key(variable) {
            return Err(self.on_the_command_line("--key-env: this is a key, not a name"));
        }
        let place = format!("--key-env: {}", variable.display());
        let name = variable.as_bytes();
        let value = (!name.is_empty() && !name.contains(&b'=')).then(|| std::env::var_os(variable));
        let Some(value) = value.flatten() else {
            return Err(self.failure(
                format!("{place}: the variable is not set"),
                "export it, or better use a file: --key-file FILE",
            ));
        };
        let value = Zeroizing::new(value.into_encoded_bytes());
        if value.len() == DIGITS { parse(&value) } else { None }.ok_or_else(|| {
            let hint = "a key is 64 hexadecimal digits";
            self.failure(format!("{place}: not a key: {} bytes", value.len()), hint)
        })
    }

    /// Reads a key and checks that nothing follows it.
    fn of_open(&self, mut file: File, place: &str) -> Result<Key, Failure> {
        // Room for a carriage return, a newline, and one more byte that reveals a key that is too long.
        let mut bytes = Zeroizing::new([0; DIGITS + 3]);
        let mut len = 0;
        while len < bytes.len() {
            match file.read(&mut bytes[len..]) {
                Ok(0) => break,
                Ok(count) => len += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    return Err(self.failure(format!("{place}: {}", plain(&error)), ""));
                }
            }
        }
        let hint =
            "a key is 64 hexadecimal digits, or 32 bytes: fullbore gost keygen -o FILE makes one";
        parse(&bytes[..len]).ok_or_else(|| {
            let text = line(&bytes[..len]);
            let what = match text.len() {
                0 => "it is empty".to_owned(),
                _ if len == bytes.len() => "not a key: too long".to_owned(),
                DIGITS => "not a key: some characters are not hexadecimal digits".to_owned(),
                digits if text.iter().all(u8::is_ascii_hexdigit) => {
                    format!("not a key: {digits} hexadecimal digits instead of {DIGITS}")
                }
                _ => format!("not a key: {len} bytes"),
            };
            self.failure(format!("{place}: {what}"), hint)
        })
    }

    fn on_the_command_line(&self, what: &str) -> Failure {
        let hint =
            "other users can see command lines, so make a new key: fullbore gost keygen -o FILE";
        self.failure(what.to_owned(), hint)
    }

    fn failure(&self, what: String, hint: &str) -> Failure {
        Failure {
            message: format!("{}: {what}", self.name),
            hint: hint.to_owned(),
            exit: Exit::NotDone,
        }
    }
}

/// The hint for a file that others can access. It never suggests changing the mode of a device, a directory or another user's
/// file.
fn hint_for_mode(path: &Path, metadata: &Metadata) -> String {
    let is_ours = metadata.uid() == rustix::process::geteuid().as_raw();
    match path.to_str() {
        Some(name) if metadata.is_file() && is_ours && !name.contains(char::is_control) => {
            let name = shell_words::quote(name);
            format!("chmod 600 {name}; if others may have read it, make a new key")
        }
        _ if metadata.is_file() && is_ours => {
            "set its mode to 600; if others may have read it, make a new key".to_owned()
        }
        _ => {
            "keep the key in a file of your own: fullbore gost keygen -o FILE makes one".to_owned()
        }
    }
}

/// Removes the line end.
fn line(text: &[u8]) -> &[u8] {
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    text.strip_suffix(b"\r").unwrap_or(text)
}

/// The key in the bytes of a file.
fn parse(text: &[u8]) -> Option<Key> {
    let mut bytes = Zeroizing::new([0; Key::BYTES]);
    // 32 random bytes are practically never all digits; 32 digits are half of a key in digits.
    if text.len() == Key::BYTES && !text.iter().all(u8::is_ascii_hexdigit) {
        bytes.copy_from_slice(text);
    } else {
        let digits = line(text);
        if digits.len() != DIGITS {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.as_chunks::<2>().0) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
    }
    let mut key = Key::new([0; Key::BYTES]);
    key.bytes_mut().copy_from_slice(&*bytes);
    bytes.zeroize();
    Some(key)
}

fn digit(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8; 64] = b"000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

    #[test]
    fn a_key_is_digits_with_or_without_a_line_end_or_bytes() {
        let bytes: Vec<u8> = (0..32).collect();
        let with =
            |end: &[u8]| parse(&[TEXT.as_slice(), end].concat()).map(|key| key.bytes().to_vec());
        for end in [b"".as_slice(), b"\n", b"\r\n"] {
            assert_eq!(with(end), Some(bytes.clone()));
        }
        assert_eq!(parse(&bytes).map(|key| key.bytes().to_vec()), Some(bytes));
    }

    #[test]
    fn nothing_else_is_a_key() {
        for text in [
            b"".as_slice(),
            &TEXT[..63],
            &[TEXT.as_slice(), b"0"].concat(),
            &[TEXT.as_slice(), b"\n\n"].concat(),
            &[b" ".as_slice(), &TEXT[1..]].concat(),
            &[b"+".as_slice(), &TEXT[1..]].concat(),
            &TEXT[..32],
            &[&TEXT[..32], b"\n"].concat(),
            &[0; 31],
            &[0; 33],
        ] {
            assert!(parse(text).is_none(), "{text:?}");
        }
    }
}
