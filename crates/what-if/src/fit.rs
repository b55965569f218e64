//! How much the stages do in one go, when they wait for each other more than system calls explain.
//!
//! A stage that computes for a whole megabyte before it writes any of it makes its reader wait meanwhile, and then waits for it.
//! Steps of the timeline are too long to show that. Both waits together tell how large the burst is: the replay of the run
//! must take as long, and its stages must wait as long, as was recorded.

use fullbore_record::RunRecord;

use crate::model::Model;
use crate::replay::{Replayed, Waits, replay};

/// Both sides of a pipe must have waited for this part of the run more than in the replay.
const UNEXPLAINED: f64 = 0.02;

/// A batch is taken for another one only if the error falls below this part of the one before.
const BETTER: f64 = 0.9;

/// Batches that are tried lie between a quarter of the pipe and so many times its capacity …
const LARGEST: f64 = 256.0;

/// … each larger than the one before by this factor.
const STEP: f64 = 1.25;

/// Sets the batches of stages at pipes whose two sides waited for each other.
pub(crate) fn fit(model: &mut Model, record: &RunRecord) {
    let recorded = recorded_waits(record);
    let span_ns = record.elapsed_ns as f64;
    let mut best = replay(model);
    for _ in 0..model.pipes.len() {
        let unexplained = |pipe: usize, replayed: &Replayed| {
            let both = |waits: Waits| waits.writer_ns.min(waits.reader_ns);
            recorded[pipe].map_or(0.0, |waits| both(waits) - both(replayed.pipes[pipe]))
        };
        let worst = (0..model.pipes.len())
            .map(|pipe| (pipe, unexplained(pipe, &best)))
            .max_by(|(_, a), (_, b)| a.total_cmp(b));
        let Some((pipe, _)) = worst.filter(|(_, ns)| *ns > UNEXPLAINED * span_ns) else { return };
        let Some((stage, batch_bytes)) = better(model, pipe, &recorded, span_ns, &best) else {
            return;
        };
        model.stages[stage].batch_bytes = batch_bytes;
        best = replay(model);
    }
}

/// The stage at a pipe and its batch with which the replay comes nearest to the record.
fn better(
    model: &Model,
    pipe: usize,
    recorded: &[Option<Waits>],
    span_ns: f64,
    now: &Replayed,
) -> Option<(usize, u64)> {
    let capacity = model.pipes[pipe].capacity[0].1 as f64;
    let has_end = |place: &usize| {
        let stage = &model.stages[*place];
        stage.inputs.iter().chain(&stage.outputs).any(|port| port.pipe == pipe)
    };
    let mut least = BETTER * error(now, recorded, span_ns);
    let mut found = None;
    for stage in (0..model.stages.len()).filter(has_end) {
        let mut tried = model.clone();
        let mut batch = capacity / 4.0;
        while batch <= LARGEST * capacity {
            tried.stages[stage].batch_bytes = crate::whole(batch);
            let error = error(&replay(&tried), recorded, span_ns);
            if error < least {
                least = error;
                found = Some((stage, crate::whole(batch)));
            }
            batch *= STEP;
        }
    }
    found
}

/// How far a replay is from the record.
fn error(replayed: &Replayed, recorded: &[Option<Waits>], span_ns: f64) -> f64 {
    let square = |ns: f64| (ns / span_ns).powi(2);
    let pipes = replayed.pipes.iter().zip(recorded).filter_map(|(now, then)| Some((now, (*then)?)));
    let waits = pipes.map(|(now, then)| {
        square(now.writer_ns - then.writer_ns) + square(now.reader_ns - then.reader_ns)
    });
    2.0 * square(replayed.elapsed_ns - span_ns) + waits.sum::<f64>()
}

/// How long the sides of each pipe waited at it, where that was seen.
fn recorded_waits(record: &RunRecord) -> Vec<Option<Waits>> {
    let waits = |pipe: &fullbore_record::PipeRecord| {
        let part = |percent: Option<f64>| Some(percent? / 100.0 * pipe.life_ns as f64);
        Some(Waits {
            writer_ns: part(pipe.writer_blocked_percent)?,
            reader_ns: part(pipe.reader_blocked_percent)?,
        })
    };
    record.pipes.iter().map(waits).collect()
}
