//! What a run of the lab found: the JSON that `--report FILE.json` writes, and all that reports are made from.

use std::collections::BTreeMap;

use fullbore_measure::Host;
use serde::{Deserialize, Serialize};

use crate::suite::{Axis, Chart, Quantity, RatioStyle};
use crate::{Estimate, Latency, Parameters, Side};

/// Name and version of the form of the record.
pub const SCHEMA: &str = "fullbore.lab/1";

/// One run of the lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabRun {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub fullbore_version: String,
    /// The command that repeats it.
    pub command: String,
    /// When it began, since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Whether all cases were measured; `false` while it runs and after Ctrl-C.
    pub is_complete: bool,
    /// How much was measured.
    pub effort: Effort,
    /// Where.
    pub machine: Machine,
    /// Version of every program that took part, by name.
    pub programs: BTreeMap<String, String>,
    /// What was found.
    pub suites: Vec<SuiteRun>,
}

/// How much is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Under a minute a suite, fewer points.
    Quick,
    /// A few minutes a suite.
    #[default]
    Usual,
    /// So many rounds at every point, however long that takes.
    Runs(u32),
}

/// The machine, as far as it bears on the numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Kernel, CPU, memory, limits of pipes.
    pub host: Host,
    /// The codec kernels in use: `portable`, `avx2`, `avx2-gfni`, `avx512` or `neon`.
    pub tier: String,
    /// The CPUs everything was bound to; empty without `--pin`.
    pub pinned_cpus: Vec<u32>,
    /// Caches of the first CPU.
    pub caches: Vec<Cache>,
    /// `/sys/kernel/mm/transparent_hugepage/enabled`.
    pub huge_pages: Option<String>,
    /// Huge pages that are set aside (`/proc/sys/vm/nr_hugepages`).
    pub reserved_huge_pages: Option<u64>,
    /// How Linux guards against each known weakness of the CPU, which costs time at every system call.
    pub mitigations: BTreeMap<String, String>,
    /// Governor of the CPU's clock, where there is one.
    pub frequency_governor: Option<String>,
    /// The virtual machine or container it ran in, as far as it can be seen.
    pub is_virtual: Option<bool>,
}

/// A cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// `L1d`, `L2`, `L3`.
    pub name: String,
    /// Its size.
    pub size_bytes: u64,
}

/// What one suite found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SuiteRun {
    /// Its name.
    pub name: String,
    /// What it measures.
    pub about: String,
    /// Its cases.
    pub cases: Vec<CaseRun>,
}

/// What one case found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseRun {
    /// Its name.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What is compared.
    pub about: String,
    /// The command that repeats only this case.
    pub command: String,
    /// What is measured.
    pub quantity: Quantity,
    /// How a ratio is told.
    pub ratio: RatioStyle,
    /// How it is drawn.
    pub chart: Chart,
    /// What was swept.
    pub sweep: Vec<Axis>,
    /// Parameters that did not vary.
    pub fixed: Parameters,
    /// Counters with a column of their own.
    pub columns: Vec<String>,
    /// Name of the engine the others are compared with.
    pub baseline: String,
    /// The engines, in order.
    pub engines: Vec<EngineNote>,
    /// One for each combination of swept values.
    pub points: Vec<PointRun>,
}

/// An engine of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineNote {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// What must be known about it.
    pub marks: Vec<String>,
    /// What was published for it.
    pub published: Option<String>,
    /// What it runs, with its placeholders.
    pub command: String,
}

/// One point of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointRun {
    /// The swept values.
    pub parameters: Parameters,
    /// Rounds that were measured; each runs every engine once.
    pub rounds: u32,
    /// Rounds of each pass over the suite, in order; empty in records of versions that made a single one.
    #[serde(default)]
    pub passes: Vec<u32>,
    /// Why no more were.
    pub stopped: Stopped,
    /// One for each engine, in the order of [`CaseRun::engines`].
    pub engines: Vec<EngineRun>,
}

