//! The changes that are tried.

use fullbore_record::RunRecord;

use crate::model::{Model, PIPE_BYTES, Pipe, Port, Stage, Start, Work};

/// The largest pipe that Linux gives an unprivileged user unless it is told otherwise. Source: pipe(7), pipe-max-size.
pub(crate) const LARGE_PIPE_BYTES: u64 = 1 << 20;

/// Room of an elastic buffer between two stages.
pub(crate) const ROOM_BYTES: u64 = 256 << 20;

/// CPU time of `fullbore buffer` for each byte between two pipes, in nanoseconds: 0.10 s for 100 MiB.
/// `fullbore run --report run.json 'head -c 1G /dev/zero | fullbore buffer -m 256M | wc -c'` measures it again.
const BUFFER_NS: f64 = 1.0;

/// Numbers of CPUs that are tried.
const CPUS: [u32; 2] = [4, 16];

/// A stage with less than this part of the run as CPU time is not worth a change.
const WORTH_A_CHANGE: f64 = 0.01;

/// A stage that works faster or slower than it did.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Speed {
    /// The stage, by its number in the record.
    pub stage: u32,
    /// So many times as fast: the stage needs its CPU time divided by this. Above 0; below 1, it is slower.
    pub times: f64,
}

impl Speed {
    /// A stage that works so many times as fast; `None` unless `times` is a number above 0 and not infinite.
    #[must_use]
    pub fn new(stage: u32, times: f64) -> Option<Self> {
        (times > 0.0 && times.is_finite()).then_some(Self { stage, times })
    }
}

/// One thing about a run that is different. Stages and pipes have the numbers of the record.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// All these stages work faster or slower, at the same time.
    Faster(Vec<Speed>),
    /// The stage needs half its CPU time.
    TwiceAsFast(u32),
    /// The stage needs no CPU time.
    InfinitelyFast(u32),
    /// The input of the stage is dealt out to two copies.
    OnTwoCpus(u32),
    /// The pipe has this capacity from the start.
    PipeOf {
        /// The pipe.
        pipe: u32,
        /// Its capacity.
        bytes: u64,
    },
    /// All pipes between stages have this capacity from the start.
    AllPipesOf {
        /// Their capacity.
        bytes: u64,
    },
    /// `fullbore buffer` stands in the place of the pipe and stores up to so much.
    BufferOf {
        /// The pipe.
        pipe: u32,
        /// What the buffer stores at most.
        bytes: u64,
    },
    /// The machine has so many CPUs.
    Cpus(u32),
}

/// All changes that make sense for a run.
pub(crate) fn all(record: &RunRecord, model: &Model) -> Vec<Change> {
    let mut changes = Vec::new();
    for stage in &model.stages {
        let Some(number) = stage.number else { continue };
        let cpu_ns: f64 = stage.steps.iter().map(|work| work.cpu_ns).sum();
        if cpu_ns >= WORTH_A_CHANGE * record.elapsed_ns as f64 {
            changes.extend([
                Change::TwiceAsFast(number),
                Change::InfinitelyFast(number),
                Change::OnTwoCpus(number),
            ]);
        }
    }
    let joins = |place: usize| {
        let has_end = |ports: &[crate::model::Port]| ports.iter().any(|port| port.pipe == place);
        let inside = || model.stages.iter().filter(|stage| stage.number.is_some());
        inside().any(|stage| has_end(&stage.outputs))
            && inside().any(|stage| has_end(&stage.inputs))
    };
    let inner: Vec<usize> = (0..model.pipes.len()).filter(|&place| joins(place)).collect();
    let is_small =
        |place: usize| model.pipes[place].capacity.iter().any(|(_, b)| *b < LARGE_PIPE_BYTES);
    for &place in &inner {
        let pipe = model.pipes[place].number;
        if is_small(place) {
            changes.push(Change::PipeOf { pipe, bytes: LARGE_PIPE_BYTES });
        }
        changes.push(Change::BufferOf { pipe, bytes: ROOM_BYTES });
    }
    if inner.iter().filter(|&&place| is_small(place)).count() > 1 {
        changes.push(Change::AllPipesOf { bytes: LARGE_PIPE_BYTES });
    }
    let has = record.host.cpus;
    changes.extend(CPUS.into_iter().filter(|&cpus| has > 0 && cpus > has).map(Change::Cpus));
    changes
}

impl Change {
    /// The model with this change.
    pub(crate) fn made_in(&self, model: &Model) -> Model {
        let mut changed = model.clone();
        match *self {
            Self::Faster(ref speeds) => {
                speeds.iter().for_each(|speed| changed.slow_down(speed.stage, 1.0 / speed.times));
            }
            Self::TwiceAsFast(stage) => changed.slow_down(stage, 0.5),
            Self::InfinitelyFast(stage) => changed.slow_down(stage, 0.0),
            Self::OnTwoCpus(number) => {
                let stages = changed.stages.iter_mut();
                for stage in stages.filter(|stage| stage.number == Some(number)) {
                    stage.width *= 2.0;
                }
            }
            Self::PipeOf { pipe, bytes } => changed.widen(Some(pipe), bytes),
            Self::AllPipesOf { bytes } => changed.widen(None, bytes),
            Self::BufferOf { pipe, bytes } => changed.put_buffer(pipe, bytes),
            Self::Cpus(cpus) => changed.cpus = f64::from(cpus),
        }
        changed
    }
}

impl Model {
    fn slow_down(&mut self, number: u32, factor: f64) {
        for stage in self.stages.iter_mut().filter(|stage| stage.number == Some(number)) {
            stage.steps.iter_mut().for_each(|work| work.cpu_ns *= factor);
        }
    }

    /// Puts a buffer with this room between the two sides of a pipe: the pipe leads into it, and another one with the room
    /// leads out of it.
    fn put_buffer(&mut self, number: u32, bytes: u64) {
        let Some(place) = self.pipes.iter().position(|pipe| pipe.number == number) else { return };
        let behind = self.pipes.len();
        let mut total = 0;
        for stage in &mut self.stages {
            for port in stage.inputs.iter_mut().filter(|port| port.pipe == place) {
                port.pipe = behind;
                total += port.bytes.iter().sum::<u64>();
            }
        }
        let out = PIPE_BYTES + bytes;
        self.pipes.push(Pipe { number: 0, capacity: vec![(0.0, out)] });
        let port = |pipe: usize| Port { pipe, bytes: vec![total] };
        self.stages.push(Stage {
            number: None,
            start: Start::At(0.0),
            width: 1.0,
            steps: vec![Work { cpu_ns: total as f64 * BUFFER_NS, wait_ns: 0.0 }],
            inputs: vec![port(place)],
            outputs: vec![port(behind)],
            batch_bytes: PIPE_BYTES,
        });
    }

    /// Gives a pipe, or all pipes, at least this capacity.
    fn widen(&mut self, number: Option<u32>, bytes: u64) {
        for pipe in self.pipes.iter_mut().filter(|one| number.is_none_or(|n| n == one.number)) {
            pipe.capacity.iter_mut().for_each(|(_, capacity)| *capacity = bytes.max(*capacity));
        }
    }
}
