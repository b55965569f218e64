//! The page from top to bottom: the verdict first, the evidence after it.

use fullbore_measure::seconds;
use fullbore_record::{AdvicePart, Finding, RunRecord};
use maud::{Markup, html};

use super::document::Document;
use super::{drawing, outlook, shares, steps, tables, timeline};
use crate::figures::{known_percent, utc};
use crate::{visible, wording};

/// The page for a record.
pub(super) fn page(record: &RunRecord) -> Markup {
    let (record, factor) = steps::merged(record);
    let record = &record;
    let body = html! {
        (shares::patterns())
        main {
            (header(record))
            (verdict(record))
            (key_figures(record))
            @if !record.stages.is_empty() {
                section { h2 { "Pipeline" } (drawing::drawing(record)) }
            }
            (timeline::shares_over_time(record))
            (timeline::rates_over_time(record))
            (findings(record))
            (outlook::predictions(record))
            (tables::stages(record))
            (tables::pipes(record))
            (tables::tuning(record))
            (tables::incidents(record))
            (tables::gaps(record))
            (tables::host(record))
            (footer(record, factor))
        }
    };
    let document = Document { title: &title(record), style: "", script: "", id: "fullbore-run" };
    document.around(&body, record)
}

fn title(record: &RunRecord) -> String {
    let command = visible::cut(&visible::line(&record.command), 60);
    format!("{command} – fullbore")
}

fn header(record: &RunRecord) -> Markup {
    html! {
        header {
            p.brand {
                strong { "fullbore" } " run"
                @if record.started_unix_ns > 0 { span.soft { " · " (utc(record.started_unix_ns)) } }
            }
            @if !record.command.is_empty() { pre.run { code { (command_text(&record.command)) } } }
        }
    }
}

/// The command over as many lines as it was written.
fn command_text(command: &str) -> String {
    command.lines().map(visible::line).collect::<Vec<_>>().join("\n")
}

/// The first clause of a sentence, and the others; what is between backquotes is the text of a command.
pub(crate) fn headline(message: &str) -> (&str, &str) {
    let mut is_command = false;
    let end = message.char_indices().find(|(at, character)| {
        is_command ^= *character == '`';
        let tail = &message[*at..];
        !is_command && (tail.starts_with("; ") || tail.starts_with(". "))
    });
    end.map_or((message, ""), |(at, _)| (&message[..at], &message[at + 2..]))
}

fn verdict(record: &RunRecord) -> Markup {
    let Some(finding) = record.findings.first() else {
        let is_blank = record.stages.is_empty() || record.elapsed_ns < 100_000_000;
        let message =
            if is_blank { "Too short to judge" } else { "Nothing that held it back was seen" };
        return html! {
            section.verdict { h1 { (message) } p.rest { "It took " (seconds(record.elapsed_ns)) "." } }
        };
    };
    let message = visible::sentence(&finding.message);
    let (first, rest) = headline(&message);
    html! {
        section.verdict {
            p.kind { (wording::kind(finding.kind)) (about(record, finding)) }
            h1 { (first.trim_end_matches('.')) "." }
            @if !rest.is_empty() { p.rest { (rest) } }
            @if let Some(clause) = crate::outlook::clause(record) { p.rest.outlook { (clause) "." } }
            (advice_block(finding))
        }
    }
}

/// Which stage or pipe a finding is about.
fn about(record: &RunRecord, finding: &Finding) -> String {
    match (finding.stage, finding.pipe) {
        (Some(stage), _) => format!(" · stage {stage}"),
        (None, Some(pipe)) => format!(" · {}", wording::pipe(record, pipe)),
        (None, None) => String::new(),
    }
}

fn advice_block(finding: &Finding) -> Markup {
    html! {
        @if !finding.advice.is_empty() {
            div.advice {
                @for part in &finding.advice {
                    @match part {
                        AdvicePart::Text(text) => {
                            @let text = visible::line(text);
                            @let text = wording::after_command(&text);
                            @if !text.is_empty() { p { (text) } }
                        },
                        // What is shown is also what is copied.
                        AdvicePart::Command(command) => pre.command { code { (visible::line(command)) } },
                        _ => {},
                    }
                }
            }
        }
    }
}

