//! Finds programs.

use std::ffi::OsString;

use fullbore_feed::par::{Command, Missing};

/// Finds the program of a command as a shell does.
pub(super) fn find(words: Vec<OsString>) -> Result<Command, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    Command::find(words, &path)
}