/// Why a point has as many rounds as it has: what ended the last pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stopped {
    /// The rounds spread so little that more would not tell more.
    Tight,
    /// Its time was over.
    Budget,
    /// The number of rounds was given, or the most that is ever made was reached.
    Rounds,
    /// No engine was left to measure.
    Nothing,
}

/// What one engine did at one point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineRun {
    /// Its name.
    pub engine: String,
    /// How it went.
    pub outcome: Outcome,
    /// Found value of each round, pass after pass, in the unit of the case; empty unless it was measured.
    pub values: Vec<f64>,
    /// Median and interval of the values.
    pub value: Option<Estimate>,
    /// Median absolute deviation of the values.
    pub mad: Option<f64>,
    /// How many times as fast as the baseline; `None` for the baseline itself.
    pub speed: Option<Estimate>,
    /// What it answered.
    pub answer: Option<String>,
    /// What must be known about an answer that was not judged.
    pub remark: Option<String>,
    /// Median CPU time of a trial, all processes together.
    pub cpu_ns: Option<u64>,
    /// Median time of a trial.
    pub elapsed_ns: Option<u64>,
    /// The processes of one trial.
    pub sides: Vec<Side>,
    /// Latencies of all trials together.
    pub latency: Option<Latency>,
    /// Median of each counter; of one that is not read while the time counts, what the check found.
    pub counters: BTreeMap<String, Option<f64>>,
    /// Why a counter is not available, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing_counters: BTreeMap<String, String>,
    /// Values far from all others.
    pub outliers: u32,
    /// Change from the first rounds to the last, over all passes, in percent, when it is no accident.
    pub drift_percent: Option<f64>,
}

/// How an engine fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Outcome {
    /// It was measured.
    Measured,
    /// The machine lacks something.
    NotAvailable {
        /// What is missing.
        what: String,
        /// How to get it.
        remedy: String,
    },
    /// It went wrong; none of its times count.
    Failed {
        /// Why.
        why: String,
    },
    /// Its answer was wrong; none of its times count.
    WrongAnswer {
        /// The right one.
        expected: String,
        /// Its own.
        found: String,
    },
    /// Its answer was not that of another engine, and no third one says which of them is right; none of its times count.
    Disputed {
        /// Its own answer.
        found: String,
        /// The engine with another answer, for people.
        other: String,
        /// That answer.
        others: String,
    },
    /// The time of the suite was over before it.
    NoTime,
}

impl LabRun {
    /// All engines of all points, each with where it stands.
    pub fn engine_runs(
        &self,
    ) -> impl Iterator<Item = (&SuiteRun, &CaseRun, &PointRun, &EngineRun)> {
        self.suites.iter().flat_map(|suite| {
            suite.cases.iter().flat_map(move |case| {
                case.points.iter().flat_map(move |point| {
                    point.engines.iter().map(move |engine| (suite, case, point, engine))
                })
            })
        })
    }

    /// Whether an engine gave a wrong answer, or engines did not agree on the right one.
    #[must_use]
    pub fn has_wrong_answer(&self) -> bool {
        self.engine_runs().any(|(.., run)| {
            matches!(run.outcome, Outcome::WrongAnswer { .. } | Outcome::Disputed { .. })
        })
    }

    /// Whether an engine failed.
    #[must_use]
    pub fn has_failure(&self) -> bool {
        self.engine_runs().any(|(.., run)| matches!(run.outcome, Outcome::Failed { .. }))
    }
}

impl CaseRun {
    /// The note on an engine.
    #[must_use]
    pub fn engine(&self, name: &str) -> Option<&EngineNote> {
        self.engines.iter().find(|engine| engine.name == name)
    }

    /// Whether an engine was measured at any point.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.points.iter().flat_map(|point| &point.engines).any(|run| run.value.is_some())
    }
}

impl PointRun {
    /// What an engine did here.
    #[must_use]
    pub fn engine(&self, name: &str) -> Option<&EngineRun> {
        self.engines.iter().find(|run| run.engine == name)
    }
}
