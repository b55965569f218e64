//! What a record does not say, found by replaying it: what other programs took from the CPUs, and how much the stages do in one
//! go.

use fullbore_record::RunRecord;

use crate::cpus::First;
use crate::model::Model;
use crate::replay::{Replayed, Waits, replay};
use crate::steps::steps;

/// Both sides of a pipe must have waited for this part of the run more than in the replay.
const UNEXPLAINED: f64 = 0.06;

/// A batch is taken for another one only if the error falls below this part of the one before.
const BETTER: f64 = 0.9;

/// Batches that are tried lie between a quarter of the pipe and so many times its capacity …
const LARGEST: f64 = 256.0;

/// … each larger than the one before by this factor.
const STEP: f64 = 1.25;

/// Around the best of those tried in large steps, so many are tried on both sides.
const NEAR: i32 = 2;

/// An error up to so many times the least one is as good …
const AS_GOOD: f64 = 4.0;

/// … and one up to this: waits that differ by 6 % of the run.
const GOOD: f64 = 4e-3;

/// At most this part of the CPUs is lost to other programs; less when it is known for how long CPUs had nothing to do.
const OTHERS: f64 = 0.95;

/// What is lost matters if the largest loss makes the run longer by this factor.
const MATTERS: f64 = 1.01;

/// So often an interval is halved to find how much is lost.
const HALVINGS: usize = 10;

/// What was recorded and must come out of the replay.
struct Recorded {
    span_ns: f64,
    /// Time in which stages waited for a CPU, added up.
    runnable_ns: f64,
    /// At most this part of the CPUs was lost to other programs.
    others: f64,
    /// How long the sides of each pipe waited at it, where that was seen.
    pipes: Vec<Option<Waits>>,
}

/// One of the two sides of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Writer,
    Reader,
}

/// The models that explain the record: with what is lost of the CPUs and with the batches of the stages. There are more than one
/// when both sides of pipes explain the waits about equally well, and when there are more stages than CPUs.
pub(crate) fn fit(mut model: Model, record: &RunRecord) -> Vec<Model> {
    let recorded = Recorded::of(record);
    let mut fitted = with_batches(&model, &recorded);
    let wanted: f64 = model.stages.iter().map(|stage| stage.width).sum();
    if model.cpus > 0.0 && wanted > model.cpus {
        model.first = First::Reader;
        fitted.extend(with_batches(&model, &recorded));
    }
    fitted.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    fitted.into_iter().map(|(_, model)| model).collect()
}

/// Those of one order on the CPUs, each with its error.
fn with_batches(model: &Model, recorded: &Recorded) -> Vec<(f64, Model)> {
    let mut model = model.clone();
    losses(&mut model, recorded);
    let mut fitted: Vec<(f64, Model)> = [Side::Writer, Side::Reader]
        .into_iter()
        .filter_map(|side| {
            let mut model = model.clone();
            batches(&mut model, recorded, side).then_some(())?;
            losses(&mut model, recorded);
            Some((recorded.error(&replay(&model)), model))
        })
        .collect();
    let least = fitted.iter().map(|(error, _)| *error).fold(f64::INFINITY, f64::min);
    fitted.retain(|(error, _)| *error <= (least * AS_GOOD).max(GOOD));
    if fitted.is_empty() {
        fitted.push((recorded.error(&replay(&model)), model));
    }
    fitted
}

/// Sets how much of the CPUs is lost: stages waited for a CPU longer than they make each other wait, and the run took longer.
///
/// As much is lost as can be without more waits or a longer run than recorded.
fn losses(model: &mut Model, recorded: &Recorded) {
    model.lost_to_others = 0.0;
    if model.cpus == 0.0 {
        return;
    }
    let without_ns = replay(model).elapsed_ns;
    let is_too_much = |replayed: &Replayed| {
        replayed.runnable_ns > recorded.runnable_ns || replayed.elapsed_ns > recorded.span_ns
    };
    let (mut least, mut most) = (0.0, recorded.others);
    model.lost_to_others = most;
    let replayed = replay(model);
    if replayed.elapsed_ns <= MATTERS * without_ns {
        model.lost_to_others = 0.0;
        return;
    }
    if !is_too_much(&replayed) {
        return;
    }
    for _ in 0..HALVINGS {
        model.lost_to_others = f64::midpoint(least, most);
        if is_too_much(&replay(model)) {
            most = model.lost_to_others;
        } else {
            least = model.lost_to_others;
        }
    }
    model.lost_to_others = least;
}

