//! All numbers of a workflow, in tables.

use fullbore_gather::{Cause, Causes, Workflow};
use fullbore_measure::{Bytes, seconds};
use maud::{Markup, html};

use super::notes;
use crate::figures::{count, percent};
use crate::html::document::wide_table;
use crate::visible;

/// Rows of a table; a page with more is of no use to anybody.
const ROWS: usize = 200;

/// Characters of a name.
const NAME: usize = 200;

/// Columns that divide a time by cause.
const CAUSES: [(&str, Cause); 6] = [
    ("on a CPU", Cause::Running),
    ("waits for CPU", Cause::Cpu),
    ("disk", Cause::Disk),
    ("network", Cause::Network),
    ("other stages", Cause::Stages),
    ("other", Cause::Other),
];

/// What was repeated.
pub(super) fn rules(workflow: &Workflow) -> Markup {
    let critical: u64 = workflow.rules.iter().map(|rule| rule.critical_ns).sum();
    let limiting = workflow.findings.first().and_then(|finding| finding.rule);
    let table = wide_table(
        "Rules",
        &html! {
            (heads("rule", &["jobs", "failed", "all jobs", "critical", "median", "longest", "median input"]))
            tbody {
                @for (place, rule) in workflow.rules.iter().enumerate().take(ROWS) {
                    tr.hot[limiting == Some(place)] {
                        (name(&rule.name, &rule.command))
                        td { (count(rule.jobs)) }
                        td.failed[rule.failed > 0] { (count(rule.failed)) }
                        td { (seconds(rule.job_time_ns)) }
                        td { @if critical > 0 { (percent(rule.critical_ns as f64 / critical as f64 * 100.0)) } @else { "?" } }
                        td { (rule.median_ns.map_or("?".to_owned(), seconds)) }
                        td { (rule.longest_ns.map_or("?".to_owned(), seconds)) }
                        td { (rule.median_input_bytes.map_or("?".to_owned(), |bytes| Bytes(bytes).to_string())) }
                        (causes(&rule.causes))
                    }
                }
            }
        },
    );
    html! { (table) (rest(workflow.rules.len())) }
}

/// The machines.
pub(super) fn hosts(workflow: &Workflow) -> Markup {
    let table = wide_table(
        "Hosts",
        &html! {
            (heads("host", &["CPUs", "jobs", "failed", "all jobs", "as long as elsewhere"]))
            tbody {
                @for host in workflow.hosts.iter().take(ROWS) {
                    tr.hot[host.is_slow] {
                        (name(if host.name.is_empty() { "?" } else { &host.name }, ""))
                        td { @if host.cpus > 0 { (host.cpus) } @else { "?" } }
                        td { (count(host.jobs)) }
                        td.failed[host.failed > 0] { (count(host.failed)) }
                        td { (seconds(host.job_time_ns)) }
                        td { (host.times_as_long.map_or("?".to_owned(), |times| format!("{times:.2} ×"))) }
                        (causes(&host.causes))
                    }
                }
            }
        },
    );
    html! { (table) (rest(workflow.hosts.len())) }
}

/// Stages that cost most.
pub(super) fn stages(workflow: &Workflow) -> Markup {
    if workflow.costly.stages.is_empty() {
        return html! {};
    }
    wide_table(
        "Stages that cost most",
        &html! {
            thead { tr {
                th.text scope="col" { "stage" } th.text scope="col" { "rule" }
                @for head in ["jobs", "own time", "CPU time"] { th scope="col" { (head) } }
                @for (head, _) in CAUSES.iter().filter(|(_, cause)| *cause != Cause::Stages) { th scope="col" { (head) } }
            } }
            tbody {
                @for stage in &workflow.costly.stages {
                    tr {
                        (name(&stage.command, ""))
                        td.text { (rule_name(workflow, stage.rule)) }
                        td { (count(stage.jobs)) }
                        td { (seconds(stage.own_ns)) }
                        td { (seconds(stage.cpu_ns)) }
                        @for (_, cause) in CAUSES.iter().filter(|(_, cause)| *cause != Cause::Stages) {
                            td { (percent(stage.causes.percent(*cause))) }
                        }
                    }
                }
            }
        },
    )
}

