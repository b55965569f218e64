//! The words of a shell, as far as it takes to know which of them is the line.
//!
//! The shell gets its words unchanged, so a mistake here would only leave a job without a record, or give the record another
//! text. What is not understood is left to the shell alone.

use std::ffi::{OsStr, OsString};

/// What a shell is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// To execute a line, which is this word.
    Line(usize),
    /// To execute the file that this word names.
    Script,
    /// To read from a terminal or standard input, or something that is not understood.
    Other,
}

/// Options of one letter of sh(1), dash(1), bash(1), zsh(1), ksh(1) and mksh(1) that change how a line is executed. Not
/// `i`, `s`, `m`: with these, a shell reads from elsewhere or works with the terminal.
const LETTERS: &str = "abefhklnprtuvxBCEHPTVX";

/// Long options of bash(1) without a value. Others (--help, --version, --dump-strings) execute nothing.
const LONG: [&str; 7] =
    ["--login", "--noediting", "--noprofile", "--norc", "--posix", "--restricted", "--verbose"];

/// Long options of bash(1) with a value.
const LONG_WITH_VALUE: [&str; 2] = ["--init-file", "--rcfile"];

/// What these words, without the name of the shell, ask it to do.
pub(super) fn asked(words: &[OsString]) -> Asked {
    let (mut at, mut has_line) = (0, false);
    while let Some(word) = words.get(at) {
        let Some(word) = word.to_str() else { break };
        at += 1;
        if word == "-" || word == "--" {
            return first(at, words, has_line);
        }
        if LONG.contains(&word) {
            continue;
        }
        if LONG_WITH_VALUE.contains(&word) {
            at += 1;
            continue;
        }
        let Some(letters) = word.strip_prefix(['-', '+']) else {
            return first(at - 1, words, has_line);
        };
        if letters.is_empty() {
            return Asked::Other;
        }
        for letter in letters.chars() {
            match letter {
                'c' => has_line = true,
                // The name of an option follows.
                'o' | 'O' => at += 1,
                _ if LETTERS.contains(letter) => {}
                _ => return Asked::Other,
            }
        }
    }
    first(at, words, has_line)
}

/// The first word that is no option is the line, or else a file.
fn first(at: usize, words: &[OsString], has_line: bool) -> Asked {
    match words.get(at).map(OsString::as_os_str) {
        Some(_) if has_line => Asked::Line(at),
        Some(word) if word != OsStr::new("") => Asked::Script,
        _ => Asked::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_by(line: &str) -> Asked {
        let words = shell_words::split(line).unwrap();
        asked(&words.into_iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn the_line_is_found_behind_all_options() {
        for (line, place) in [
            ("-c LINE", 1),
            ("-c LINE name -x", 1),
            ("-ec LINE", 1),
            ("-ce LINE", 1),
            ("-c -e LINE", 2),
            ("-e -u -x -c LINE", 4),
            ("-euo pipefail -c LINE", 3),
            ("-euo pipefail -c -- LINE", 4),
            ("-o errexit -o pipefail -c LINE", 5),
            ("-ceo pipefail LINE", 2),
            ("-oc errexit LINE", 2),
            ("-eoo nounset pipefail -c LINE", 4),
            ("+x -c LINE", 2),
            ("+eo pipefail -c LINE", 3),
            ("-O extglob -c LINE", 3),
            ("--norc --noprofile --posix -c LINE", 4),
            ("--rcfile file -c LINE", 3),
            ("-lc LINE", 1),
            ("-c - LINE", 2),
            ("-c ''", 1),
        ] {
            assert_eq!(asked_by(line), Asked::Line(place), "{line}");
        }
    }

    #[test]
    fn a_script_is_told_from_a_line() {
        for line in ["job.sh", "-eu job.sh", "-euo pipefail job.sh -c x", "-- -c", "- -c"] {
            assert_eq!(asked_by(line), Asked::Script, "{line}");
        }
    }

    #[test]
    fn what_reads_from_elsewhere_or_is_not_understood_is_left_to_the_shell() {
        for line in [
            "",
            "-c",
            "-i",
            "-ic LINE",
            "-s",
            "-sc LINE",
            "-mc LINE",
            "-o",
            "-c -o x",
            "--help",
            "--version",
            "--frobnicate -c LINE",
            "-Zc LINE",
            "-e",
            "+",
            "''",
            "-o pipefail",
        ] {
            assert_eq!(asked_by(line), Asked::Other, "{line}");
        }
    }
}
