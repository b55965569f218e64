//! Two runs of a workflow beside each other.

use fullbore_gather::{ChangedRule, Comparison};
use fullbore_measure::seconds;
use maud::{Markup, html};

use super::grid::table;
use super::notes::counted;
use crate::html::document::wide_table;
use crate::text::Style;
use crate::text::wrap::wrap;
use crate::visible;

/// Names of rules that are listed.
const NAMES: usize = 6;

/// Adds a table of the rules that changed.
pub(super) fn lines(against: &Comparison, top: usize, style: Style, lines: &mut Vec<String>) {
    let shown: Vec<&ChangedRule> = against.rules.iter().take(top).collect();
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|rule| {
            vec![
                visible::line(&rule.name),
                seconds(rule.time_before_ns),
                seconds(rule.time_after_ns),
                times(rule),
            ]
        })
        .collect();
    table(&["rule", "before", "now", "a job takes"], &rows, style, lines);
    for rule in shown.iter().filter(|rule| rule.is_certain) {
        let text = format!("{}: {}", visible::line(&rule.name), visible::line(&rule.message));
        lines.extend(wrap(&text, style.columns(), "  ", "    "));
    }
    for text in others(against) {
        lines.extend(wrap(&text, style.columns(), "  ", "    "));
    }
}

/// How many times as long; in brackets when that may be chance.
fn times(rule: &ChangedRule) -> String {
    match rule.times {
        None => "?".to_owned(),
        Some(times) if rule.is_certain => format!("{times:.2} ×"),
        Some(times) => format!("({times:.2} ×)"),
    }
}

/// Rules that only one of the runs has.
fn others(against: &Comparison) -> Vec<String> {
    let named = |names: &[String], what: &str| {
        let mut shown: Vec<String> =
            names.iter().take(NAMES).map(|name| visible::line(name)).collect();
        if names.len() > NAMES {
            shown.push("…".to_owned());
        }
        let count = counted(names.len() as u64, "rule");
        (!names.is_empty()).then(|| format!("{count} only {what}: {}", shown.join(", ")))
    };
    [named(&against.gone, "before"), named(&against.new, "now")].into_iter().flatten().collect()
}

/// The same for a page.
pub(super) fn section(against: &Comparison) -> Markup {
    let heads = ["jobs before", "jobs now", "before", "now", "a job takes"];
    let table = wide_table(
        "Compared with the run before",
        &html! {
            thead { tr {
                th.text scope="col" { "rule" }
                @for head in heads { th scope="col" { (head) } }
                th.text scope="col" { "what became of it" }
            } }
            tbody {
                @for rule in &against.rules {
                    tr.hot[rule.is_certain] {
                        th.text scope="row" { code title=(visible::line(&rule.name)) { (visible::line(&rule.name)) } }
                        td { (rule.jobs_before) }
                        td { (rule.jobs_after) }
                        td { (seconds(rule.time_before_ns)) }
                        td { (seconds(rule.time_after_ns)) }
                        td { (times(rule)) }
                        td.text.prose { (super::notes::sentence(&rule.message)) }
                    }
                }
            }
        },
    );
    html! {
        (table)
        @for text in others(against) { p.caption { (text) } }
    }
}
