//! Names stages after the line the user wrote: `while read l; do …; done` says more than `sh -c …`.
//!
//! This is not a shell: it finds where pipelines and stages begin and end. It gives up (`None`) on anything it does not
//! know for certain, because a wrong name is worse than none.

#![forbid(unsafe_code)]

mod functions;
mod line;
mod scanner;
mod silent;
mod words;

pub use functions::without_functions;
use std::ops::Range;

use line::Line;

pub use silent::prints_nothing;

/// Splits a shell line into its top-level pipelines, and each of them into the source texts of its stages.
///
/// Quotes, expansions, comments, here-documents, redirections, subshells and compound commands stay whole: a bar inside
/// them does not split. Returns `None` when anything is unbalanced, unfinished or unusual (function definitions,
/// `coproc`); an empty line has no pipelines.
///
/// ```
/// use fullbore_shell::segments;
/// let found = segments("zcat a.gz | grep 'x|y' && echo done").unwrap();
/// assert_eq!(found, [vec!["zcat a.gz", "grep 'x|y'"], vec!["echo done"]]);
/// ```
#[must_use]
pub fn segments(line: &str) -> Option<Vec<Vec<String>>> {
    let mut line = Line::new(line);
    let found = line.pipelines()?;
    Some(found.iter().map(|stages| stages.iter().map(|stage| line.part(stage)).collect()).collect())
}

/// The same as places in the line: ranges of bytes.
///
/// ```
/// use fullbore_shell::places;
/// assert_eq!(places("zcat a.gz | grep x; echo").unwrap(), [vec![0..9, 12..18], vec![20..24]]);
/// ```
#[must_use]
pub fn places(line: &str) -> Option<Vec<Vec<Range<usize>>>> {
    let found = Line::new(line).pipelines()?;
    let mut bytes: Vec<usize> = line.char_indices().map(|(at, _)| at).collect();
    bytes.push(line.len());
    let in_bytes = |stage: &Range<usize>| bytes[stage.start]..bytes[stage.end];
    Some(found.iter().map(|stages| stages.iter().map(in_bytes).collect()).collect())
}

/// Where the command word of a simple command begins, behind its assignments, and the word; `None` if it is not plain, and
/// if the command begins with a redirection.
///
/// ```
/// use fullbore_shell::command_word;
/// assert_eq!(command_word("LC_ALL=C A=\"$(x)\" sort -u"), Some((18, "sort".to_owned())));
/// assert_eq!(command_word("\"$sort\" -u"), None);
/// ```
#[must_use]
pub fn command_word(stage: &str) -> Option<(usize, String)> {
    let mut line = Line::new(stage);
    loop {
        line.skip_blanks();
        let start = line.at;
        let word = line.word()?;
        if !line.is_assignment(start) {
            let at = stage.char_indices().nth(start).map_or(stage.len(), |(at, _)| at);
            // A descriptor before a redirection is no command.
            let is_command = !matches!(line.peek(0), Some('<' | '>' | '('));
            return word.filter(|_| is_command).map(|word| (at, word));
        }
    }
}

/// The names of shells that people run: those of Debian's packages, and `ksh93`.
const SHELLS: [&str; 11] =
    ["ash", "bash", "busybox", "dash", "fish", "ksh", "ksh93", "mksh", "sh", "yash", "zsh"];

/// Tells whether a word of a command line names a shell, with or without its folder and the `-` of a login shell.
///
/// ```
/// assert!(fullbore_shell::is_shell("/bin/bash") && fullbore_shell::is_shell("-zsh"));
/// assert!(!fullbore_shell::is_shell("fishing"));
/// ```
#[must_use]
pub fn is_shell(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    SHELLS.contains(&name.trim_start_matches('-'))
}

/// Shortens `text` to one line of at most `max_chars` characters: runs of white space and control characters become one
/// space, and `…` replaces what does not fit.
///
/// ```
/// assert_eq!(fullbore_shell::shorten("jq  .id\n  big.json", 10), "jq .id bi…");
/// ```
#[must_use]
pub fn shorten(text: &str, max_chars: usize) -> String {
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    let whole = words.join(" ");
    if whole.chars().count() <= max_chars {
        return whole;
    }
    let Some(kept_chars) = max_chars.checked_sub(1) else {
        return String::new();
    };
    let kept: String = whole.chars().take(kept_chars).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_text_stays_and_a_long_one_ends_in_an_ellipsis() {
        assert_eq!(shorten(" a\t b \n c ", 9), "a b c");
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdefg", 6), "abcde…");
        assert_eq!(shorten("ab cdef", 4), "ab…");
        assert_eq!(shorten("ab", 0), "");
        assert_eq!(shorten("äöüß", 3), "äö…");
    }
}