/// Jobs that were far too long.
pub(super) fn outliers(workflow: &Workflow) -> Markup {
    if workflow.costly.outliers.is_empty() {
        return html! {};
    }
    wide_table(
        "Jobs that took far longer than others of their rule",
        &html! {
            thead { tr {
                th.text scope="col" { "record" } th.text scope="col" { "rule" } th.text scope="col" { "host" }
                @for head in ["took", "expected", "times"] { th scope="col" { (head) } }
                th.text scope="col" { "most of the extra time" }
            } }
            tbody {
                @for outlier in &workflow.costly.outliers {
                    @if let Some(job) = workflow.jobs.get(outlier.job) {
                        tr {
                            (name(&job.file, ""))
                            td.text { (rule_name(workflow, job.rule)) }
                            td.text { (workflow.hosts.get(job.host).map_or("?".to_owned(), |host| visible::line(&host.name))) }
                            td { (job.elapsed_ns.map_or("?".to_owned(), seconds)) }
                            td { (seconds(outlier.expected_ns)) }
                            td { (format!("{:.1} ×", outlier.times)) }
                            td.text { @if let Some(cause) = outlier.cause { (notes::cause(cause)) " " (percent(outlier.cause_percent)) } @else { "?" } }
                        }
                    }
                }
            }
        },
    )
}

/// Pipelines that took turns, and hosts whose jobs waited for CPUs.
pub(super) fn turns_and_waits(workflow: &Workflow) -> Markup {
    let costly = &workflow.costly;
    html! {
        @if !costly.turns.is_empty() {
            section {
                h2 { "Pipelines that took turns" }
                ul {
                    @for turns in &costly.turns {
                        li { code { (rule_name(workflow, turns.rule)) } ", " (notes::counted(turns.jobs, "job")) ", " (seconds(turns.job_time_ns)) ": " (notes::sentence(&turns.message)) }
                    }
                }
            }
        }
        @if !costly.cpu_waits.is_empty() {
            section {
                h2 { "Jobs that waited for CPUs" }
                ul {
                    @for wait in &costly.cpu_waits {
                        li {
                            code { (workflow.hosts.get(wait.host).map_or("?".to_owned(), |host| visible::line(&host.name))) } ": "
                            (notes::counted(wait.jobs, "job")) " for a tenth of the time or more; all jobs there together "
                            (seconds(wait.waited_ns)) " (" (percent(wait.percent)) ")"
                        }
                    }
                }
            }
        }
    }
}

fn heads(first: &str, others: &[&str]) -> Markup {
    html! {
        thead { tr {
            th.text scope="col" { (first) }
            @for head in others { th scope="col" { (head) } }
            @for (head, _) in CAUSES { th scope="col" { (head) } }
        } }
    }
}

fn causes(causes: &Causes) -> Markup {
    html! { @for (_, cause) in CAUSES { td { (percent(causes.percent(cause))) } } }
}

fn name(text: &str, title: &str) -> Markup {
    let text = visible::cut(&visible::line(text), NAME);
    let title =
        if title.is_empty() { text.clone() } else { visible::cut(&visible::line(title), NAME) };
    html! { th.text scope="row" { code title=(title) { (text) } } }
}

fn rule_name(workflow: &Workflow, rule: usize) -> String {
    workflow
        .rules
        .get(rule)
        .map_or("?".to_owned(), |rule| visible::cut(&visible::line(&rule.name), 60))
}

fn rest(all: usize) -> Markup {
    let hidden = all.saturating_sub(ROWS) as u64;
    html! { @if hidden > 0 { p.caption { "… and " (count(hidden)) " more, which the JSON report has." } } }
}
