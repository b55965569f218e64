//! Says why a command differs.

use crate::answer::{Dealt, Rule};

/// Sets the reason why the command differs.
pub(super) fn differ(rule: &mut Rule, why: &str) {
    rule.dealt = Dealt::differs(why, None);
}

/// Sets the reason, and what to do instead.
pub(super) fn advise(rule: &mut Rule, why: &str, instead: &str) {
    rule.dealt = Dealt::differs(why, Some(instead));
}
