//! What a screen shows, digested from a snapshot.

use fullbore_measure::Bytes;
use fullbore_record::Cause;

use crate::recent::{Activity, Flow};

/// A whole pipeline, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shown {
    pub(crate) elapsed_ns: u64,
    pub(crate) cpus: u32,
    /// CPU seconds per second, over the last second.
    pub(crate) cpus_in_use: f64,
    pub(crate) stages: Vec<ShownStage>,
    pub(crate) verdict: Option<Verdict>,
}

/// One stage, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ShownStage {
    pub(crate) number: u32,
    pub(crate) command: String,
    pub(crate) is_alive: bool,
    pub(crate) exit_status: Option<i32>,
    pub(crate) activity: Activity,
    /// What it waited for most in its life so far, when not for a pipe.
    pub(crate) cause: Option<Cause>,
    /// `None` when Linux does not count how it moves data.
    pub(crate) flow: Option<Flow>,
    pub(crate) handled: Option<Bytes>,
    pub(crate) pipe: Option<ShownPipe>,
}

/// The pipe from a stage to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ShownPipe {
    pub(crate) fill_bytes: Option<u64>,
    pub(crate) capacity_bytes: Option<u64>,
    pub(crate) is_tuned: bool,
}

/// The first finding.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) stage: Option<u32>,
    pub(crate) message: String,
    pub(crate) advice: String,
}
