//! `sort`, `uniq`, `head` and `tail`: commands that merge with themselves.

use super::reason::differ;
use crate::answer::{Dealt, Merge, Rule};
use crate::call::Call;

/// `sort -m` with the same keys merges the outputs.
pub(super) fn sort(rule: &mut Rule, call: &Call) {
    let random = call.parsed.values(&["--sort"]).iter().any(|order| "random".starts_with(order));
    let keys = call.parsed.values(&["-k"]);
    let obsolete = call.parsed.operands.iter().any(|word| word.starts_with('+'));
    // The letters of a key say how it is compared; R is at random.
    if random || keys.iter().any(|key| key.contains('R')) {
        return differ(rule, "every block has an order of its own");
    }
    if obsolete {
        rule.dealt = Dealt::Unknown;
    } else if let Dealt::Merge(Merge::Sort(words)) = &mut rule.dealt {
        words.insert(1, "-m".to_owned());
    }
}

/// The counts of `uniq -c` can only be added where the printed lines tell which neighbours are equal.
pub(super) fn uniq(rule: &mut Rule, call: &Call) {
    let parsed = call.parsed;
    if parsed.operands.len() > 1 {
        return differ(rule, "every block overwrites the file");
    }
    let selective = parsed.options.iter().any(|(name, _)| name != "-c");
    if parsed.has("-c") && selective {
        differ(
            rule,
            "the counts of two blocks cannot be added when lines that differ count as equal",
        );
    }
}

/// `head` and `tail`: only numbers counted from the same end merge.
pub(super) fn head(rule: &mut Rule, call: &Call) {
    let head = matches!(rule.dealt, Dealt::Merge(Merge::Head(_)));
    if call.parsed.operands.iter().any(|word| word.starts_with('+')) {
        return differ(rule, "counts from the beginning of its block");
    }
    for value in call.parsed.values(&["-n", "-c", "-#"]) {
        let (from_start, from_end) = (value.starts_with('+'), value.starts_with('-'));
        if head && from_end {
            return differ(rule, "counts from the end of its block");
        }
        if !head && from_start {
            return differ(rule, "counts from the beginning of its block");
        }
        let number = value.trim_start_matches(['+', '-']);
        let suffix = number.trim_start_matches(|c: char| c.is_ascii_digit());
        if suffix.len() == number.len() || !suffix.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            rule.dealt = Dealt::Unknown;
        }
    }
}
