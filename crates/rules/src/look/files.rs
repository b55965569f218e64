//! `cat`, `tee`, `date`: what they do with files.

use super::reason::{advise, differ};
use crate::answer::{Dealt, Ends, Rule};
use crate::call::Call;

/// `cat` without options can be cut anywhere; with options it is a function of lines.
pub(super) fn cat(rule: &mut Rule, call: &Call) {
    if call.parsed.options.iter().any(|(name, _)| name != "-u") {
        rule.input = Ends::Lines;
    }
}

/// `tee` with a file writes it once per block.
pub(super) fn tee(rule: &mut Rule, call: &Call) {
    if let Some(file) = call.parsed.operands.first() {
        advise(
            rule,
            &format!("every block overwrites the file {file}"),
            "put tee after the dealing out",
        );
    }
}

/// `date -f -` reads dates; without it, `date` does not read its input.
pub(super) fn date(rule: &mut Rule, call: &Call) {
    match call.parsed.value("-f") {
        Some("-") if call.parsed.operands.iter().all(|word| word.starts_with('+')) => {}
        Some("-") => rule.dealt = Dealt::Unknown,
        _ => differ(rule, "does not read its input"),
    }
}