fn key_figures(record: &RunRecord) -> Markup {
    let observer = if record.elapsed_ns > 0 {
        let share = record.observer_cpu_ns as f64 / record.elapsed_ns as f64 * 100.0;
        if share.is_finite() && share < 99.5 {
            format!("{share:.1} % of a CPU")
        } else {
            String::new()
        }
    } else {
        String::new()
    };
    let parallelism = if record.parallelism.is_finite() {
        format!("{:.2}", record.parallelism)
    } else {
        "?".to_owned()
    };
    let bound = match record.bound_ns {
        _ if record.is_cut_off() => "?".to_owned(),
        0 => "?".to_owned(),
        bound_ns => seconds(bound_ns),
    };
    let exit = record.exit_status.map_or("?".to_owned(), wording::exit_status);
    let cpus = if record.host.cpus > 0 {
        format!("CPUs busy, of {}", record.host.cpus)
    } else {
        "CPUs busy".to_owned()
    };
    let elapsed = match record.attached_at_ns {
        Some(at_ns) => {
            let from = format!("watched, from {} after the start on", seconds(at_ns));
            ("Watched", seconds(record.elapsed_ns), from)
        }
        None => ("Elapsed", seconds(record.elapsed_ns), "from start to end".to_owned()),
    };
    let figures = [
        elapsed,
        ("Best possible time", bound, "with these commands on this machine".to_owned()),
        ("Parallelism", parallelism, cpus),
        (
            "Overlap",
            known_percent(record.overlap_percent),
            "of the running time had two stages at work".to_owned(),
        ),
        ("Observer", seconds(record.observer_cpu_ns), observer),
        ("Exit status", exit, String::new()),
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

fn findings(record: &RunRecord) -> Markup {
    if record.findings.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 { "Findings" }
            ol.findings {
                @for (place, finding) in record.findings.iter().enumerate() {
                    li {
                        h3 { (wording::kind(finding.kind)) span.soft { (about(record, finding)) } }
                        p { (visible::sentence(&finding.message)) }
                        @if place > 0 { (advice_block(finding)) }
                        (evidence(finding))
                    }
                }
            }
        }
    }
}

fn evidence(finding: &Finding) -> Markup {
    let figure = |value: f64| {
        let text = format!("{value:.1}");
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    html! {
        @if !finding.evidence.is_empty() {
            table.facts {
                caption { "Evidence" }
                tbody {
                    @if let Some(percent) = finding.confidence_percent {
                        tr { th scope="row" { "confidence in the stage named" } td { (figure(percent)) " %" } }
                    }
                    @for (name, value) in &finding.evidence {
                        @let (name, value) = readable(&visible::line(name), *value, figure);
                        tr { th scope="row" { (name) } td { (value) } }
                    }
                }
            }
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "bytes and nanoseconds are whole, and a cast saturates"
)]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

/// The unit moves from the name of a number to its value.
fn readable(name: &str, value: f64, figure: impl Fn(f64) -> String) -> (String, String) {
    if !value.is_finite() {
        return (name.replace('_', " "), "?".to_owned());
    }
    let (stem, text) = if let Some(stem) = name.strip_suffix("_percent") {
        (stem, format!("{} %", figure(value)))
    } else if let Some(stem) = name.strip_suffix("_bytes") {
        (stem, fullbore_measure::Bytes(whole(value)).to_string())
    } else if let Some(stem) = name.strip_suffix("_ns") {
        (stem, seconds(whole(value)))
    } else {
        (name, figure(value))
    };
    (stem.replace('_', " "), text)
}

fn footer(record: &RunRecord, factor: usize) -> Markup {
    html! {
        footer {
            p {
                "Shares are percent of the life of a stage or pipe; ? is what could not be observed. "
                @if factor > 1 { "For this page, " (factor) " steps of the time line were merged into one. " }
                "The record is embedded in this page as JSON (" code { "#fullbore-run" } ")."
            }
            p { "Written by fullbore " (visible::line(&record.fullbore_version)) "." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_headed_by_its_first_clause() {
        for (message, first) in [
            ("jq is on a CPU 99 % of the time.", "jq is on a CPU 99 % of the time."),
            ("jq is on a CPU; cat waits for it.", "jq is on a CPU"),
            ("`for i; do a. b; done` sleeps; cat waits.", "`for i; do a. b; done` sleeps"),
            ("python3.12 reads 7 bytes. It could read more.", "python3.12 reads 7 bytes"),
            ("`torn; name", "`torn; name"),
        ] {
            let (head, rest) = headline(message);
            assert_eq!(head, first);
            assert!(rest.is_empty() || message.ends_with(rest), "{rest}");
        }
    }

    #[test]
    fn units_move_from_the_name_to_the_value() {
        let text = |value: f64| format!("{value}");
        assert_eq!(readable("mean_read_bytes", 4096.0, text), ("mean read".into(), "4 KiB".into()));
        assert_eq!(readable("x_percent", f64::NAN, text), ("x percent".into(), "?".into()));
    }
}
