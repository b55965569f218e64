//! What `--auto` would have done about the stage that held a run back.

use std::ffi::OsStr;

use fullbore_auto::{Change, Rewritten};
use fullbore_measure::{seconds, visible};
use fullbore_record::{FindingKind, RunRecord, StageRecord};
use fullbore_rules::plain_words;
use fullbore_what_if::{Change as Tried, forecast};

use super::auto::rewritten;

/// Shorter runs are not worth a word.
const WORTH_A_WORD_NS: u64 = 1_000_000_000;

/// Nor is a change that leaves more than this share of the time.
const WORTH_DEALING: f64 = 0.85;

/// A line for the end of the summary, with a newline; `None` if `--auto` would not touch that stage or gain little.
pub(crate) fn hint(record: &RunRecord, shell: &OsStr, line: &OsStr) -> Option<String> {
    let verdict = record.findings.first().filter(|found| found.kind == FindingKind::Bottleneck)?;
    if record.elapsed_ns < WORTH_A_WORD_NS {
        return None;
    }
    let stage = record.stages.iter().find(|stage| Some(stage.stage) == verdict.stage)?;
    let Rewritten { changes, untouched: None, .. } = rewritten(shell, line, "fullbore par --auto")
    else {
        return None;
    };
    changes.iter().find_map(|change| gain(record, stage, change))
}

fn gain(record: &RunRecord, stage: &StageRecord, change: &Change) -> Option<String> {
    let is_it = |text: &str| plain_words(text).is_some_and(|words| words == stage.words);
    match change {
        Change::Offered(text) if is_it(text) && record.host.cpus > 1 => {
            let forecast = forecast(record).ok()?;
            let dealt = |tried: &Tried| *tried == Tried::OnTwoCpus(stage.stage);
            let found = forecast.predictions.iter().find(|found| dealt(&found.change))?;
            let is_worth_it = found.elapsed_ns as f64 <= WORTH_DEALING * record.elapsed_ns as f64;
            is_worth_it.then(|| {
                format!(
                    "  hint: `fullbore run --auto …` would deal {} out over 2 CPUs:\n    about {} instead of {}.\n",
                    visible(&stage.title()),
                    seconds(found.elapsed_ns),
                    seconds(record.elapsed_ns),
                )
            })
        }
        Change::Fused(text) if text.split('|').any(is_it) => Some(format!(
            "  hint: `fullbore run --auto …` would count instead of sorting:\n    `{}` becomes one stage.\n",
            visible(text),
        )),
        _ => None,
    }
}
