//! Reads what the table cannot say: scripts, sets of characters, and options that change each other.

mod awk;
mod files;
mod grep;
mod jq;
mod perl;
mod reason;
mod sed;
mod sorted;
mod text;
mod tr;
mod xargs;

use crate::answer::Rule;
use crate::call::Call;
use crate::table::Look;

/// Corrects the rule that the table alone gives.
pub(crate) fn look(look: Look, rule: &mut Rule, call: &Call) {
    let read = match look {
        Look::Awk => awk::look,
        Look::Cat => files::cat,
        Look::Cut => text::cut,
        Look::Date => files::date,
        Look::Grep => grep::grep,
        Look::Head => sorted::head,
        Look::Iconv => text::iconv,
        Look::Jq => jq::look,
        Look::Numfmt => text::numfmt,
        Look::Perl => perl::look,
        Look::Rg => grep::rg,
        Look::Sed => sed::look,
        Look::Sort => sorted::sort,
        Look::Tee => files::tee,
        Look::Tr => tr::look,
        Look::Uniq => sorted::uniq,
        Look::Wc => text::wc,
        Look::Xargs => xargs::look,
    };
    read(rule, call);
}
