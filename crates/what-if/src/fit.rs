//! What a record does not say, found by replaying it: what other programs took from the CPUs, and how much the stages do in one
//! go.

use fullbore_record::RunRecord;

use crate::model::Model;
use crate::replay::{Replayed, Waits, replay};
use crate::steps;

/// Both sides of a pipe must have waited for this part of the run more than in the replay.
const UNEXPLAINED: f64 = 0.02;

/// A batch is taken for another one only if the error falls below this part of the one before.
const BETTER: f64 = 0.9;

/// Batches that are tried lie between a quarter of the pipe and so many times its capacity …
const LARGEST: f64 = 256.0;

/// … each larger than the one before by this factor.
const STEP: f64 = 1.25;

/// For each CPU, other programs are taken to want at most so many more.
const STRANGERS: f64 = 8.0;

/// So often an interval is halved to find how much others take.
const HALVINGS: usize = 12;

/// What was recorded and must come out of the replay.
struct Recorded {
    span_ns: f64,
    /// Time in which stages waited for a CPU, added up.
    runnable_ns: f64,
    /// How long the sides of each pipe waited at it, where that was seen.
    pipes: Vec<Option<Waits>>,
}

/// Sets what other programs take from the CPUs and the batches of the stages.
pub(crate) fn fit(model: &mut Model, record: &RunRecord) {
    let recorded = Recorded::of(record);
    strangers(model, &recorded);
    if batches(model, &recorded) {
        strangers(model, &recorded);
    }
}

/// Sets how much of the CPUs other programs take: stages waited for a CPU, although they wanted no more than there are.
fn strangers(model: &mut Model, recorded: &Recorded) {
    let (mut least, mut most) = (0.0, STRANGERS * model.cpus);
    model.strangers = 0.0;
    if model.cpus == 0.0 || replay(model).runnable_ns >= recorded.runnable_ns {
        return;
    }
    for _ in 0..HALVINGS {
        model.strangers = f64::midpoint(least, most);
        if replay(model).runnable_ns < recorded.runnable_ns {
            least = model.strangers;
        } else {
            most = model.strangers;
        }
    }
}

/// Sets the batches of stages at pipes whose two sides waited for each other more than system calls explain; says whether it
/// changed any.
///
/// A stage that computes for a whole megabyte before it writes any of it makes its reader wait meanwhile, and then waits for
/// it. Steps of the timeline are too long to show that. Both waits together tell how large the burst is.
fn batches(model: &mut Model, recorded: &Recorded) -> bool {
    let mut best = replay(model);
    for round in 0..model.pipes.len() {
        let unexplained = |pipe: usize| {
            let both = |waits: Waits| waits.writer_ns.min(waits.reader_ns);
            recorded.pipes[pipe].map_or(0.0, |waits| both(waits) - both(best.pipes[pipe]))
        };
        let worst =
            (0..model.pipes.len()).max_by(|&a, &b| unexplained(a).total_cmp(&unexplained(b)));
        let worst = worst.filter(|&pipe| unexplained(pipe) > UNEXPLAINED * recorded.span_ns);
        let found = worst.and_then(|pipe| better(model, pipe, recorded, &best));
        let Some((stage, batch_bytes)) = found else { return round > 0 };
        model.stages[stage].batch_bytes = batch_bytes;
        best = replay(model);
    }
    true
}

/// The stage at a pipe and its batch with which the replay comes nearest to the record.
fn better(model: &Model, pipe: usize, recorded: &Recorded, now: &Replayed) -> Option<(usize, u64)> {
    let capacity = model.pipes[pipe].capacity[0].1 as f64;
    let has_end = |place: &usize| {
        let stage = &model.stages[*place];
        stage.inputs.iter().chain(&stage.outputs).any(|port| port.pipe == pipe)
    };
    let mut least = BETTER * recorded.error(now);
    let mut found = None;
    for stage in (0..model.stages.len()).filter(has_end) {
        let mut tried = model.clone();
        let mut batch = capacity / 4.0;
        while batch <= LARGEST * capacity {
            tried.stages[stage].batch_bytes = crate::whole(batch);
            let error = recorded.error(&replay(&tried));
            if error < least {
                least = error;
                found = Some((stage, crate::whole(batch)));
            }
            batch *= STEP;
        }
    }
    found
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
        let stages = record.stages.iter().flat_map(|stage| steps::steps(record, stage));
        Self {
            span_ns: record.elapsed_ns as f64,
            runnable_ns: stages.map(|step| step.runnable_ns).sum(),
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
