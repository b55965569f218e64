//! The page from top to bottom.

use fullbore_lab::record::{CaseRun, Effort, LabRun, SuiteRun};
use fullbore_measure::seconds;
use maud::{Markup, html};

use super::{chart, latency, tables};
use crate::figures::utc;
use crate::html::document::Document;
use crate::html::document::scrolled;
use crate::lab::{rows, standing};
use crate::visible;

const STYLE: &str = include_str!("lab.css");

/// The page for a record.
pub(super) fn page(run: &LabRun) -> Markup {
    let body = html! {
        main.lab {
            (header(run))
            (at_a_glance(run))
            @for suite in &run.suites { (suite_section(run, suite)) }
            (tables::machine(run))
            (footer())
        }
    };
    let names: Vec<_> = run.suites.iter().map(|suite| suite.name.as_str()).collect();
    let title = format!("{} – fullbore lab", visible::cut(&visible::line(&names.join(" ")), 60));
    Document { title: &title, style: STYLE, script: "", id: "fullbore-lab" }.around(&body, run)
}

fn header(run: &LabRun) -> Markup {
    let host = &run.machine.host;
    let effort = match run.effort {
        Effort::Quick => "quick: fewer points, wider intervals".to_owned(),
        Effort::Usual => "usual effort".to_owned(),
        Effort::Runs(1) => "1 round a point".to_owned(),
        Effort::Runs(runs) => format!("{runs} rounds a point"),
    };
    html! {
        header {
            p.brand {
                strong { "fullbore" } " lab"
                @if run.started_unix_ns > 0 { span.soft { " · " (utc(run.started_unix_ns)) } }
            }
            pre.run { code { (visible::line(&run.command)) } }
        }
        section.verdict {
            p.kind { (if run.is_complete { "Complete" } else { "Ended early: not all was measured" }) }
            h1 { (rows::sentence(run)) }
            p.rest {
                (visible::line(&host.cpu)) ", " (host.cpus) " CPUs, Linux " (visible::line(&host.kernel)) "; "
                (effort) ", " (seconds(run.elapsed_ns)) "."
            }
        }
    }
}

/// What was found in a row for each case, which leads to it.
fn at_a_glance(run: &LabRun) -> Markup {
    let content = html! {
        thead { tr { @for head in standing::HEADS { th.text scope="col" { (head) } } } }
        @for suite in &run.suites {
            tbody {
                @for (case, standing) in standing::cases(suite) {
                    // Its trouble stands in a row below, of the same name.
                    @let rows = (!standing.trouble.is_empty()).then_some("2");
                    tr {
                        th.text scope="row" rowspan=[rows] { a href={ "#" (id(suite, Some(case))) } title=(visible::line(&case.title)) { (standing.case) } }
                        @for cell in &standing.cells()[1..] { td.text.prose { (cell) } }
                    }
                    @if !standing.trouble.is_empty() {
                        tr { td.text.prose.trouble colspan="4" { (standing.trouble) } }
                    }
                }
            }
        }
    };
    html! {
        section.glance {
            h2 { "At a glance" }
            (scrolled("At a glance", &content))
            p.caption {
                "Surely: the whole interval of the ratio lies on one side of 1. Among many comparisons, a few may do so by accident."
            }
        }
    }
}

/// Names are letters, digits and `-_.+`; a record that was changed by hand may hold anything.
fn id(suite: &SuiteRun, case: Option<&CaseRun>) -> String {
    let name =
        case.map_or_else(|| suite.name.clone(), |case| format!("{}-{}", suite.name, case.name));
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn suite_section(run: &LabRun, suite: &SuiteRun) -> Markup {
    html! {
        section.suite id=(id(suite, None)) {
            h2 { (visible::line(&suite.name)) }
            p.about { (visible::line(&suite.about)) }
            @for case in &suite.cases {
                article id=(id(suite, Some(case))) {
                    h3 { (visible::line(&case.title)) }
                    @if !case.about.is_empty() { p.about { (visible::line(&case.about)) } }
                    (chart::charts(case, &run.machine.caches))
                    (latency::charts(case))
                    (tables::case(case))
                    (tables::counted(case))
                    (tables::engines(case))
                    pre.command { code { (visible::line(&case.command)) } }
                }
            }
        }
    }
}

fn footer() -> Markup {
    html! {
        footer {
            p {
                "Engines of a case run in turn, A B A B …, in several passes over the suite; a ratio is taken round by round, so that what hits both sides of a round cancels out. "
                "± and the ranges in brackets are where a second run on the same machine is expected, in 95 of 100 cases: a bootstrap over blocks of rounds, and what the passes differ by, √2 wider than a confidence interval, and never less than ± 2 %. "
                "A point marked with far-off values or drift was measured on a restless machine. Peak memory was looked at while the answer was checked; ? is what could not be observed."
            }
            p { "The record is embedded in this page as JSON (" code { "#fullbore-lab" } ")." }
        }
    }
}
