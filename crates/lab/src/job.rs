//! What one trial of a built-in engine is asked to do, and what it found: data that crosses a process boundary.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// One trial of a built-in engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Name in [`crate::engines::ENGINES`].
    pub engine: String,
    /// What it is told.
    pub parameters: Parameters,
}

/// A value in a suite file or a sweep.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected a whole number, a size such as \"64K\", a text, true or false"
)]
pub enum Parameter {
    /// `true` or `false`.
    Flag(bool),
    /// A count; sizes are bytes (suite files may write `"64K"`, which arrives here as a number).
    Number(u64),
    /// A name.
    Text(String),
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Parameters by name, in order of the name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Parameters(pub BTreeMap<String, Parameter>);

impl Parameters {
    /// A count or a size.
    ///
    /// # Errors
    /// When there is none of that name, or it is no number.
    pub fn number(&self, name: &str) -> Result<u64, EngineError> {
        match self.0.get(name) {
            Some(Parameter::Number(number)) => Ok(*number),
            other => Err(wrong(name, "a number", other)),
        }
    }

    /// A name.
    ///
    /// # Errors
    /// When there is none of that name, or it is no text.
    pub fn text(&self, name: &str) -> Result<&str, EngineError> {
        match self.0.get(name) {
            Some(Parameter::Text(text)) => Ok(text),
            other => Err(wrong(name, "a text", other)),
        }
    }

    /// Whether something is on; off when it is not mentioned.
    ///
    /// # Errors
    /// When it is neither `true` nor `false`.
    pub fn flag(&self, name: &str) -> Result<bool, EngineError> {
        match self.0.get(name) {
            None => Ok(false),
            Some(Parameter::Flag(flag)) => Ok(*flag),
            other => Err(wrong(name, "true or false", other)),
        }
    }
}

fn wrong(name: &str, expected: &str, found: Option<&Parameter>) -> EngineError {
    EngineError::Failed(format!("parameter {name}: expected {expected}, found {found:?}"))
}

/// What one trial found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// Time of the work itself, without setting it up.
    pub elapsed_ns: u64,
    /// Bytes moved, where the engine moves bytes.
    pub bytes: Option<u64>,
    /// Messages, round trips or calls, where it counts them.
    pub operations: Option<u64>,
    /// What the receiving side got (a digest or a count), checked before the time counts.
    pub answer: Option<String>,
    /// What each process or thread of the experiment used.
    pub sides: Vec<Side>,
    /// Distribution of a latency.
    pub latency: Option<Latency>,
    /// Counters of the machine by name; `None` where it has none.
    pub counters: BTreeMap<String, Option<u64>>,
    /// Why a counter that was asked for is not there, by its name.
    #[serde(default)]
    pub missing: BTreeMap<String, String>,
}

/// One side of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// `writer`, `reader`, …
    pub name: String,
    /// CPU time, user and system.
    pub cpu_ns: u64,
    /// Peak resident memory, where the side is a process of its own.
    pub peak_memory_bytes: Option<u64>,
}

/// Distribution of a latency, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// How many were measured.
    pub count: u64,
    /// The median.
    pub p50_ns: u64,
    /// 99 of 100 are below.
    pub p99_ns: u64,
    /// 999 of 1000 are below.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Upper bound of each bucket and how many fell into it; logarithmic, empty ones left out.
    pub buckets: Vec<(u64, u64)>,
}

/// Why a trial gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EngineError {
    /// This machine cannot do it: which thing is missing, and how to get it.
    Unavailable {
        /// What is missing.
        what: String,
        /// What to install or change.
        remedy: String,
    },
    /// It went wrong.
    Failed(String),
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unavailable { what, remedy } => {
                write!(f, "not available here: {what} ({remedy})")
            }
            Self::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for EngineError {}
