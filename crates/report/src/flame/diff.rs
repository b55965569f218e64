//! The page about the difference of two profiles.

use fullbore_profile::{Change, Diff};
use maud::{Markup, html};
use serde::Serialize;

use super::parts::{SCRIPT, STYLE, chosen, tools, without_script};
use crate::html::document::{Document, wide_table};
use crate::visible;

/// Functions in the table.
const ROWS: usize = 20;
/// Less than this share of everything is not drawn.
const DRAWN_MIN: f64 = 1e-4;

/// The difference as a page that needs nothing else. `before` and `after` are the names of the two.
#[must_use]
pub fn page(diff: &Diff, before: &str, after: &str) -> String {
    let title = format!("{} → {} – fullbore flame", visible::line(before), visible::line(after));
    let body = html! {
        main.flame {
            header { p.brand { strong { "fullbore" } " flame diff" } }
            h1 { (verdict(diff)) }
            p.rest { code { (visible::line(before)) } " before, " code { (visible::line(after)) } " after" }
            ul.legend {
                li { span.key.f-longer {} "takes longer" }
                li { span.key.f-shorter {} "takes less" }
                li { span.key.f-same {} "the same" }
            }
            (tools("A function is as wide as its time before and after together; the colour says how much of it was gained \
                or lost. Click a function to enlarge it."))
            section #towers aria-label="Flame graph of the difference" {}
            (without_script())
            (chosen())
            (wide_table("The largest changes of a function itself", &table(diff)))
        }
    };
    let document = Document { title: &title, style: STYLE, script: SCRIPT, id: "fullbore-flame" };
    document.around(&body, &Embedded::of(diff)).into_string()
}

/// Times of folded stacks are in microseconds.
fn time(us: f64) -> String {
    super::parts::time(us * 1e3)
}

fn verdict(diff: &Diff) -> String {
    let Change { before, after, .. } = &diff.root;
    let by = diff.root.longer();
    if before.max(*after) <= 0.0 {
        return "Neither has any time in it".to_owned();
    }
    if by == 0.0 && diff.root.largest(1).is_empty() {
        return format!("{} before and after: no function takes longer or shorter", time(*before));
    }
    let how = if by > 0.0 { "more" } else { "less" };
    let percent =
        if *before > 0.0 { format!(" ({:+.1} %)", 100.0 * by / before) } else { String::new() };
    format!("{} before, {} after: {} {how}{percent}", time(*before), time(*after), time(by.abs()))
}

fn table(diff: &Diff) -> Markup {
    html! {
        thead { tr { th { "function" } th.number { "longer by" } } }
        tbody { @for (name, by) in diff.root.largest(ROWS) {
            tr {
                td.name { code { (visible::line(&name)) } }
                td.number { (if by > 0.0 { "+" } else { "−" }) (time(by.abs())) }
            }
        } }
    }
}

#[derive(Serialize)]
struct Embedded<'a> {
    total: f64,
    unit: &'static str,
    towers: Vec<Drawn<'a>>,
}

#[derive(Serialize)]
struct Drawn<'a> {
    title: &'a str,
    start: f64,
    root: Leaf<'a>,
}

#[derive(Serialize)]
struct Leaf<'a> {
    n: &'a str,
    v: f64,
    b: f64,
    a: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    c: Vec<Leaf<'a>>,
}

impl<'a> Embedded<'a> {
    fn of(diff: &'a Diff) -> Self {
        let time = |change: &Change| change.before + change.after;
        let total = diff.root.children.iter().map(time).fold(0.0, f64::max);
        let drawn = |change: &'a Change| Drawn {
            title: &change.name,
            start: 0.0,
            root: Leaf::of(change, total * DRAWN_MIN),
        };
        let mut towers: Vec<Drawn<'a>> = diff.root.children.iter().map(drawn).collect();
        // Stages in their order; what another profiler wrote stays in the order of time.
        let stage = |tower: &Drawn<'_>| tower.title.split_once(' ')?.0.parse::<u32>().ok();
        towers.sort_by_key(|tower| stage(tower).unwrap_or(u32::MAX));
        Self { total, unit: "us", towers }
    }
}

impl<'a> Leaf<'a> {
    fn of(change: &'a Change, least: f64) -> Self {
        let drawn = change.children.iter().filter(|child| child.before + child.after >= least);
        Self {
            n: &change.name,
            v: change.before + change.after,
            b: change.before,
            a: change.after,
            c: drawn.map(|child| Self::of(child, least)).collect(),
        }
    }
}
