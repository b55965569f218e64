//! One page about a workflow.

use fullbore_gather::{Finding, Workflow};
use fullbore_measure::seconds;
use maud::{Markup, html};

use super::{axis, notes, palette, tables, versus};
use crate::figures::{count, utc};
use crate::html::document::Document;
use crate::html::{headline, patterns};
use crate::visible;

const STYLE: &str = include_str!("workflow.css");

/// With more jobs or rules, the page does not contain the record of each.
const JOBS: usize = 1000;
const RULES: usize = 400;

/// Characters of a command in the record that the page contains.
const COMMAND: usize = 400;

/// The workflow as a page that needs nothing else: no network, no fonts, no other files.
#[must_use]
pub fn page(workflow: &Workflow) -> String {
    let embedded = embedded(workflow);
    let is_whole =
        embedded.jobs.len() == workflow.jobs.len() && embedded.rules.len() == workflow.rules.len();
    let body = html! {
        (patterns())
        (palette::patterns())
        main.workflow {
            header { p.brand {
                strong { "fullbore" } " gather"
                @if let Some(start) = workflow.totals.started_unix_ns { span.soft { " · " (utc(start)) } }
            } }
            (verdict(workflow))
            (key_figures(workflow))
            @if let Some(against) = &workflow.against { (versus::section(against)) }
            section {
                h2 { "Where the time of all jobs went" }
                (palette::bar(&workflow.totals.causes))
                (palette::legend(&workflow.totals.causes))
                p.caption { "Of each job, what the stage did that the job waited for." }
            }
            (axis::section(workflow))
            (findings(workflow))
            (tables::rules(workflow))
            (tables::hosts(workflow))
            (tables::stages(workflow))
            (tables::outliers(workflow))
            (tables::turns_and_waits(workflow))
            (gaps(workflow))
            (footer(workflow, is_whole))
        }
    };
    let title = format!("{} – fullbore", notes::size(workflow));
    let document = Document { title: &title, style: STYLE, script: "", id: "fullbore-workflow" };
    document.around(&body, &embedded).into_string()
}

fn verdict(workflow: &Workflow) -> Markup {
    let size = notes::size(workflow);
    let Some(finding) = workflow.findings.first() else {
        return html! { section.verdict { h1 { (size) } } };
    };
    let message = notes::sentence(&finding.message);
    let (first, rest) = headline(&message);
    html! {
        section.verdict {
            p.kind { (notes::kind(finding.kind)) }
            h1 { (first.trim_end_matches('.')) "." }
            @if !rest.is_empty() { p.rest { (rest) } }
            p.rest { (size) "." }
            @if let Some(against) = &workflow.against { p.rest { (notes::sentence(&against.message)) } }
            (detail(finding))
        }
    }
}

fn detail(finding: &Finding) -> Markup {
    html! { @if !finding.detail.is_empty() { div.advice { p { (notes::sentence(&finding.detail)) } } } }
}

fn key_figures(workflow: &Workflow) -> Markup {
    let totals = &workflow.totals;
    let at_once = if totals.elapsed_ns > 0 {
        format!("{:.1}", totals.job_time_ns as f64 / totals.elapsed_ns as f64)
    } else {
        "?".to_owned()
    };
    let idle = if totals.idle_ns == 0 { "–".to_owned() } else { seconds(totals.idle_ns) };
    let figures = [
        ("Elapsed", seconds(totals.elapsed_ns), "first start to last end"),
        ("Time of all jobs", seconds(totals.job_time_ns), "added up"),
        ("Jobs at once", at_once, "on average"),
        ("Jobs", count(totals.jobs), ""),
        ("Failed", count(totals.failed), ""),
        ("No job ran for", idle, "between first and last"),
    ];
    html! {
        section aria-label="Key figures" {
            dl.figures {
                @for (name, value, note) in figures {
                    div { dt { (name) } dd { b { (value) } @if !note.is_empty() { span { (note) } } } }
                }
            }
        }
    }
}

fn findings(workflow: &Workflow) -> Markup {
    if workflow.findings.len() < 2 {
        return html! {};
    }
    html! {
        section {
            h2 { "Findings" }
            ol.findings {
                @for finding in &workflow.findings {
                    li {
                        h3 { (notes::kind(finding.kind)) }
                        p { (notes::sentence(&finding.message)) }
                        (detail(finding))
                    }
                }
            }
        }
    }
}

fn gaps(workflow: &Workflow) -> Markup {
    let gaps = notes::gaps(workflow);
    html! {
        @if !gaps.is_empty() {
            section {
                h2 { "What to know about the numbers" }
                ul { @for gap in gaps { li { (gap) } } }
            }
        }
    }
}

fn footer(workflow: &Workflow, is_whole: bool) -> Markup {
    html! {
        footer {
            p {
                "A rule is what is repeated: the name that variables of the job tell, or the command without numbers, names of files "
                "and quoted data (N, FILE, '…'). Critical is its part of a chain of jobs, each of which began when the one before had "
                "ended, up to the last end. "
                @if is_whole {
                    "All of this is in this page as JSON (" code { "#fullbore-workflow" } ")."
                } @else {
                    "A JSON report has every job; this page has too many to contain them."
                }
            }
            p { "Written by fullbore " (visible::line(&workflow.fullbore_version)) "." }
        }
    }
}

/// The workflow as far as a page should contain it.
fn embedded(workflow: &Workflow) -> Workflow {
    let mut small = workflow.clone();
    if small.jobs.len() > JOBS || small.rules.len() > RULES {
        small.jobs.clear();
        small.rules.truncate(RULES);
    }
    for rule in &mut small.rules {
        for text in [&mut rule.command, &mut rule.name] {
            if let Some((end, _)) = text.char_indices().nth(COMMAND) {
                text.truncate(end);
            }
        }
    }
    if let Some(against) = &mut small.against {
        against.rules.truncate(RULES);
    }
    small
}
