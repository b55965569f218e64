//! What both pages have.

use fullbore_measure::seconds;
use maud::{Markup, html};

pub(super) const STYLE: &str = include_str!("flame.css");
pub(super) const SCRIPT: &str = include_str!("flame.js");

/// A time in nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a time is positive and far below 2^63 ns"
)]
pub(super) fn time(ns: f64) -> String {
    seconds(ns.max(0.0).round() as u64)
}

/// What stands above the drawing: a field to search in, and what is found.
pub(super) fn tools(hint: &str) -> Markup {
    html! {
        form.tools role="search" {
            label { "Search " input #search type="search" placeholder="part of a name" autocomplete="off"; }
            button #reset type="button" { "Whole run" }
            output #found {}
        }
        p.caption { (hint) }
    }
}

/// What stands below it: the function that was chosen, and its callers.
pub(super) fn chosen() -> Markup {
    html! {
        section #chosen hidden {
            h2 { "The chosen function" }
            p #about {}
            pre.command { code #stack {} }
        }
    }
}

/// The script draws; without it, there are the tables.
pub(super) fn without_script() -> Markup {
    html! { noscript { p { "The drawing needs JavaScript. The tables below have the longest times." } } }
}
