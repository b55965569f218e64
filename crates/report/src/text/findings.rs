//! The verdict, the other findings and their hints, as lines.

use fullbore_measure::seconds;
use fullbore_record::{AdvicePart, Finding, RunRecord, advice_text};

use super::style::Style;
use super::wrap::wrap;
use crate::{outlook, visible, wording};

/// Findings besides the verdict that are shown.
const FURTHER: usize = 3;

/// Adds the verdict with its hint, how long the run took, and up to three further findings.
pub(super) fn write(record: &RunRecord, style: Style, lines: &mut Vec<String>) {
    match record.findings.first() {
        Some(verdict) => {
            let label = format!("{}:", wording::kind(verdict.kind));
            let message = with_clause(&visible::line(&verdict.message), record);
            labelled(&label, &message, "1;31", style, lines);
            time(record, Some(verdict), style, lines);
            hint(verdict, style, lines);
        }
        None => {
            lines.extend(wrap("nothing that held it back was seen", style.columns(), "  ", "    "));
            time(record, None, style, lines);
        }
    }
    for finding in record.findings.iter().skip(1).take(FURTHER) {
        labelled("also:", &visible::line(&finding.message), "1", style, lines);
        hint(finding, style, lines);
    }
    let hidden = record.findings.len().saturating_sub(1 + FURTHER);
    if hidden > 0 {
        let more =
            format!("… and {hidden} more {}", if hidden == 1 { "finding" } else { "findings" });
        lines.extend(wrap(&more, style.columns(), "  ", "    "));
    }
}

/// The sentence of the verdict with what it would bring to make its stage faster.
fn with_clause(message: &str, record: &RunRecord) -> String {
    match outlook::clause(record) {
        Some(clause) => format!("{}; {clause}.", message.trim_end_matches('.')),
        None => message.to_owned(),
    }
}

/// Says how long the run took and could have taken.
fn time(record: &RunRecord, verdict: Option<&Finding>, style: Style, lines: &mut Vec<String>) {
    let elapsed = seconds(record.elapsed_ns);
    let mut facts = match record.attached_at_ns {
        Some(at_ns) => {
            vec![format!("watched for {elapsed}, from {} after the start on", seconds(at_ns))]
        }
        None => vec![format!("this run took {elapsed}")],
    };
    let best_ns = verdict.and_then(|finding| finding.best_time_ns).unwrap_or(record.bound_ns);
    // Of a part of a run, nobody asks how soon it could have been over; one that was ended could not.
    if best_ns > 0 && record.attached_at_ns.is_none() && !record.is_cut_off() {
        facts.push(format!("the best possible time is {}", seconds(best_ns)));
    }
    if let Some(status) = record.exit_status.filter(|status| *status != 0) {
        facts.push(format!("exit status {}", wording::exit_status(status)));
    }
    labelled("time:", &facts.join("; "), "1", style, lines);
}

const HINT: &str = "hint:";
const HINT_CODE: &str = "1;32";

/// Adds the advice. Commands are in backquotes if all of it fits into one line; otherwise each is a line of its own,
/// however long, so that it can be pasted.
fn hint(finding: &Finding, style: Style, lines: &mut Vec<String>) {
    let advice = visible::line(&advice_text(&finding.advice));
    if advice.trim().is_empty() {
        return;
    }
    let has_command = finding.advice.iter().any(|part| matches!(part, AdvicePart::Command(_)));
    if !has_command || visible::width(&format!("  {HINT} {advice}")) <= style.columns() {
        return labelled(HINT, &advice, HINT_CODE, style, lines);
    }
    let begin = lines.len();
    let mut text = String::new();
    for part in &finding.advice {
        match part {
            AdvicePart::Text(part) => text.push_str(&visible::line(part)),
            AdvicePart::Command(command) => {
                prose(&std::mem::take(&mut text), lines.len() == begin, style, lines);
                lines.push(format!("      {}", style.bold(&visible::line(command))));
            }
            _ => {}
        }
    }
    prose(&text, lines.len() == begin, style, lines);
}

/// Adds what an advice says before, between or after its commands.
fn prose(text: &str, is_first: bool, style: Style, lines: &mut Vec<String>) {
    if is_first {
        return labelled(HINT, text.trim(), HINT_CODE, style, lines);
    }
    let text = wording::after_command(text);
    if !text.is_empty() {
        lines.extend(wrap(text, style.columns(), "    ", "    "));
    }
}

/// Adds `label text`, wrapped; the label is painted in `code`.
pub(crate) fn labelled(label: &str, text: &str, code: &str, style: Style, lines: &mut Vec<String>) {
    let whole = format!("{label} {text}");
    for (place, line) in wrap(&whole, style.columns(), "  ", "    ").into_iter().enumerate() {
        match line.trim_start().strip_prefix(label) {
            Some(tail) if place == 0 => lines.push(format!("  {}{tail}", style.paint(code, label))),
            _ => lines.push(line),
        }
    }
}
