//! What a run shows, and what to do about it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{AdvicePart, Extra, Name};

/// Something the run shows, with its evidence and what to do about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of finding it is.
    pub kind: FindingKind,
    /// The stage it is about.
    pub stage: Option<u32>,
    /// The pipe it is about.
    pub pipe: Option<u32>,
    /// One sentence.
    pub message: String,
    /// What to do, as text to read and commands to paste; empty when there is nothing to do.
    pub advice: Vec<AdvicePart>,
    /// The best possible time of the run, when the finding is about a stage that nearly reaches it.
    #[serde(default)]
    pub best_time_ns: Option<u64>,
    /// How sure it is that the finding is about the right stage, in percent: against the other stage that comes nearest
    /// to it, by how much the times of both would differ in another run and by what samples cannot tell. `None` for
    /// a finding that does not choose between stages, and where there is no other stage.
    #[serde(default)]
    pub confidence_percent: Option<f64>,
    /// The numbers it rests on; names end in their unit.
    pub evidence: BTreeMap<String, f64>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Finding {
    /// A finding about the run as a whole, without advice and evidence.
    #[must_use]
    pub fn new(kind: FindingKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            stage: None,
            pipe: None,
            message: message.into(),
            advice: Vec::new(),
            best_time_ns: None,
            confidence_percent: None,
            evidence: BTreeMap::new(),
            extra: Extra::new(),
        }
    }

    /// The same, about this stage.
    #[must_use]
    pub fn about_stage(mut self, stage: impl Into<Option<u32>>) -> Self {
        self.stage = stage.into();
        self
    }

    /// The same, about this pipe.
    #[must_use]
    pub fn about_pipe(mut self, pipe: impl Into<Option<u32>>) -> Self {
        self.pipe = pipe.into();
        self
    }

    /// The same, with this advice.
    #[must_use]
    pub fn with_advice(mut self, advice: Vec<AdvicePart>) -> Self {
        self.advice = advice;
        self
    }

    /// The same, resting on these numbers.
    #[must_use]
    pub fn with_evidence(mut self, evidence: BTreeMap<String, f64>) -> Self {
        self.evidence = evidence;
        self
    }
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// One stage holds the others back.
    Bottleneck,
    /// Two neighbours wait for each other in turn.
    TakingTurns,
    /// More stages want to run than there are CPUs.
    CpuStarved,
    /// The first stage waits for a disk, a network, a terminal or an outside writer.
    SourceBound,
    /// The last stage waits for a disk, a network, a terminal or an outside reader.
    SinkBound,
    /// Reads or writes of less than 4 KiB on average.
    SmallCalls,
    /// A pipe smaller than 64 KiB because the user is over quota.
    SmallPipe,
    /// A stage waits, a good part of its time, for a CPU that sleeps to wake up.
    WakeUps,
    /// Someone holds an end that keeps the end of file away.
    LeakedEnd,
    /// Stages wait for each other in a circle.
    Deadlock,
    /// Nothing moved for a long time.
    Stalled,
    /// A kind that a later version has a name for.
    #[serde(untagged)]
    Other(Name),
}
