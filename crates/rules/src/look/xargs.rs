//! `xargs`: only one item per command is independent of where the input is cut.

use super::reason::differ;
use crate::answer::{Dealt, Ends, Rule};
use crate::call::Call;

pub(super) fn look(rule: &mut Rule, call: &Call) {
    let parsed = call.parsed;
    let single = parsed.has("-I") && !parsed.has("-n")
        || parsed.has("-r") && !parsed.has("-I") && parsed.value("-n") == Some("1");
    if !single {
        return differ(
            rule,
            "every block makes command lines of its own (but not with -I, nor with -r -n 1)",
        );
    }
    rule.output = Ends::Bytes;
    match (parsed.has("-0"), parsed.value("-d")) {
        (true, None) => rule.input = Ends::Zeros,
        (false, Some("\\n" | "\n")) => {}
        (false, None) => rule.need("no quotes and no backslashes"),
        _ => rule.dealt = Dealt::Unknown,
    }
    rule.need("no line longer than 60 KB; the command may run several times at once");
}
