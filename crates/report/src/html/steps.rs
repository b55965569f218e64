//! The timeline of a record, made small enough for a page: neighbouring steps become one.

use fullbore_record::{RunRecord, StageTimeline, Timeline};

use super::shares::Share;
use crate::figures::share;

/// Steps of all stages together that a page holds; 200 stages then have 20 each.
const STEPS_IN_ALL: usize = 4000;

/// Steps of one stage beyond which a screen shows no difference.
const STEPS_OF_A_STAGE: usize = 400;

/// The record with a timeline of at most as many steps as suit a page; says how many steps became one.
pub(super) fn merged(record: &RunRecord) -> (RunRecord, usize) {
    let stages = record.timeline.stages.len().max(1);
    let wanted = (STEPS_IN_ALL / stages).clamp(1, STEPS_OF_A_STAGE);
    let have = count(&record.timeline);
    let factor = have.div_ceil(wanted).max(1);
    let mut record = record.clone();
    if factor > 1 {
        record.timeline.step_ns = record.timeline.step_ns.saturating_mul(factor as u64);
        for line in &mut record.timeline.stages {
            merge(line, factor);
        }
    }
    (record, factor)
}

/// Steps of the longest series.
pub(super) fn count(timeline: &Timeline) -> usize {
    let longest = |line: &StageTimeline| {
        let shares = Share::ALL.iter().map(|share| series(line, *share).len()).max().unwrap_or(0);
        shares.max(line.read_bytes.len()).max(line.written_bytes.len())
    };
    timeline.stages.iter().map(longest).max().unwrap_or(0)
}

/// The series of one share.
pub(super) fn series(line: &StageTimeline, share: Share) -> &[f32] {
    match share {
        Share::Running => &line.running,
        Share::Runnable => &line.runnable,
        Share::Reading => &line.blocked_reading,
        Share::Writing => &line.blocked_writing,
        Share::Other => &line.blocked_other,
    }
}

/// The value of a share in one step, in percent; 0 where the record has none.
pub(super) fn value(line: &StageTimeline, share_of: Share, step: usize) -> f64 {
    series(line, share_of).get(step).map_or(0.0, |value| share(f64::from(*value)))
}

/// Lets `factor` steps of a stage become one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a percentage with one digit after the point fits"
)]
fn merge(line: &mut StageTimeline, factor: usize) {
    let shares = |series: &[f32]| -> Vec<f32> {
        series
            .chunks(factor)
            .map(|chunk| {
                let mean =
                    chunk.iter().map(|value| share(f64::from(*value))).sum::<f64>() / factor as f64;
                // One digit after the point is more than a pixel.
                ((mean * 10.0).round() / 10.0) as f32
            })
            .collect()
    };
    let bytes = |series: &[u64]| -> Vec<u64> {
        series
            .chunks(factor)
            .map(|chunk| chunk.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes)))
            .collect()
    };
    line.running = shares(&line.running);
    line.runnable = shares(&line.runnable);
    line.blocked_reading = shares(&line.blocked_reading);
    line.blocked_writing = shares(&line.blocked_writing);
    line.blocked_other = shares(&line.blocked_other);
    line.read_bytes = bytes(&line.read_bytes);
    line.written_bytes = bytes(&line.written_bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_keeps_bytes_and_mean_shares() {
        let mut line = StageTimeline::default();
        line.running = vec![100.0, 50.0, 20.0];
        line.read_bytes = vec![1, 2, 3];
        merge(&mut line, 2);
        assert_eq!(line.running, [75.0, 10.0]);
        assert_eq!(line.read_bytes, [3, 3]);
    }
}
