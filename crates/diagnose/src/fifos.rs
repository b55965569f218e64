//! Waits for the other side of a FIFO: whose time they are.

use fullbore_record::Cause;

use super::flow::{Doing, StageFlow, part_ns};

const FIFO: Doing = Doing::Waiting(Cause::FifoPeer);

/// Counts what stages waited for the other side of a FIFO as their own time, as far as no other stage beside them had time
/// of its own: then it is no other stage that opened its side late.
pub(super) fn claim(stages: &mut [StageFlow<'_>]) {
    let claims: Vec<f64> = (0..stages.len()).map(|index| unclaimed_ns(stages, index)).collect();
    for (stage, claim_ns) in stages.iter_mut().zip(claims) {
        stage.own.retain(|(doing, _)| *doing != FIFO);
        stage.own.push((FIFO, claim_ns));
        stage.own.retain(|(_, ns)| *ns > 0.0);
        stage.own.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
}

/// The part of a stage's waits for FIFOs that the work of the stages beside it does not fill.
fn unclaimed_ns(stages: &[StageFlow<'_>], index: usize) -> f64 {
    let stage = &stages[index];
    let percent = stage.stage.blocked_other_causes.get(&Cause::FifoPeer);
    let waits_ns = percent.map_or(0.0, |percent| part_ns(*percent, stage.life_ns));
    let others = stages.iter().enumerate().filter(|(other, _)| *other != index);
    let beside_ns: f64 = others.map(|(_, other)| works_beside_ns(other, stage)).sum();
    (waits_ns - beside_ns).max(0.0)
}

/// How long `other` had time of its own during the life of `stage`, if that is spread evenly over its life.
fn works_beside_ns(other: &StageFlow<'_>, stage: &StageFlow<'_>) -> f64 {
    let work_ns = other.own_ns() - own_fifo_ns(other);
    let share = if other.life_ns > 0.0 { work_ns / other.life_ns } else { 0.0 };
    share.min(1.0) * other.together_ns(stage).max(0.0)
}

fn own_fifo_ns(stage: &StageFlow<'_>) -> f64 {
    stage.own.iter().filter(|(doing, _)| *doing == FIFO).map(|(_, ns)| ns).sum()
}
