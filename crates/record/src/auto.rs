//! What `run --auto` did.

use serde::{Deserialize, Serialize};

use crate::{Extra, Name};

/// What became of a command that `run --auto` offered to make faster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AutoRecord {
    /// The stage; `None` when it was too short to be seen.
    pub stage: Option<u32>,
    /// What was done.
    pub what: AutoWhat,
    /// So much of the input was worked on both ways, and the outputs were the same; `None` where that is not necessary.
    #[serde(default)]
    pub proved_bytes: Option<u64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What was done with a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AutoWhat {
    /// It ran as it is.
    #[default]
    Unchanged,
    /// One copy of it took everything: it never was what the pipeline waited for while a CPU was idle.
    Alone,
    /// Its input was dealt out to several copies.
    Dealt,
    /// The stages were answered as one question.
    Fused,
    /// On the beginning of the input, one question gave another answer than the stages; these ran.
    Differs,
    /// Something that a later version has a name for.
    #[serde(untagged)]
    Other(Name),
}
