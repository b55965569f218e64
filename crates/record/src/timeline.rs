//! What a run did over time.

use serde::{Deserialize, Serialize};

use crate::{Extra, Name};

/// Shares of each stage over time, in steps of equal length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Timeline {
    /// Start of the first step, from the start of the run.
    pub start_ns: u64,
    /// Length of a step.
    pub step_ns: u64,
    /// One entry for each stage of the record.
    pub stages: Vec<StageTimeline>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The timeline of one stage: one number for each step.
///
/// The five shares are percentages of the step; they add up to the part of it in which the stage lived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageTimeline {
    /// Number of the stage.
    pub stage: u32,
    /// At least one thread was on a CPU, in percent.
    pub running: Vec<f32>,
    /// None was, at least one waited for a CPU, in percent.
    pub runnable: Vec<f32>,
    /// Blocked reading a pipe, in percent.
    pub blocked_reading: Vec<f32>,
    /// Blocked writing a pipe, in percent.
    pub blocked_writing: Vec<f32>,
    /// Blocked on anything else, in percent.
    pub blocked_other: Vec<f32>,
    /// Bytes read in the step, as far as Linux counts them.
    pub read_bytes: Vec<u64>,
    /// Bytes written in the step, as far as Linux counts them.
    pub written_bytes: Vec<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the shares of stages and pipes were computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SharesFrom {
    /// From samples of what each task was doing.
    #[default]
    Samples,
    /// From every switch of a task between running and waiting.
    Switches,
    /// Something that a later version has a name for.
    #[serde(untagged)]
    Other(Name),
}
