//! What a terminal shows of a workflow.

use fullbore_gather::{Finding, Workflow};
use fullbore_measure::seconds;

use super::grid::table;
use super::{notes, versus};
use crate::figures::{count, percent};
use crate::text::Style;
use crate::text::findings::labelled;
use crate::text::wrap::wrap;
use crate::visible;

/// Summarises a workflow for a terminal: the verdict and other findings, where the time went, rules, hosts, stages and what could
/// not be read; each list has at most `top` rows.
///
/// Every line ends with a newline and is at most `style.width` columns wide (at least 20), where the columns of a table allow it.
/// Text that comes from other programs is shown without its control characters.
#[must_use]
pub fn summary(workflow: &Workflow, top: usize, style: Style) -> String {
    let mut lines = wrap(&notes::size(workflow), style.columns(), "  ", "    ");
    if let Some(against) = &workflow.against {
        labelled("compared:", &visible::line(&against.message), "1;31", style, &mut lines);
    }
    findings(workflow, top, style, &mut lines);
    let all = format!(
        "time of all jobs, {}: {}",
        seconds(workflow.totals.job_time_ns),
        notes::causes(&workflow.totals.causes)
    );
    lines.extend(wrap(&all, style.columns(), "  ", "    "));
    if let Some(against) = &workflow.against {
        versus::lines(against, top, style, &mut lines);
    }
    rules(workflow, top, style, &mut lines);
    if workflow.hosts.len() > 1 {
        hosts(workflow, top, style, &mut lines);
    }
    stages(workflow, top, style, &mut lines);
    for note in notes::gaps(workflow) {
        let wrapped = wrap(&format!("note: {note}"), style.columns(), "  ", "    ");
        lines.extend(wrapped.iter().map(|line| style.dim(line)));
    }
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn findings(workflow: &Workflow, top: usize, style: Style, lines: &mut Vec<String>) {
    for (place, finding) in workflow.findings.iter().take(top).enumerate() {
        let label = format!("{}:", notes::kind(finding.kind));
        let code = if place == 0 { "1;31" } else { "1" };
        labelled(&label, &visible::line(&finding.message), code, style, lines);
        if place == 0 && !finding.detail.is_empty() {
            lines.extend(detail(finding, style));
        }
    }
    let hidden = workflow.findings.len().saturating_sub(top) as u64;
    if hidden > 0 {
        let more =
            format!("… and {} (--top, or in a report)", notes::counted(hidden, "more finding"));
        lines.extend(wrap(&more, style.columns(), "  ", "    "));
    }
}

fn detail(finding: &Finding, style: Style) -> Vec<String> {
    wrap(&visible::line(&finding.detail), style.columns(), "    ", "    ")
}

fn rules(workflow: &Workflow, top: usize, style: Style, lines: &mut Vec<String>) {
    let critical: u64 = workflow.rules.iter().map(|rule| rule.critical_ns).sum();
    let rows = workflow.rules.iter().take(top).map(|rule| {
        vec![
            visible::line(&rule.name),
            count(rule.jobs),
            seconds(rule.job_time_ns),
            part(rule.critical_ns, critical),
            rule.median_ns.map_or_else(|| "?".to_owned(), seconds),
            percent(rule.causes.percent(fullbore_gather::Cause::Running)),
            notes::short_wait(&rule.causes),
        ]
    });
    let heads = ["rule", "jobs", "total", "critical", "median", "on CPU", "waits"];
    table(&heads, &rows.collect::<Vec<_>>(), style, lines);
    rest(workflow.rules.len(), top, "rule", style, lines);
}

fn hosts(workflow: &Workflow, top: usize, style: Style, lines: &mut Vec<String>) {
    // The slow ones are shown however little they did.
    let mut shown: Vec<_> = workflow.hosts.iter().collect();
    shown.sort_by_key(|host| !host.is_slow);
    let rows = shown.into_iter().take(top).map(|host| {
        let name = if host.name.is_empty() { "?".to_owned() } else { visible::line(&host.name) };
        vec![
            if host.is_slow { format!("> {name}") } else { name },
            count(host.jobs),
            seconds(host.job_time_ns),
            host.times_as_long.map_or_else(|| "?".to_owned(), |times| format!("{times:.2} ×")),
            percent(host.causes.percent(fullbore_gather::Cause::Running)),
            notes::short_wait(&host.causes),
        ]
    });
    let heads = ["host", "jobs", "total", "as long", "on CPU", "waits"];
    table(&heads, &rows.collect::<Vec<_>>(), style, lines);
    rest(workflow.hosts.len(), top, "host", style, lines);
}

fn stages(workflow: &Workflow, top: usize, style: Style, lines: &mut Vec<String>) {
    let rows = workflow.costly.stages.iter().take(top).map(|stage| {
        vec![
            visible::line(&stage.command),
            count(stage.jobs),
            seconds(stage.own_ns),
            seconds(stage.cpu_ns),
            percent(stage.causes.percent(fullbore_gather::Cause::Running)),
            notes::short_wait(&stage.causes),
        ]
    });
    let heads = ["stage", "jobs", "own time", "CPU time", "on CPU", "waits"];
    table(&heads, &rows.collect::<Vec<_>>(), style, lines);
}

fn rest(all: usize, top: usize, what: &str, style: Style, lines: &mut Vec<String>) {
    let hidden = all.saturating_sub(top) as u64;
    if hidden > 0 {
        let more = format!("… and {}", notes::counted(hidden, &format!("more {what}")));
        lines.extend(wrap(&more, style.columns(), "  ", "    "));
    }
}

/// A share of a whole; `?` when there is no whole.
fn part(part: u64, whole: u64) -> String {
    if whole == 0 { "?".to_owned() } else { percent(part as f64 / whole as f64 * 100.0) }
}
