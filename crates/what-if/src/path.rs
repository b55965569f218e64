//! What a replayed run waited for: the chain of stages, from the end of the run back to its start, of which each waited for the
//! next.

use crate::limit::Limit;
use crate::model::{Model, Start};
use crate::replay::Replayed;

/// CPUs are the limit when the lack of them costs this part of the run.
const STARVED: f64 = 0.2;

/// Stages take turns when each of them is waited for, and waits, at least for this part of the run …
const TURNS: f64 = 0.15;

/// … and they change places at least so often.
const CHANGES: usize = 8;

/// Time of the run for which each stage was waited for.
pub(crate) struct Path {
    pub(crate) stages_ns: Vec<f64>,
    /// How often the wait went over from one side of each pipe to the other.
    changes: Vec<usize>,
}

/// Follows the waits back from the end of the stage that ended last.
pub(crate) fn path(model: &Model, replayed: &Replayed) -> Path {
    let stages = &replayed.stages;
    let mut path = Path { stages_ns: vec![0.0; stages.len()], changes: vec![0; model.pipes.len()] };
    let inside = (0..stages.len()).filter(|&stage| model.stages[stage].number.is_some());
    let last = inside.max_by(|&a, &b| stages[a].end_ns.total_cmp(&stages[b].end_ns));
    let Some(mut stage) = last else { return path };
    let mut now_ns = stages[stage].end_ns;
    let mut unused: Vec<usize> = stages.iter().map(|life| life.blocks.len()).collect();
    loop {
        // Each wait is used once, so the way back ends.
        while unused[stage] > 0 && stages[stage].blocks[unused[stage] - 1].to_ns > now_ns {
            unused[stage] -= 1;
        }
        if unused[stage] > 0 {
            unused[stage] -= 1;
            let block = stages[stage].blocks[unused[stage]];
            path.stages_ns[stage] += now_ns - block.to_ns;
            path.changes[block.pipe] += 1;
            (stage, now_ns) = (block.by, block.to_ns);
            continue;
        }
        path.stages_ns[stage] += (now_ns - stages[stage].start_ns).max(0.0);
        match model.stages[stage].start {
            Start::After(other, _) if stages[other].end_ns < now_ns => {
                (stage, now_ns) = (other, stages[other].end_ns);
            }
            _ => return path,
        }
    }
}

/// What a replayed run waited for most.
pub(crate) fn limit(model: &Model, replayed: &Replayed) -> Limit {
    let path = path(model, replayed);
    let span_ns = replayed.elapsed_ns;
    if replayed.starved_ns >= STARVED * span_ns && span_ns > 0.0 {
        return Limit::Cpus;
    }
    if let Some(number) = turns(model, replayed, &path) {
        return Limit::Pipe(number);
    }
    let longest =
        (0..model.stages.len()).max_by(|&a, &b| path.stages_ns[a].total_cmp(&path.stages_ns[b]));
    let Some(stage) = longest.map(|place| &model.stages[place]) else { return Limit::Outside };
    let Some(number) = stage.number else { return Limit::Outside };
    let waits_ns: f64 = stage.steps.iter().map(|work| work.wait_ns).sum();
    let runs_ns: f64 = stage.steps.iter().map(|work| work.cpu_ns).sum::<f64>() / stage.width;
    if waits_ns > runs_ns { Limit::Waiting(number) } else { Limit::Stage(number) }
}

/// The pipe on which most time is lost to turns.
fn turns(model: &Model, replayed: &Replayed, path: &Path) -> Option<u32> {
    let span_ns = replayed.elapsed_ns;
    let lost_ns = |pipe: usize| {
        let side = |writes: bool| {
            let has_end = |place: &usize| {
                let stage = &model.stages[*place];
                let ports = if writes { &stage.outputs } else { &stage.inputs };
                ports.iter().any(|port| port.pipe == pipe)
            };
            let places = (0..model.stages.len()).filter(has_end);
            places.map(|place| path.stages_ns[place]).fold(0.0, f64::max)
        };
        let waits = replayed.pipes[pipe];
        side(true).min(side(false)).min(waits.writer_ns).min(waits.reader_ns)
    };
    let worst = (0..model.pipes.len())
        .filter(|&pipe| path.changes[pipe] >= CHANGES)
        .map(|pipe| (pipe, lost_ns(pipe)))
        .max_by(|(_, a), (_, b)| a.total_cmp(b));
    worst.filter(|(_, ns)| *ns >= TURNS * span_ns).map(|(pipe, _)| model.pipes[pipe].number)
}
