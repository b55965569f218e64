//! What changes would bring, as a table.

use fullbore_measure::seconds;
use fullbore_record::{PredictionRecord, RunRecord};
use maud::{Markup, html};

use super::document::scrolled;
use crate::{outlook, visible};

/// Rows at most: the best changes.
const ROWS: usize = 8;

/// The best changes, how long the run would take with each, and what would limit it then.
pub(super) fn predictions(record: &RunRecord) -> Markup {
    let Some(what_if) = outlook::trusted(record) else { return html! {} };
    let shown: Vec<&PredictionRecord> = outlook::worth_a_word(record, what_if).take(ROWS).collect();
    if shown.is_empty() {
        return html! {};
    }
    let title = "What a change would bring";
    html! {
        section {
            h2 { (title) }
            (scrolled(title, &html! {
                thead { tr {
                    th.text scope="col" { "change" }
                    th scope="col" { "predicted time" }
                    th scope="col" { "times as fast" }
                    th.text scope="col" { "then the limit is" }
                } }
                tbody {
                    tr {
                        th.text scope="row" { "as it was" }
                        td { (seconds(record.elapsed_ns)) }
                        td { "1.00" }
                        td.text { (visible::line(&what_if.limit.text)) }
                    }
                    @for one in shown { (row(record, one)) }
                }
            }))
            p.caption {
                "Predicted by replaying this run, one change at a time; not measured. "
                "Of predictions that were checked, half were off by less than 5 % and one in twenty by more than 15 %; "
                "expect more where a program does other work when its input or its neighbours change. "
                code { "fullbore what-if" } " shows all changes, and any other factor for a stage."
            }
        }
    }
}

fn row(record: &RunRecord, one: &PredictionRecord) -> Markup {
    let times = record.elapsed_ns as f64 / one.elapsed_ns.max(1) as f64;
    let times = if times < 100.0 { format!("{times:.2}") } else { "more than 100".to_owned() };
    html! {
        tr {
            th.text scope="row" { (visible::line(&one.text)) }
            td { (seconds(one.elapsed_ns)) }
            td { (times) }
            td.text { (visible::line(&one.limit.text)) }
        }
    }
}
