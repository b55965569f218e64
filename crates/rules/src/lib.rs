//! Knows which commands give the same output when their input is dealt out to several copies of them.
//!
//! Dealing out cuts the input into blocks of whole records and runs the command once per block. That equals one run only
//! for commands that treat every record alike (`cut -f1`), or whose outputs can be merged (`wc -l`). `rules.toml` says it
//! for each command and option; the modules of `look` read the scripts of `sed`, `awk`, `jq` and others. A wrong
//! "yes" would corrupt data without a word, so whatever is not understood is [`Dealt::Unknown`]. Nothing is ever run.

#![forbid(unsafe_code)]

mod answer;
mod apply;
mod call;
mod line;
mod look;
mod options;
mod table;
mod wrap;

use std::ffi::OsStr;

pub use answer::{Check, Dealt, Ends, Merge, Rule, Status};

/// Says what happens to the output of a command when its input is dealt out. `words` are its arguments, the name first;
/// the name may have a folder.
///
/// ```
/// use fullbore_rules::{Dealt, Merge, rule};
/// assert_eq!(rule(&["cut", "-d,", "-f", "2"]).dealt, Dealt::Records);
/// assert_eq!(rule(&["/usr/bin/wc", "--lines"]).dealt, Dealt::Merge(Merge::Sum));
/// let Dealt::Differs { why, .. } = rule(&["awk", "{ s += $1 } END { print s }"]).dealt else { panic!() };
/// assert_eq!(why, "END runs once per block");
/// assert_eq!(rule(&["frobnicate"]).dealt, Dealt::Unknown);
/// ```
#[must_use]
pub fn rule(words: &[impl AsRef<OsStr>]) -> Rule {
    let texts: Option<Vec<String>> =
        words.iter().map(|word| word.as_ref().to_str().map(str::to_owned)).collect();
    texts.map_or_else(Rule::unknown, |texts| wrap::rule(&texts))
}

/// Says the same of a small pipeline, given as text for a shell.
///
/// Every stage must treat records alike; the last one may need a merge. Text that a shell would expand, redirect or
/// group is [`Dealt::Unknown`], except inside quotes that keep it as it is.
///
/// ```
/// use fullbore_rules::{Dealt, Merge, rule_of_line};
/// assert_eq!(rule_of_line("grep -v '^#' | cut -f1").dealt, Dealt::Records);
/// assert_eq!(rule_of_line("tr A-Z a-z | wc -l").dealt, Dealt::Merge(Merge::Sum));
/// assert_eq!(rule_of_line("grep $pattern").dealt, Dealt::Unknown);
/// ```
#[must_use]
pub fn rule_of_line(text: &str) -> Rule {
    line::rule(text, wrap::rule)
}

/// The words of a command given as text, if a shell would pass them on as they are; assignments become words of `env`.
///
/// ```
/// assert_eq!(fullbore_rules::plain_words("sort -t ' ' -k2").unwrap(), ["sort", "-t", " ", "-k2"]);
/// assert_eq!(fullbore_rules::plain_words("LC_ALL=C sort").unwrap(), ["env", "LC_ALL=C", "sort"]);
/// assert_eq!(fullbore_rules::plain_words("sort *.txt"), None);
/// ```
#[must_use]
pub fn plain_words(command: &str) -> Option<Vec<String>> {
    line::plain_words(command)
}

/// Whether a command moves so many bytes a second that dealing it out gains nothing: cat, head, tee.
#[must_use]
pub fn is_light(name: &str) -> bool {
    table::table().row(name).is_some_and(|row| row.light)
}

/// Whether no arguments make a command one that can be dealt out: echo, tee.
#[must_use]
pub fn always_differs(name: &str) -> bool {
    table::table().row(name).is_some_and(|row| row.always.is_some())
}

/// The names of all commands in the table, sorted.
///
/// ```
/// assert!(fullbore_rules::commands().contains(&"grep"));
/// ```
#[must_use]
pub fn commands() -> Vec<&'static str> {
    table::table().names()
}
