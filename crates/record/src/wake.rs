//! What `run --keep-awake` did.

use serde::{Deserialize, Serialize};

use crate::{Extra, Outcome};

/// What `run --keep-awake` did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeepAwakeRecord {
    /// Why CPUs could not be kept awake in this run at all, in a few words; `None` when they could.
    pub ruled_out: Option<String>,
    /// CPU time that the threads which kept CPUs awake used. Everything else had precedence over them.
    pub cpu_ns: u64,
    /// How often it was tried, and what came of it.
    pub trials: Vec<KeepAwakeTrial>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One time in which idle CPUs were kept awake.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeepAwakeTrial {
    /// When it began, from the start of the run.
    pub at_ns: u64,
    /// How long it lasted.
    pub lasted_ns: u64,
    /// Whether it was kept or put back when it was judged.
    pub outcome: Outcome,
    /// Bytes that the stages read and wrote per second, against just before; `None` when it ended before it was judged.
    pub speed_percent: Option<f64>,
    /// Why it ended, in a few words.
    pub reason: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl KeepAwakeTrial {
    /// A trial that began `at_ns` nanoseconds after the start of the run and lasted `lasted_ns`.
    #[must_use]
    pub fn new(at_ns: u64, lasted_ns: u64, outcome: Outcome, reason: impl Into<String>) -> Self {
        Self {
            at_ns,
            lasted_ns,
            outcome,
            speed_percent: None,
            reason: reason.into(),
            extra: Extra::new(),
        }
    }
}
