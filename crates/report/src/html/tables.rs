//! All numbers of the record, in tables.

use fullbore_measure::{Bytes, seconds};
use fullbore_record::{Incident, RunRecord, StageRecord};
use maud::{Markup, html};

use super::document::wide_table;
use crate::figures::{count, known_bytes, known_count, known_percent, known_rate, percent, rate};
use crate::moved::moved;
use crate::prominence::{has_failed, verdict_stage};
use crate::{visible, wording};

/// Every number of every stage.
pub(super) fn stages(record: &RunRecord) -> Markup {
    if record.stages.is_empty() {
        return html! {};
    }
    let heads = [
        "running",
        "waits for CPU",
        "waits for input",
        "waits to write",
        "other",
        "CPU time",
        "life",
        "start",
        "read",
        "written",
        "in",
        "out",
        "mean read",
        "mean write",
        "peak memory",
        "processes seen",
        "threads",
        "exit",
    ];
    let table = wide_table(
        "Stages",
        &html! {
            thead { tr {
                th scope="col" { "#" }
                th.text scope="col" { "command" }
                @for head in heads { th scope="col" { (head) } }
            } }
            tbody { @for stage in &record.stages { (stage_row(record, stage)) } }
        },
    );
    html! { (table) @if let Some(rest) = wording::cpu_of_no_stage(record) { p.caption { (rest) } } }
}

fn stage_row(record: &RunRecord, stage: &StageRecord) -> Markup {
    let mean = |bytes: Option<u64>, calls: Option<u64>| match (bytes, calls) {
        (Some(_), Some(0)) => "–".to_owned(),
        (Some(bytes), Some(calls)) => Bytes(bytes / calls).to_string(),
        _ => "?".to_owned(),
    };
    let name = wording::command(stage);
    let moved = moved(record, stage);
    html! {
        tr.hot[verdict_stage(record) == Some(stage.stage)] {
            td { (stage.stage) }
            th.text scope="row" { code title={ (name) " (process " (stage.pid) ")" } { (name) } }
            td { (percent(stage.running_percent)) }
            td { (percent(stage.runnable_percent)) }
            td { (known_percent(stage.blocked_reading_percent)) }
            td { (known_percent(stage.blocked_writing_percent)) }
            td {
                (percent(stage.blocked_other_percent))
                @for (cause, share) in stage.blocked_other_causes.iter().filter(|(_, share)| **share >= 0.5) {
                    br; span.soft { (wording::cause(*cause)) " " (percent(*share)) }
                }
            }
            td { (seconds(stage.cpu_ns)) }
            td { (seconds(stage.life_ns)) }
            td { (seconds(stage.start_ns)) }
            td { (known_bytes(stage.read_bytes)) }
            td { (known_bytes(stage.written_bytes)) }
            td { (known_rate(rate(moved.read, stage))) }
            td { (known_rate(rate(moved.written, stage))) }
            td title={ (known_count(stage.read_calls)) " calls" } { (mean(stage.read_bytes, stage.read_calls)) }
            td title={ (known_count(stage.write_calls)) " calls" } { (mean(stage.written_bytes, stage.write_calls)) }
            td { (known_bytes(stage.peak_memory_bytes)) }
            td { (stage.processes) }
            td { (stage.threads) }
            td.failed[has_failed(stage)] { (stage.exit_status.map_or("?".to_owned(), wording::exit_status)) }
        }
    }
}

/// Every pipe.
pub(super) fn pipes(record: &RunRecord) -> Markup {
    if record.pipes.is_empty() {
        return html! {};
    }
    let heads = ["first capacity", "last capacity", "writer blocked", "reader blocked", "life"];
    wide_table(
        "Pipes",
        &html! {
            thead { tr {
                th.text scope="col" { "pipe" }
                @for head in heads { th scope="col" { (head) } }
            } }
            tbody {
                @for pipe in &record.pipes {
                    tr {
                        th.text scope="row" {
                            (wording::pipe_ends(pipe))
                            @if let Some(path) = &pipe.path { " " code { (visible::line(path)) } }
                        }
                        td { (known_bytes(pipe.initial_capacity_bytes)) }
                        td { (known_bytes(pipe.capacity_bytes)) }
                        td { (known_percent(pipe.writer_blocked_percent)) }
                        td { (known_percent(pipe.reader_blocked_percent)) }
                        td { (seconds(pipe.life_ns)) }
                    }
                }
            }
        },
    )
}

