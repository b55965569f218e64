//! Makes the model from the record.

use fullbore_record::{Outcome, PipeRecord, RunRecord, StageRecord};

use crate::cpus::First;
use crate::model::{Model, PIPE_BYTES, Pipe, Port, Stage, Start, Work};
use crate::steps::{self, Step};
use crate::{flows, outside};

/// What a stage reads or writes in one go when its system calls were not counted.
const BATCH_BYTES: u64 = 64 << 10;

/// Bounds of what a stage is taken to do in one go: a page, and what large buffers hold.
const BATCH_RANGE: (u64, u64) = (4 << 10, 1 << 20);

/// A multi-threaded stage that used this part of the CPUs is taken to use as many as it has threads, were there more.
const USES_ALL_CPUS: f64 = 0.8;

/// A stage that began so soon after another one ended began because of that, in nanoseconds. The shell needs a few
/// milliseconds for it.
const SOON_NS: u64 = 30_000_000;

/// Within this time, in nanoseconds, a stage is taken to need the same CPU time for each byte. Linux counts the CPU time of a
/// running thread only now and then, so that in shorter steps a stage that works evenly seems to work in fits and starts.
const GRAIN_NS: u64 = 40_000_000;

impl Model {
    pub(crate) fn of(record: &RunRecord) -> Self {
        let all: Vec<Vec<Step>> =
            record.stages.iter().map(|stage| steps::steps(record, stage)).collect();
        let mut model = Self {
            stages: (0..record.stages.len()).map(|place| stage(record, place, &all)).collect(),
            pipes: record.pipes.iter().map(|one| pipe(record, one)).collect(),
            cpus: f64::from(record.host.cpus),
            lost_to_others: 0.0,
            first: First::Writer,
        };
        flows::connect(&mut model, record);
        outside::add(&mut model, record, &all);
        for (place, steps) in all.iter().enumerate() {
            let stage = &mut model.stages[place];
            // What it waits for at a pipe that the record does not know stays as it was.
            let (no_input, no_output) = (stage.inputs.is_empty(), stage.outputs.is_empty());
            for (work, step) in stage.steps.iter_mut().zip(steps) {
                work.wait_ns += if no_input { step.reading_ns } else { 0.0 };
                work.wait_ns += if no_output { step.writing_ns } else { 0.0 };
            }
        }
        let steps = GRAIN_NS.div_ceil(record.timeline.step_ns.max(1));
        model.smooth(usize::try_from(steps).unwrap_or(1).max(1));
        model
    }

    /// Gives every byte that a stage moves within so many steps the same CPU time.
    fn smooth(&mut self, steps: usize) {
        for stage in &mut self.stages {
            let ports: Vec<&Port> = stage.inputs.iter().chain(&stage.outputs).collect();
            let moved = |step: usize| -> f64 {
                ports.iter().map(|port| port.bytes.get(step).copied().unwrap_or(0) as f64).sum()
            };
            let count = stage.steps.len();
            for first in (0..count).step_by(steps) {
                let grain = (first..count.min(first + steps)).filter(|&step| moved(step) > 0.0);
                let grain: Vec<usize> = grain.collect();
                let bytes: f64 = grain.iter().map(|&step| moved(step)).sum();
                let cpu_ns: f64 = grain.iter().map(|&step| stage.steps[step].cpu_ns).sum();
                for step in grain {
                    stage.steps[step].cpu_ns = cpu_ns * moved(step) / bytes;
                }
            }
        }
    }
}

fn stage(record: &RunRecord, place: usize, all: &[Vec<Step>]) -> Stage {
    let (stage, steps) = (&record.stages[place], &all[place]);
    let running_ns: f64 = steps.iter().map(|step| step.running_ns).sum();
    let is_single = stage.threads <= 1 && stage.processes <= 1;
    let used = if running_ns > 0.0 { stage.cpu_ns as f64 / running_ns } else { 1.0 };
    let used = if is_single { 1.0 } else { used.max(1.0) };
    let threads = f64::from(stage.threads);
    let wants_more = used > 1.0 && used >= USES_ALL_CPUS * f64::from(record.host.cpus.max(1));
    let work = |step: &Step| Work { cpu_ns: step.running_ns * used, wait_ns: step.other_ns };
    Stage {
        number: Some(stage.stage),
        start: start(record, place),
        width: if wants_more { used.max(threads) } else { used },
        steps: steps.iter().map(work).collect(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        batch_bytes: batch_bytes(stage),
    }
}

/// Bytes of an average system call.
fn batch_bytes(stage: &StageRecord) -> u64 {
    let average = |bytes: Option<u64>, calls: Option<u64>| {
        let (bytes, calls) = (bytes?, calls?);
        (bytes > 0 && calls > 0).then(|| bytes / calls)
    };
    let (least, most) = BATCH_RANGE;
    let read = average(stage.read_bytes, stage.read_calls);
    let written = average(stage.written_bytes, stage.write_calls);
    read.max(written).unwrap_or(BATCH_BYTES).clamp(least, most)
}

/// A stage that begins when others end, as in `a | b; c | d`, begins earlier when they do.
fn start(record: &RunRecord, place: usize) -> Start {
    let stage = &record.stages[place];
    let begin_ns = stage.start_ns;
    let ended = record.stages.iter().enumerate().filter_map(|(other, before)| {
        let end_ns = before.start_ns + before.life_ns;
        let is_before = other != place && before.start_ns < begin_ns && end_ns <= begin_ns;
        (is_before && begin_ns - end_ns <= SOON_NS).then_some((other, end_ns))
    });
    match ended.max_by_key(|(_, end_ns)| *end_ns) {
        Some((other, end_ns)) => Start::After(other, (begin_ns - end_ns) as f64),
        None => Start::At(begin_ns as f64),
    }
}

/// A pipe with the capacities that it had.
fn pipe(record: &RunRecord, pipe: &PipeRecord) -> Pipe {
    let known = pipe.initial_capacity_bytes.or(pipe.capacity_bytes);
    let mut capacity = vec![(0.0, known.unwrap_or(PIPE_BYTES).max(1))];
    let kept = record.tuning.iter().filter(|one| one.outcome == Outcome::Kept);
    for change in kept.filter(|one| one.pipe == pipe.pipe) {
        capacity.push((change.at_ns as f64, change.to_bytes.max(1)));
    }
    capacity.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    Pipe { number: pipe.pipe, capacity }
}
