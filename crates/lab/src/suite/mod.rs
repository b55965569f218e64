//! A suite: what is measured, with which values, by which engines, and which answer is right. Data, never code.

mod builds;
mod builtin;
mod expand;
mod read;
mod text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Parameter, Parameters};

pub use builds::BEFORE;
pub use builtin::{BUILT_IN, built_in};
pub use expand::{Unknown, expand};
pub(crate) use expand::{filled, product};
pub use read::{SuiteError, read};

/// A collection of cases on one subject.
#[derive(Clone, Debug, PartialEq)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// What names it on the command line: its name, or the path of its file.
    pub word: String,
    /// Whether all of its cases are there.
    pub is_whole: bool,
    /// One sentence on what it measures.
    pub about: String,
    /// What is measured, in order.
    pub cases: Vec<Case>,
}

impl Suite {
    /// What names one of its cases on the command line.
    #[must_use]
    pub fn word_of(&self, case: &Case) -> String {
        format!("{}/{}", self.word, case.name)
    }
}

/// One question: several engines do the same thing with the same parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Its name on the command line, after the suite's.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What is compared and what to look at.
    pub about: String,
    /// The number that is shown.
    pub quantity: Quantity,
    /// How a ratio to the baseline is told.
    pub ratio: RatioStyle,
    /// How it is drawn.
    pub chart: Chart,
    /// Parameters that vary, in the order they are swept: the last one fastest.
    pub sweep: Vec<Axis>,
    /// The same with `--quick`.
    pub quick_sweep: Vec<Axis>,
    /// Parameters that do not vary.
    pub fixed: Parameters,
    /// The same with `--quick`.
    pub quick_fixed: Parameters,
    /// Shell lines that make files in `{dir}` before a point is measured; each different text runs once a pass,
    /// so that it must be able to run again.
    pub setup: Vec<String>,
    /// Bytes that one trial of a program moves: a product of sizes and `{parameters}`.
    pub bytes: Option<String>,
    /// Operations that one trial of a program does, in the same form.
    pub operations: Option<String>,
    /// Which answer is right.
    pub answer: Answer,
    /// What of a program's standard output is its answer.
    pub answer_from: AnswerFrom,
    /// Where the standard output of a program goes in a timed trial.
    pub sink: Sink,
    /// What a program's time is.
    pub time_from: TimeFrom,
    /// Counters of a trial that get a column of their own.
    pub columns: Vec<String>,
    /// The engine that the others are compared with.
    pub baseline: String,
    /// Who does it.
    pub engines: Vec<Engine>,
}

impl Case {
    /// Whether more of the quantity is better.
    #[must_use]
    pub fn more_is_better(&self) -> bool {
        self.quantity.more_is_better()
    }
}

/// The number a case is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    OperationsPerSecond,
    /// The median of a latency, in nanoseconds.
    LatencyNs,
    /// Time of the whole work, in seconds.
    Seconds,
    /// Time of one operation, in nanoseconds.
    NsPerOperation,
    /// A counter of the trial by name; more is better.
    Counter(String),
}

impl Quantity {
    /// Whether more of it is better.
    #[must_use]
    pub fn more_is_better(&self) -> bool {
        !matches!(self, Self::LatencyNs | Self::Seconds | Self::NsPerOperation)
    }
}

/// How a ratio to the baseline is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RatioStyle {
    /// How many times as fast as the baseline: more is better.
    #[default]
    Speed,
    /// How many times as long as the baseline takes: less is better.
    Slowdown,
}

/// How a case is drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Chart {
    /// A bar for each engine at each point.
    #[default]
    Bars,
    /// A line for each engine over one parameter.
    Lines {
        /// The parameter along the axis.
        x: String,
        /// Whether the sizes of the caches are marked on it.
        #[serde(default)]
        caches: bool,
    },
    /// A field for each pair of values; one map an engine.
    Heat {
        /// The parameter along the axis.
        x: String,
        /// The parameter down the side.
        y: String,
    },
}

/// A parameter that is swept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// Its values, in order.
    pub values: Vec<Parameter>,
    /// Whether the values are sizes in bytes.
    pub is_size: bool,
}

/// Which answer is right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Answer {
    /// There is none to check.
    #[default]
    Unchecked,
    /// All engines must give the same.
    Same,
    /// This text, with parameters in it.
    Literal(String),
}

/// What of a program's standard output is its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFrom {
    /// The 128-bit XXH3 digest of all of it.
    #[default]
    Digest,
    /// How many bytes it has.
    Count,
    /// The text itself, without space around it.
    Text,
}

/// Where the standard output of a program goes in a timed trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sink {
    /// To `/dev/null`.
    #[default]
    Null,
    /// Into a pipe that is emptied by splice, without copying.
    Pipe,
}

/// What the time of a program is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeFrom {
    /// From its start to its end.
    #[default]
    Whole,
    /// What it says itself: the last word of its standard output that is a number of seconds.
    Output,
}

/// One way to do what a case asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// Its name in the suite.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// What must be known about it, such as `unsafe` or `discards`.
    pub marks: Vec<String>,
    /// Whether its answer is shown but not judged: it sees no bytes, or is here to show that it is wrong.
    pub is_unchecked: bool,
    /// Why it is left out with `--quick`, when it is.
    pub not_quick: Option<String>,
    /// What was published for it, where, if anything.
    pub published: Option<String>,
    /// Bytes of one trial, where they differ from the case's.
    pub bytes: Option<String>,
    /// Operations of one trial, where they differ from the case's.
    pub operations: Option<String>,
    /// What it runs.
    pub run: Run,
    /// What the machine must have for it.
    pub needs: Vec<Need>,
}

/// What an engine runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Run {
    /// An engine built into fullbore, with parameters of its own.
    Builtin {
        /// Its name in [`crate::engines::ENGINES`].
        engine: String,
        /// What it is told besides the parameters of the point.
        parameters: Parameters,
    },
    /// A program with its arguments.
    Words(Vec<String>),
    /// A line for `sh -c`.
    Line(String),
}

/// What the machine must have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A program that can be found.
    Program {
        /// Its name.
        name: String,
        /// What to do to get it.
        install: String,
    },
    /// The rights of root.
    Root,
    /// CPUs this process may use.
    Cpus(u64),
    /// A shell line that succeeds.
    Check {
        /// The line.
        line: String,
        /// What is missing when it fails.
        what: String,
        /// What to do about it.
        install: String,
    },
}

/// The values of one point of a sweep, with the fixed parameters.
#[must_use]
pub fn points(sweep: &[Axis], fixed: &Parameters) -> Vec<Parameters> {
    let mut points = vec![fixed.0.clone()];
    for axis in sweep {
        let with = |point: &BTreeMap<String, Parameter>, value: &Parameter| {
            let mut point = point.clone();
            point.insert(axis.name.clone(), value.clone());
            point
        };
        points = points
            .iter()
            .flat_map(|point| {
                axis.values.iter().map(|value| with(point, value)).collect::<Vec<_>>()
            })
            .collect();
    }
    points.into_iter().map(Parameters).collect()
}