/// What fullbore changed, numbered as on the time axis.
pub(super) fn tuning(record: &RunRecord) -> Markup {
    if record.tuning.is_empty() {
        return html! {};
    }
    wide_table(
        "Tuning",
        &html! {
            thead { tr {
                th scope="col" { "#" } th scope="col" { "at" } th.text scope="col" { "pipe" } th scope="col" { "from" }
                th scope="col" { "to" } th.text scope="col" { "outcome" } th.text scope="col" { "why" }
            } }
            tbody {
                @for (place, change) in record.tuning.iter().enumerate() {
                    tr id={ "change-" (place + 1) } {
                        th scope="row" { (place + 1) }
                        td { (seconds(change.at_ns)) }
                        td.text { (wording::pipe(record, change.pipe)) }
                        td { (Bytes(change.from_bytes)) }
                        td { (Bytes(change.to_bytes)) }
                        td.text { (wording::outcome(change.outcome)) }
                        td.text.prose { (visible::line(&change.reason)) }
                    }
                }
            }
        },
    )
}

/// States that were seen while the pipeline ran.
pub(super) fn incidents(record: &RunRecord) -> Markup {
    if record.incidents.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Seen while it ran" }
            ul { @for incident in &record.incidents { li { (incident_sentence(record, incident)) } } }
        }
    }
}

fn incident_sentence(record: &RunRecord, incident: &Incident) -> String {
    let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    match incident {
        Incident::LeakedEnd {
            pipe,
            waiting_stage,
            holder_stage,
            holder_pid,
            holder_command,
            lasted_ns,
        } => {
            let holder = holder_stage.map_or(String::new(), |stage| format!(" of stage {stage}"));
            format!(
                "Stage {waiting_stage} waited {} for the end of {}, whose write end was held by process {holder_pid}{holder} ({}).",
                seconds(*lasted_ns),
                wording::pipe(record, *pipe),
                visible::line(holder_command)
            )
        }
        Incident::Deadlock { stages, pipes, lasted_ns, to_the_end } => format!(
            "Stages {} waited for each other on pipes {} for {}{}.",
            list(stages),
            list(pipes),
            seconds(*lasted_ns),
            if *to_the_end { ", to the end" } else { "" }
        ),
        Incident::Stalled { stage: Some(stage), lasted_ns } => {
            format!("Nothing moved for {}; all waited for stage {stage}.", seconds(*lasted_ns))
        }
        Incident::Stalled { stage: None, lasted_ns } => {
            format!("Nothing moved for {}.", seconds(*lasted_ns))
        }
        _ => "Something that this version of fullbore has no words for.".to_owned(),
    }
}

/// What could not be observed, and what makes numbers doubtful.
pub(super) fn gaps(record: &RunRecord) -> Markup {
    if record.gaps.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "What to know about the numbers" }
            ul { @for gap in &record.gaps { li { (visible::line(gap)) } } }
        }
    }
}

/// The machine.
pub(super) fn host(record: &RunRecord) -> Markup {
    let host = &record.host;
    let quota = host.pipe_user_pages_soft.map_or("?".to_owned(), |pages| match pages {
        0 => "no limit".to_owned(),
        pages => Bytes(pages.saturating_mul(host.page_bytes)).to_string(),
    });
    let known = |text: &str| {
        if text.is_empty() { "?".to_owned() } else { visible::line(text) }
    };
    let rows = [
        ("CPU", known(&host.cpu)),
        ("CPUs the run could use", host.cpus.to_string()),
        ("memory", Bytes(host.memory_bytes).to_string()),
        ("Linux", known(&host.kernel)),
        ("largest pipe without privileges", known_bytes(host.pipe_max_bytes)),
        ("all pipes of a user, before new ones shrink", quota),
        ("samples taken", count(record.samples)),
    ];
    html! {
        section {
            h2 { "Machine" }
            table.facts { tbody { @for (name, value) in rows { tr { th scope="row" { (name) } td { (value) } } } } }
        }
    }
}
