//! The run as a replay needs it: what each stage has to do, in order, and the pipes between the stages.

use crate::cpus::First;

/// What Linux gives a pipe. Source: pipe(7).
pub(crate) const PIPE_BYTES: u64 = 64 << 10;

/// The whole run.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) stages: Vec<Stage>,
    pub(crate) pipes: Vec<Pipe>,
    /// CPUs, taken in turn by what wants to run; 0 when there are as many as anybody wants.
    pub(crate) cpus: f64,
    /// Part of their CPU that other programs take from the stages.
    pub(crate) lost_to_others: f64,
    /// Who gets a CPU first of those that wait for one.
    pub(crate) first: First,
}

/// A stage, or what stands outside the pipeline at the other end of a pipe.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    /// Its number in the record; `None` for what stands outside.
    pub(crate) number: Option<u32>,
    pub(crate) start: Start,
    /// CPUs that it uses while it runs.
    pub(crate) width: f64,
    /// What it does, step by step of the timeline.
    pub(crate) steps: Vec<Work>,
    pub(crate) inputs: Vec<Port>,
    pub(crate) outputs: Vec<Port>,
    /// Bytes that it reads, works on and writes in one go.
    pub(crate) batch_bytes: u64,
}

/// When a stage begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Start {
    /// At this time, in nanoseconds from the start of the run.
    At(f64),
    /// So many nanoseconds after another stage ended.
    After(usize, f64),
}

/// What a stage does in one step of the timeline, besides moving bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Work {
    /// CPU time of all its threads.
    pub(crate) cpu_ns: f64,
    /// Time in which it waits for neither a CPU nor another stage.
    pub(crate) wait_ns: f64,
}

/// One end of a pipe, held by a stage.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Port {
    /// Place of the pipe in the model.
    pub(crate) pipe: usize,
    /// Bytes that go through this end in each step.
    pub(crate) bytes: Vec<u64>,
}

/// A pipe.
#[derive(Clone, Debug)]
pub(crate) struct Pipe {
    /// Its number in the record.
    pub(crate) number: u32,
    /// What it holds, from which time on, in nanoseconds; the first time is 0.
    pub(crate) capacity: Vec<(f64, u64)>,
}