/// Sets the batches of stages at pipes whose two sides waited for each other more than system calls explain; says whether it
/// changed any.
///
/// A stage that computes for a whole megabyte before it writes any of it makes its reader wait meanwhile, and then waits for
/// it. Steps of the timeline are too long to show that. Both waits together tell how large the burst is.
fn batches(model: &mut Model, recorded: &Recorded, side: Side) -> bool {
    let mut best = replay(model);
    for round in 0..model.pipes.len() {
        let unexplained = |pipe: usize| {
            let both = |waits: Waits| waits.writer_ns.min(waits.reader_ns);
            recorded.pipes[pipe].map_or(0.0, |waits| both(waits) - both(best.pipes[pipe]))
        };
        let worst =
            (0..model.pipes.len()).max_by(|&a, &b| unexplained(a).total_cmp(&unexplained(b)));
        let worst = worst.filter(|&pipe| unexplained(pipe) > UNEXPLAINED * recorded.span_ns);
        let found = worst.and_then(|pipe| better(model, (pipe, side), recorded, &best));
        let Some((stage, batch_bytes)) = found else { return round > 0 };
        model.stages[stage].batch_bytes = batch_bytes;
        best = replay(model);
    }
    true
}

/// The stage on this side of a pipe and its batch with which the replay comes nearest to the record.
fn better(
    model: &Model,
    (pipe, side): (usize, Side),
    recorded: &Recorded,
    now: &Replayed,
) -> Option<(usize, u64)> {
    let capacity = model.pipes[pipe].capacity[0].1 as f64;
    let has_end = |place: &usize| {
        let stage = &model.stages[*place];
        let ports = if side == Side::Writer { &stage.outputs } else { &stage.inputs };
        ports.iter().any(|port| port.pipe == pipe)
    };
    let mut best = Best { error: BETTER * recorded.error(now), found: None };
    for stage in (0..model.stages.len()).filter(has_end) {
        let mut tried = model.clone();
        let mut attempt = |best: &mut Best, batch: f64| {
            tried.stages[stage].batch_bytes = crate::steps::whole(batch);
            let error = recorded.error(&replay(&tried));
            if error < best.error {
                *best = Best { error, found: Some((stage, batch)) };
            }
        };
        // First in large steps, then in small ones around the best.
        let mut batch = capacity / 4.0;
        while batch <= LARGEST * capacity {
            attempt(&mut best, batch);
            batch *= STEP.powi(2 * NEAR);
        }
        let Some((_, around)) = best.found.filter(|(found, _)| *found == stage) else { continue };
        for step in 1..=NEAR {
            attempt(&mut best, around * STEP.powi(step));
            attempt(&mut best, around / STEP.powi(step));
        }
    }
    best.found.map(|(stage, batch)| (stage, crate::steps::whole(batch)))
}

/// The least error so far, and the stage and its batch with which it comes about.
struct Best {
    error: f64,
    found: Option<(usize, f64)>,
}

impl Recorded {
    fn of(record: &RunRecord) -> Self {
        let waits = |pipe: &fullbore_record::PipeRecord| {
            let part = |percent: Option<f64>| Some(percent? / 100.0 * pipe.life_ns as f64);
            Some(Waits {
                writer_ns: part(pipe.writer_blocked_percent)?,
                reader_ns: part(pipe.reader_blocked_percent)?,
            })
        };
        let stages = record.stages.iter().flat_map(|stage| steps(record, stage));
        Self {
            span_ns: record.elapsed_ns as f64,
            runnable_ns: stages.map(|step| step.runnable_ns).sum(),
            others: others(record),
            pipes: record.pipes.iter().map(waits).collect(),
        }
    }

    /// How far a replay is from the record.
    fn error(&self, replayed: &Replayed) -> f64 {
        let square = |ns: f64| (ns / self.span_ns).powi(2);
        let pipes = replayed.pipes.iter().zip(&self.pipes);
        let waits = pipes.filter_map(|(now, then)| Some((now, (*then)?))).map(|(now, then)| {
            square(now.writer_ns - then.writer_ns) + square(now.reader_ns - then.reader_ns)
        });
        2.0 * square(replayed.elapsed_ns - self.span_ns) + waits.sum::<f64>()
    }
}

/// The part of the CPU time in use that was not used by the stages.
fn others(record: &RunRecord) -> f64 {
    let (Some(idle_ns), Some(stages_ns)) = (record.idle_cpu_ns, record.cpu_ns) else {
        return OTHERS;
    };
    let used_ns = f64::from(record.host.cpus) * record.elapsed_ns as f64 - idle_ns as f64;
    if used_ns > 0.0 { (1.0 - stages_ns as f64 / used_ns).clamp(0.0, OTHERS) } else { OTHERS }
}
