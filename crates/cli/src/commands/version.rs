//! `fullbore --version -v`.

use std::io::{Write, stdout};

use anyhow::Result;
use fullbore_pipe::probe;

use super::stage::tier;
use crate::exit::Exit;

/// Prints which kernels and output method this machine supports, if the command line asks for only that.
pub(crate) fn verbose() -> Option<Result<Exit>> {
    let words = std::env::args_os().skip(1);
    let words: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let is = |word: &str, names: &[&str]| names.contains(&word);
    let version = |word: &String| is(word, &["--version", "-V", "-Vv", "-vV"]);
    let loud = |word: &String| is(word, &["--verbose", "-v", "-Vv", "-vV"]);
    let is_asked = words.iter().any(version)
        && words.iter().any(loud)
        && words.iter().all(|word| version(word) || loud(word));
    is_asked.then(print)
}

fn print() -> Result<Exit> {
    let (version, kernels, writer) = (env!("CARGO_PKG_VERSION"), tier()?, probe());
    let text = format!("fullbore {version}\nkernels: {kernels}\nwriter: {writer}\n");
    // A reader that leaves early is no failure.
    let _ = stdout().write_all(text.as_bytes());
    Ok(Exit::Done)
}
