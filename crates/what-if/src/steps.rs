//! The timeline of one stage, with its shares turned into nanoseconds.

use fullbore_record::{RunRecord, StageRecord, StageTimeline};

/// What a stage did in one step of the timeline, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Step {
    /// At least one thread was on a CPU.
    pub(crate) running_ns: f64,
    /// None was on a CPU, at least one waited for one.
    pub(crate) runnable_ns: f64,
    /// Blocked reading a pipe.
    pub(crate) reading_ns: f64,
    /// Blocked writing a pipe.
    pub(crate) writing_ns: f64,
    /// Blocked on anything else.
    pub(crate) other_ns: f64,
    /// Length of the step.
    pub(crate) length_ns: f64,
}

/// The timeline of a stage, if the record has one.
pub(crate) fn timeline_of<'a>(
    record: &'a RunRecord,
    stage: &StageRecord,
) -> Option<&'a StageTimeline> {
    record.timeline.stages.iter().find(|series| series.stage == stage.stage)
}

/// How many steps the timeline of the run has.
pub(crate) fn count(record: &RunRecord) -> usize {
    record.timeline.stages.iter().map(|series| series.running.len()).max().unwrap_or(0)
}

/// All steps of a stage, from the start of the run.
pub(crate) fn steps(record: &RunRecord, stage: &StageRecord) -> Vec<Step> {
    let Some(series) = timeline_of(record, stage) else {
        return vec![Step::default(); count(record)];
    };
    (0..count(record))
        .map(|place| {
            let length_ns = length_ns(record, place);
            let part = |shares: &[f32]| {
                let percent = shares.get(place).copied().unwrap_or(0.0);
                let percent = f64::from(if percent.is_finite() { percent.max(0.0) } else { 0.0 });
                percent / 100.0 * length_ns
            };
            Step {
                running_ns: part(&series.running),
                runnable_ns: part(&series.runnable),
                reading_ns: part(&series.blocked_reading),
                writing_ns: part(&series.blocked_writing),
                other_ns: part(&series.blocked_other),
                length_ns,
            }
        })
        .collect()
}

/// Length of a step: the last one ends with the run.
fn length_ns(record: &RunRecord, place: usize) -> f64 {
    let timeline = &record.timeline;
    let from_ns = (place as u64).saturating_mul(timeline.step_ns).saturating_add(timeline.start_ns);
    timeline.step_ns.min(record.elapsed_ns.saturating_sub(from_ns)) as f64
}

/// Bytes of each step, padded with zeros to the length of the timeline.
pub(crate) fn padded(bytes: &[u64], steps: usize) -> Vec<u64> {
    (0..steps).map(|place| bytes.get(place).copied().unwrap_or(0)).collect()
}

/// The nearest whole number of nanoseconds.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rounded on purpose")]
pub(crate) fn whole(ns: f64) -> u64 {
    ns.round().max(0.0) as u64
}
