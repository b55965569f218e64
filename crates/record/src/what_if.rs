//! What was predicted about the run: how long it would have taken with one thing changed.

use serde::{Deserialize, Serialize};

use crate::{Extra, Name};

/// How long the run would have taken with one thing changed, for each change that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WhatIfRecord {
    /// Time that a replay of the unchanged run takes. If it is far from the time of the run, do not trust the rest.
    pub replayed_ns: u64,
    /// What limits the unchanged run.
    pub limit: LimitRecord,
    /// One for each change, the shortest time first.
    pub predictions: Vec<PredictionRecord>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How long the run would have taken with one change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PredictionRecord {
    /// What is different.
    pub change: ChangeRecord,
    /// The same in words.
    pub text: String,
    /// Time that the run would have taken.
    pub elapsed_ns: u64,
    /// What would have limited it.
    pub limit: LimitRecord,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One thing about a run that is different.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangeRecord {
    /// What kind of change it is.
    pub kind: ChangeKind,
    /// The stage that is different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
    /// The pipe that is different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipe: Option<u32>,
    /// Capacity of the pipe, or of all pipes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_bytes: Option<u64>,
    /// What the buffer stores at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_bytes: Option<u64>,
    /// Number of CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// Stages that are so many times as fast, all at the same time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faster: Vec<SpeedRecord>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A stage that is faster or slower.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SpeedRecord {
    /// The stage.
    pub stage: u32,
    /// It needs its CPU time divided by this.
    pub times: f64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The kinds of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// A stage needs half its CPU time.
    #[default]
    TwiceAsFast,
    /// A stage needs no CPU time.
    InfinitelyFast,
    /// The input of a stage is dealt out to two copies.
    OnTwoCpus,
    /// A pipe has this capacity from the start.
    PipeOf,
    /// All pipes between stages have this capacity from the start.
    AllPipesOf,
    /// `fullbore buffer` stands in the place of a pipe.
    BufferOf,
    /// The machine has so many CPUs.
    Cpus,
    /// Stages are so many times as fast.
    Faster,
    /// A kind that a later version has a name for.
    #[serde(untagged)]
    Other(Name),
}

/// What a run waits for most.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LimitRecord {
    /// What kind of limit it is.
    pub kind: LimitKind,
    /// The stage that is the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<u32>,
    /// The pipe at which two stages wait for each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipe: Option<u32>,
    /// The same in words.
    pub text: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The kinds of limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// The computing of a stage.
    #[default]
    Stage,
    /// A stage that itself waits for a disk, a network or a timer.
    Waiting,
    /// More stages want to run than there are CPUs.
    Cpus,
    /// The two sides of a pipe wait for each other in turn.
    Pipe,
    /// What feeds or reads the pipeline from outside.
    Outside,
    /// A kind that a later version has a name for.
    #[serde(untagged)]
    Other(Name),
}
