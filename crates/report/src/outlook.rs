//! What the record predicts, as far as it is worth showing.

use fullbore_measure::seconds;
use fullbore_record::{
    ChangeKind, FindingKind, LimitKind, LimitRecord, PredictionRecord, RunRecord, WhatIfRecord,
};

use crate::visible;

/// A change that leaves more than this part of the time is not worth a word.
const WORTH_A_WORD: f64 = 0.95;

/// Predictions are shown if the replay of the unchanged run takes as long as the run, but for this part.
const AS_LONG: f64 = 0.15;

/// The predictions, if they can be trusted: faster stages do not shorten a run that was ended from outside.
pub(crate) fn trusted(record: &RunRecord) -> Option<&WhatIfRecord> {
    let what_if = record.what_if.as_ref().filter(|_| !record.is_cut_off())?;
    let off = (what_if.replayed_ns as f64 / record.elapsed_ns as f64 - 1.0).abs();
    (off <= AS_LONG).then_some(what_if)
}

/// Changes that gain enough to be shown, the best first.
pub(crate) fn worth_a_word<'a>(
    record: &RunRecord,
    what_if: &'a WhatIfRecord,
) -> impl Iterator<Item = &'a PredictionRecord> {
    let most_ns = record.elapsed_ns as f64 * WORTH_A_WORD;
    what_if.predictions.iter().filter(move |one| one.elapsed_ns as f64 <= most_ns)
}

/// What it would bring to make the stage of the verdict twice as fast: `with sort twice as fast: 1.9 s, then tar is next`.
///
/// `None` if the verdict is not a stage, nothing was predicted, or the gain is small.
pub(crate) fn clause(record: &RunRecord) -> Option<String> {
    let verdict = record.findings.first().filter(|it| it.kind == FindingKind::Bottleneck)?;
    let stage = verdict.stage?;
    // What waits for other things than the pipeline's is not faster for running faster.
    let found = record.stages.iter().find(|it| it.stage == stage)?;
    if found.running_percent < MOSTLY_PERCENT || found.title().starts_with('(') {
        return None;
    }
    let is_it = |one: &&PredictionRecord| {
        one.change.kind == ChangeKind::TwiceAsFast && one.change.stage == Some(stage)
    };
    let found = worth_a_word(record, trusted(record)?).find(is_it)?;
    let (change, time) = (visible::line(&found.text), seconds(found.elapsed_ns));
    let then = then(&found.limit, stage).map_or_else(String::new, |then| format!(", {then}"));
    Some(format!("with {change}: {time}{then}"))
}

/// A stage that runs less than this waits mostly.
const MOSTLY_PERCENT: f64 = 50.0;

fn then(limit: &LimitRecord, stage: u32) -> Option<String> {
    let text = visible::line(&limit.text);
    Some(match limit.kind {
        LimitKind::Stage if limit.stage == Some(stage) => format!("then still {text}"),
        LimitKind::Stage => format!("then {text} is next"),
        LimitKind::Cpus => "then there are too few CPUs".to_owned(),
        LimitKind::Pipe => format!("then {text}"),
        _ => return None,
    })
}
