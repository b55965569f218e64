//! `grep` and `rg`: options that change each other.

use super::reason::differ;
use crate::answer::{Dealt, Ends, Merge, Rule};
use crate::call::Call;

pub(super) fn grep(rule: &mut Rule, call: &Call) {
    let parsed = call.parsed;
    if parsed.values(&["--binary-files"]).last() == Some(&"text") {
        rule.needs = None;
    }
    if parsed.has("-H") && parsed.has("-c") {
        rule.dealt = Dealt::Unknown;
    }
    patterns(rule, call);
    limited(rule, call);
    rule.is_light = seeks_plain_text(call);
}

pub(super) fn rg(rule: &mut Rule, call: &Call) {
    let parsed = call.parsed;
    if parsed.has("--passthru")
        && parsed.options.iter().any(|(name, _)| LIMITS.contains(&name.as_str()))
    {
        rule.dealt = Dealt::Unknown;
    }
    patterns(rule, call);
    limited(rule, call);
}

/// Whether it looks for one piece of ASCII text in each line and passes on the lines: that takes no regular expression.
fn seeks_plain_text(call: &Call) -> bool {
    const OPTIONS: [&str; 8] = ["-F", "-v", "-c", "-a", "-e", "-q", "-E", "-G"];
    let options = &call.parsed.options;
    let mut given = call.parsed.values(&["-e"]);
    if given.is_empty() {
        given.extend(call.parsed.operands.first().map(String::as_str));
    }
    let is_plain = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" _-,:;/=<>@%&#!\"'~".contains(&byte))
    };
    matches!(given[..], [pattern] if !pattern.is_empty() && is_plain(pattern))
        && options.iter().all(|(name, _)| OPTIONS.contains(&name.as_str()))
}

/// Options that count or stop.
const LIMITS: [&str; 6] = ["-c", "--count-matches", "-l", "-m", "-q", "-o"];

/// Patterns that are read from standard input leave nothing to search.
fn patterns(rule: &mut Rule, call: &Call) {
    if call.parsed.values(&["-f"]).contains(&"-") {
        differ(rule, "reads its patterns from its input");
    }
    if call.parsed.operands.is_empty() && call.parsed.values(&["-e", "-f"]).is_empty() {
        rule.dealt = Dealt::Unknown;
    }
}

/// `-m` counts lines, but `-o` writes any number of lines for each; and the merge cuts at line ends.
fn limited(rule: &mut Rule, call: &Call) {
    let head = matches!(rule.dealt, Dealt::Merge(Merge::Head(_)));
    if head && call.parsed.has("-m") && (call.parsed.has("-o") || rule.output == Ends::Zeros) {
        differ(rule, "counts the lines of its block");
    }
    if matches!(rule.dealt, Dealt::Merge(_)) {
        rule.output = Ends::Lines;
    }
}
