//! Local sockets that join two parts of a run: no pipe shows that they belong together.

use std::collections::BTreeSet;

use fullbore_record::{Cause, RunRecord, StageRecord};

/// The other part must be on a CPU for this share of the wait to be what is waited for.
const EXPLAINS: f64 = 0.5;

/// Whether a wait of `socket_ns` on a local socket was probably for another stage of the run: one that no pipe joins to
/// this stage waited on a local socket, too, and in its part of the run a stage was busy for that long.
pub(super) fn is_for_a_stage(
    record: &RunRecord,
    stage: &StageRecord,
    socket_ns: f64,
    busy_ns: impl Fn(&StageRecord) -> f64,
) -> bool {
    let part = part_of(record, stage.stage);
    let waits = |stage: &&StageRecord| {
        stage.blocked_other_causes.get(&Cause::LocalSocket).is_some_and(|&p| p > 0.0)
    };
    record.stages.iter().filter(waits).any(|partner| {
        let other = part_of(record, partner.stage);
        let is_busy =
            |s: &StageRecord| other.contains(&s.stage) && busy_ns(s) >= EXPLAINS * socket_ns;
        !part.contains(&partner.stage) && record.stages.iter().any(is_busy)
    })
}

/// The numbers of the stages that pipes join to this one, its own among them.
fn part_of(record: &RunRecord, number: u32) -> BTreeSet<u32> {
    let mut part = BTreeSet::from([number]);
    loop {
        let before = part.len();
        for pipe in &record.pipes {
            let ends = || pipe.writers.iter().chain(&pipe.readers);
            if ends().any(|end| part.contains(end)) {
                part.extend(ends());
            }
        }
        if part.len() == before {
            return part;
        }
    }
}
