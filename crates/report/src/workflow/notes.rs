//! Words about a workflow that text and page share.

use fullbore_gather::{Cause, Causes, Files, FindingKind, Workflow};
use fullbore_measure::seconds;

use crate::figures::{count, percent};
use crate::visible;

/// A kind of finding in words.
pub(super) fn kind(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::SlowHost => "slow host",
        FindingKind::SlowOnHost => "slow on a host",
        FindingKind::Idle => "nothing ran",
        FindingKind::WaitsForCpus => "too few CPUs",
        FindingKind::LimitingRule => "limiting rule",
        FindingKind::NoSingleRule => "no single rule",
        FindingKind::Outliers => "outlier",
        FindingKind::TakesTurns => "taking turns",
        FindingKind::Failed => "failed",
        FindingKind::MoreInput => "more input",
        _ => "other",
    }
}

/// A cause as the name of a column or a colour.
pub(super) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Running => "on a CPU",
        Cause::Cpu => "waits for a CPU",
        Cause::Disk => "waits for disk",
        Cause::Network => "waits for network",
        Cause::Stages => "stages wait for each other",
        Cause::Other => "waits for something else",
        Cause::Unseen => "not seen",
    }
}

/// The causes of which there is a half percent or more: `on a CPU 61 %, waits for disk 22 %`.
pub(super) fn causes(causes: &Causes) -> String {
    let parts: Vec<String> = Cause::ALL
        .iter()
        .filter(|it| causes.percent(**it) >= 0.5)
        .map(|it| format!("{} {}", cause(*it), percent(causes.percent(*it))))
        .collect();
    if parts.is_empty() { "unknown".to_owned() } else { parts.join(", ") }
}

/// The largest wait and its share, when it takes five percent or more.
pub(super) fn largest_wait(causes: &Causes) -> Option<(Cause, f64)> {
    let waits = Cause::ALL.iter().filter(|it| !matches!(it, Cause::Running | Cause::Unseen));
    let (most, share) =
        waits.map(|it| (*it, causes.percent(*it))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    (share >= 5.0).then_some((most, share))
}

/// A wait in a narrow column: `disk 22 %`.
pub(super) fn short_wait(causes: &Causes) -> String {
    largest_wait(causes).map_or_else(String::new, |(cause, share)| {
        let name = match cause {
            Cause::Cpu => "CPU",
            Cause::Disk => "disk",
            Cause::Network => "network",
            Cause::Stages => "stages",
            _ => "other",
        };
        format!("{name} {}", percent(share))
    })
}

/// A sentence in which a page does not tear a number from its sign.
pub(super) fn sentence(text: &str) -> String {
    visible::sentence(text).replace(" ×", "\u{a0}×")
}

/// A count with its noun.
pub(super) fn counted(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// How many jobs of what, where, and for how long.
pub(super) fn size(workflow: &Workflow) -> String {
    let totals = &workflow.totals;
    let mut text = format!(
        "{} of {} on {} in {}",
        counted(totals.jobs, "job"),
        counted(workflow.rules.len() as u64, "rule"),
        counted(workflow.hosts.len() as u64, "host"),
        seconds(totals.elapsed_ns)
    );
    if totals.failed > 0 {
        text.push_str(&format!("; {} failed", count(totals.failed)));
    }
    text
}

/// What was not read, and what makes numbers doubtful, one sentence each.
pub(super) fn gaps(workflow: &Workflow) -> Vec<String> {
    let mut notes = files(&workflow.files, "");
    let totals = &workflow.totals;
    for (number, what) in [
        (totals.unknown_status, "without a known exit status: counted as not failed"),
        (totals.in_part, "watched only in part (attached): not compared with others"),
        (totals.without_time, "without a start or a length: not on the time axis"),
    ] {
        if number > 0 {
            notes.push(format!("{} {what}", counted(number, "job")));
        }
    }
    if workflow.hosts.iter().any(|host| host.name.is_empty()) {
        notes.push("records of older versions do not name their host".to_owned());
    }
    if let Some(against) = &workflow.against {
        notes.extend(files(&against.files, " of the run before"));
    }
    notes
}

/// What of a folder was not read.
fn files(files: &Files, of: &str) -> Vec<String> {
    let mut notes = Vec::new();
    let unread: u64 = files.no_records.iter().map(|unread| unread.files).sum();
    if unread > 0 {
        let reasons: Vec<String> = files
            .no_records
            .iter()
            .map(|unread| {
                let more = if unread.files > unread.examples.len() as u64 { ", …" } else { "" };
                let examples = visible::line(&unread.examples.join(", "));
                format!("{} {} ({examples}{more})", count(unread.files), visible::line(&unread.why))
            })
            .collect();
        let is = if unread == 1 { "is no record" } else { "are no records" };
        let all = counted(files.seen, "file");
        notes.push(format!("{} of {all}{of} {is} of a run: {}", count(unread), reasons.join(", ")));
    }
    if files.copies > 0 {
        let is = if files.copies == 1 { "is" } else { "are" };
        notes.push(format!(
            "{}{of} {is} there twice; each counts once",
            counted(files.copies, "record")
        ));
    }
    if files.others > 0 {
        notes.push(format!(
            "{}{of} not named *.json: not read",
            counted(files.others, "other file")
        ));
    }
    notes
}
