//! The page about two records.

use fullbore_lab::disk::compare::{Difference, DiskComparison, Pair, Verdict};
use fullbore_lab::disk::record::{DiskRun, WorkloadRun};
use maud::{Markup, html};

use super::page::{STYLE, id};
use super::tail;
use crate::disk::cells;
use crate::html::document::{Document, scrolled};
use crate::visible;

/// The page for a comparison.
pub(super) fn page(comparison: &DiskComparison, before: &DiskRun, after: &DiskRun) -> Markup {
    let names =
        format!("{} → {}", visible::line(&comparison.before), visible::line(&comparison.after));
    let body = html! {
        main.lab {
            header {
                p.brand { strong { "fullbore" } " lab compare" }
                pre.run { code { (names) } }
            }
            (verdict(comparison))
            (differences(comparison))
            section id="numbers" { (table(comparison)) }
            @for pair in &comparison.workloads { (article(comparison, pair, before, after)) }
            footer {
                p { "A ratio is after ÷ before, with the interval that holds for all workloads of that number at once in 95 of 100 comparisons: resampled blocks of the time logs, and what the passes differ by. ▲ better and ▼ worse: the whole interval lies on one side of 1. = same: it lies within 5 % of 1. The two records are embedded in this page as JSON (" code { "#fullbore-disk" } ")." }
            }
        }
    };
    let title = format!("{} – fullbore lab compare", visible::cut(&names, 60));
    Document { title: &title, style: STYLE, script: "", id: "fullbore-disk" }
        .around(&body, &(comparison, before, after))
}

fn verdict(comparison: &DiskComparison) -> Markup {
    let (better, worse) = (comparison.count(Verdict::Better), comparison.count(Verdict::Worse));
    let kind = match (better, worse) {
        (0, 0) => "No certain change",
        (_, 0) => "Better",
        (0, _) => "Worse",
        _ => "Better and worse",
    };
    html! {
        section.verdict {
            p.kind { (kind) }
            h1 { (cells::tally(comparison)) }
            @for note in &comparison.notes { p.note { (visible::line(note)) "." } }
        }
    }
}

fn differences(comparison: &DiskComparison) -> Markup {
    let obstacles = comparison.workloads.iter().filter(|pair| !pair.obstacles.is_empty());
    let remarks = comparison.workloads.iter().filter(|pair| !pair.remarks.is_empty());
    let is_empty = comparison.differences.is_empty()
        && comparison.unmatched.is_empty()
        && comparison
            .workloads
            .iter()
            .all(|pair| pair.obstacles.is_empty() && pair.remarks.is_empty());
    html! {
        section id="differences" {
            h2 { "What differs beside the numbers" }
            @if is_empty { p.about { "Nothing that the records know of." } }
            ul {
                @for pair in obstacles { li.failed { "Not comparable: " (visible::line(&pair.title)) ": " (list(&pair.obstacles)) } }
                @for difference in &comparison.differences { li { (cells::difference(difference)) } }
                @for pair in remarks { li { (visible::line(&pair.title)) ": " (list(&pair.remarks)) } }
                @for line in &comparison.unmatched { li { "Not compared: " (visible::line(line)) } }
            }
        }
    }
}

fn list(differences: &[Difference]) -> String {
    differences.iter().map(cells::difference).collect::<Vec<_>>().join("; ")
}

fn table(comparison: &DiskComparison) -> Markup {
    let content = html! {
        thead { tr {
            th.text scope="col" { "" }
            th scope="col" { (visible::line(&comparison.before)) }
            th scope="col" { (visible::line(&comparison.after)) }
            th.text scope="col" { "ratio [interval]" }
            th.text scope="col" { "" }
        } }
        @for pair in &comparison.workloads {
            tbody {
                tr.point { th.text colspan="5" scope="rowgroup" { a href={ "#" (id(&pair.name)) } { (visible::line(&pair.title)) } } }
                @for row in cells::changes(pair) {
                    tr class=(class(row.verdict)) {
                        th.text scope="row" { (row.what) }
                        td { (row.before) } td { (row.after) } td.text { (row.ratio) } td.text.told { (cells::word(row.verdict)) }
                    }
                }
            }
        }
    };
    scrolled("Before and after", &content)
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same | Verdict::CannotTell | Verdict::NotComparable => "quiet",
    }
}

fn article(comparison: &DiskComparison, pair: &Pair, before: &DiskRun, after: &DiskRun) -> Markup {
    let of = |run: &DiskRun| -> Option<WorkloadRun> {
        let named = run.workloads.iter().find(|workload| workload.name == pair.name);
        named
            .or_else(|| run.workloads.iter().find(|workload| workload.title == pair.title))
            .cloned()
    };
    let (Some(old), Some(new)) = (of(before), of(after)) else {
        return html! {};
    };
    let names = [visible::line(&comparison.before), visible::line(&comparison.after)];
    html! {
        article id=(id(&pair.name)) {
            h2 { (visible::line(&pair.title)) }
            @for direction in &old.directions() {
                ul.legend {
                    @for (look, name) in names.iter().enumerate() {
                        li { svg width="26" height="12" aria-hidden="true" { path class={ "line k" (look) } d="M0 6H26" {} } (name) " " (visible::line(direction)) }
                    }
                }
                figure.chart {
                    (tail::chart(&visible::line(&pair.title), &[
                        tail::Series { name: &names[0], bins: old.bins(direction) },
                        tail::Series { name: &names[1], bins: new.bins(direction) },
                    ]))
                }
            }
            @for (name, workload) in names.iter().zip([&old, &new]) {
                @if !workload.command.is_empty() { p.caption { (name) } pre.command { code { (visible::line(&workload.command)) } } }
            }
        }
    }
}
