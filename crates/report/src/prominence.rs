//! Which stages matter most when there is no room for all.

use std::collections::BTreeSet;

use fullbore_record::{RunRecord, StageRecord};

use crate::figures::share;

/// The stage that the verdict is about.
pub(crate) fn verdict_stage(record: &RunRecord) -> Option<u32> {
    record.findings.first().and_then(|finding| finding.stage)
}

/// Positions in `record.stages` of at most `limit` stages worth showing, in the order of the record:
/// those of the findings, the first and the last, those that failed, and then the busiest.
pub(crate) fn prominent(record: &RunRecord, limit: usize) -> Vec<usize> {
    let all = record.stages.len();
    if all <= limit {
        return (0..all).collect();
    }
    let named: BTreeSet<u32> = record.findings.iter().filter_map(|finding| finding.stage).collect();
    let verdict = verdict_stage(record);
    let importance = |position: usize| -> f64 {
        let stage = &record.stages[position];
        let mut weight = share(stage.running_percent);
        if has_failed(stage) {
            weight += 200.0;
        }
        if position == 0 || position + 1 == all {
            weight += 400.0;
        }
        if named.contains(&stage.stage) {
            weight += 800.0;
        }
        if verdict == Some(stage.stage) {
            weight += 1600.0;
        }
        weight
    };
    let mut positions: Vec<usize> = (0..all).collect();
    positions.sort_by(|a, b| importance(*b).total_cmp(&importance(*a)));
    positions.truncate(limit);
    positions.sort_unstable();
    positions
}

/// Whether the stage ended with something else than success.
pub(crate) fn has_failed(stage: &StageRecord) -> bool {
    stage.exit_status.is_some_and(|status| status != 0)
}
