//! Paths among the arguments.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use anyhow::Result;
use fullbore_codec::json::query::{Duplicates, Path, Rows, SyntaxError};

use crate::messages::caret::Mistake;

/// Tells whether an argument is a path into a record: `.a` and `$` are, `./a` and `..` are files.
pub(crate) fn is_path(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    let is_file = bytes.starts_with(b"./") || bytes.starts_with(b"../") || bytes == b"..";
    !is_file && matches!(bytes.first(), Some(b'.' | b'$'))
}

/// Divides arguments into paths and files.
///
/// # Errors
/// If a path has a mistake: where.
pub(crate) fn divided(name: &str, words: &[OsString]) -> Result<(Vec<Path>, Vec<PathBuf>)> {
    let (mut paths, mut files) = (Vec::new(), Vec::new());
    for word in words {
        if is_path(word) {
            paths.push(path(name, &word.to_string_lossy())?);
        } else {
            files.push(PathBuf::from(word));
        }
    }
    Ok((paths, files))
}

/// Reads a path.
///
/// # Errors
/// If it has a mistake: where.
pub(crate) fn path(name: &str, text: &str) -> Result<Path> {
    Path::parse(text).map_err(|error| mistake(name, text, &error, "").into())
}

/// The message for a mistake in a path or expression.
pub(crate) fn mistake(name: &str, text: &str, error: &SyntaxError, hint: &str) -> Mistake {
    Mistake {
        message: format!("{name}: {error}"),
        text: text.to_owned(),
        at: error.at,
        hint: hint.to_owned(),
    }
}

/// Prepares the search for the values of paths.
///
/// # Errors
/// If two paths go through different arrays.
pub(crate) fn rows(name: &str, paths: &[Path], duplicates: Duplicates) -> Result<Rows> {
    let prepared = Rows::new(paths, duplicates);
    let prepared = prepared.map_err(|two| {
        let texts: Vec<String> = paths.iter().map(Path::to_string).collect();
        let before: usize = texts[..two.second].iter().map(|text| text.len() + 1).sum();
        Mistake {
            message: format!(
                "{name}: {} and {} go through two different arrays",
                texts[two.first], texts[two.second]
            ),
            text: texts.join(" "),
            at: before,
            hint:
                "all paths with [] must be the same up to the last []; use one call for each array"
                    .to_owned(),
        }
    });
    Ok(prepared?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_begin_with_a_dot_or_a_dollar_and_files_with_something_else() {
        for path in [".", ".a", "$", "$.a", ".[0]", ".\"/\"", "..a"] {
            assert!(is_path(path.as_ref()), "{path}");
        }
        for file in ["./.a", "../x", "..", "a.json", "-", "/.a", ""] {
            assert!(!is_path(file.as_ref()), "{file}");
        }
    }
}
