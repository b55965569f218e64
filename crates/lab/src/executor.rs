//! What the runner asks of the world: one trial at a time. The real one starts processes; the one of tests pretends.

use crate::suite::{AnswerFrom, Need, Sink, TimeFrom};
use crate::{EngineError, Job, TrialResult};

/// Runs trials.
pub trait Executor {
    /// What the machine lacks of `need`; `None` when it is there.
    fn missing(&mut self, need: &Need) -> Option<Missing>;

    /// Runs a shell line that makes files for the trials.
    ///
    /// # Errors
    /// Why it failed.
    fn prepare(&mut self, line: &str) -> Result<(), String>;

    /// Runs one trial.
    ///
    /// # Errors
    /// What the machine lacks, or why it failed.
    fn run(&mut self, trial: &Trial) -> Result<TrialResult, EngineError>;

    /// A clock that only goes forward, in nanoseconds.
    fn now_ns(&mut self) -> u64;
}

/// Something that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What.
    pub what: String,
    /// How to get it.
    pub remedy: String,
}

/// One trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trial {
    /// What runs.
    pub program: Program,
    /// What for.
    pub purpose: Purpose,
    /// Where the standard output of a program goes when it is timed.
    pub sink: Sink,
    /// What the time of a program is.
    pub time_from: TimeFrom,
    /// Bytes that a program moves.
    pub bytes: Option<u64>,
    /// Operations that a program does.
    pub operations: Option<u64>,
    /// Time after which it is given up.
    pub limit_ns: u64,
}

/// What runs in a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// An engine of ours, in a process of its own.
    Builtin(Job),
    /// A program with its arguments.
    Words(Vec<String>),
    /// A line for `sh -c`.
    Line(String),
}

/// What a trial is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To warm up, to get the answer and to look at the memory of each process. Its time does not count.
    Check(AnswerFrom),
    /// For its time. The output of a program is not looked at.
    Time,
}
