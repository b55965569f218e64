//! What is left of many records: the schema `fullbore.workflow/1`, published in `docs/fullbore.workflow-1.schema.json`.
//!
//! Names of numbers end in their unit; what is unknown is `None` (`null`). Jobs, rules and hosts name each other by their places
//! in the lists, from 0.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cause::{Cause, Causes};

/// Name and version of the schema of [`Workflow`].
pub const SCHEMA: &str = "fullbore.workflow/1";

/// A workflow: what its jobs did together, and what follows from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Workflow {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program that gathered it.
    pub fullbore_version: String,
    /// What was read, and what could not be.
    pub files: Files,
    /// All jobs together.
    pub totals: Totals,
    /// What follows from it; the first finding is the verdict.
    pub findings: Vec<Finding>,
    /// The machines, the one with most job time first.
    pub hosts: Vec<HostRow>,
    /// What was repeated, the rule with most job time first.
    pub rules: Vec<RuleRow>,
    /// What cost most.
    pub costly: Costly,
    /// Every job, in the order of their starts.
    pub jobs: Vec<JobRow>,
    /// How it differs from another run of the workflow; `None` when there is none.
    pub against: Option<Comparison>,
}

/// What was read, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Files that could be records, by their name.
    pub seen: u64,
    /// Those that are records of runs.
    pub records: u64,
    /// Records that are there twice; each counts once.
    pub copies: u64,
    /// Files of other kinds, which nobody looked into.
    pub others: u64,
    /// Those that are no records, by reason.
    pub no_records: Vec<Unread>,
}

/// Files that are no records for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Why, as the end of a sentence: `cut off`.
    pub why: String,
    /// How many.
    pub files: u64,
    /// Some of them.
    pub examples: Vec<String>,
}

/// All jobs together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Totals {
    /// Jobs.
    pub jobs: u64,
    /// Those that ended with another status than 0.
    pub failed: u64,
    /// Those whose status is unknown.
    pub unknown_status: u64,
    /// Those that were watched only from some moment on; they are not compared with others.
    pub in_part: u64,
    /// Those without a start or a length; they are not on the time axis.
    pub without_time: u64,
    /// Start of the first job, in nanoseconds since 1970-01-01 UTC; `None` when unknown.
    pub started_unix_ns: Option<u64>,
    /// From the start of the first job to the end of the last.
    pub elapsed_ns: u64,
    /// Time of all jobs added up.
    pub job_time_ns: u64,
    /// Time in which no job ran, between the first start and the last end.
    pub idle_ns: u64,
    /// `job_time_ns` by cause: what the stage did that each job waited for.
    pub causes: Causes,
}

/// Something that the workflow shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Finding {
    /// What kind of finding it is.
    pub kind: FindingKind,
    /// The rule it is about.
    pub rule: Option<usize>,
    /// The host it is about.
    pub host: Option<usize>,
    /// One sentence.
    pub message: String,
    /// What to look at next, in a sentence; may be empty.
    pub detail: String,
    /// The numbers it rests on; names end in their unit.
    pub evidence: BTreeMap<String, f64>,
}

impl Finding {
    /// A finding about the workflow as a whole.
    pub(crate) fn new(kind: FindingKind, message: String) -> Self {
        let (detail, evidence) = (String::new(), BTreeMap::new());
        Self { kind, rule: None, host: None, message, detail, evidence }
    }

    pub(crate) fn about_rule(mut self, rule: usize) -> Self {
        self.rule = Some(rule);
        self
    }

    pub(crate) fn about_host(mut self, host: usize) -> Self {
        self.host = Some(host);
        self
    }

    /// The same with a number that it rests on.
    pub(crate) fn with(mut self, name: &str, value: f64) -> Self {
        self.evidence.insert(name.to_owned(), (value * 1000.0).round() / 1000.0);
        self
    }

    /// The same with what was said of the longest job.
    pub(crate) fn seen(mut self, message: &str) -> Self {
        if !message.is_empty() {
            self.detail = format!("The verdict on the longest of them: {message}");
        }
        self
    }
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// Jobs of several rules take longer on a host than elsewhere.
    SlowHost,
    /// Jobs of one rule take longer on a host than elsewhere.
    SlowOnHost,
    /// For much of the time no job ran.
    Idle,
    /// Jobs wait for CPUs.
    WaitsForCpus,
    /// One rule takes most of the critical time.
    LimitingRule,
    /// No rule stands out.
    NoSingleRule,
    /// Jobs took far longer than others of their rule.
    Outliers,
    /// In the jobs of a rule two stages wait for each other in turn.
    TakesTurns,
    /// Jobs failed.
    Failed,
    /// Jobs take longer because they read more.
    MoreInput,
}

/// A machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct HostRow {
    /// Its name; empty when unknown.
    pub name: String,
    /// CPUs that its jobs could use, at most; 0 when unknown.
    pub cpus: u32,
    /// Its jobs.
    pub jobs: u64,
    /// Those that failed.
    pub failed: u64,
    /// Their time added up.
    pub job_time_ns: u64,
    /// The same by cause.
    pub causes: Causes,
    /// How many times as long jobs take there as jobs of the same rules elsewhere, given their input; `None` when too few can
    /// be compared.
    pub times_as_long: Option<f64>,
    /// Whether that is more than chance explains.
    pub is_slow: bool,
}

/// What was repeated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RuleRow {
    /// Its name, or the shape of its command.
    pub name: String,
    /// Whether variables of the jobs told the name.
    pub is_named: bool,
    /// The command of one of its jobs.
    pub command: String,
    /// Its jobs.
    pub jobs: u64,
    /// Those that failed.
    pub failed: u64,
    /// Their time added up.
    pub job_time_ns: u64,
    /// Median of the times of jobs that succeeded; `None` without any.
    pub median_ns: Option<u64>,
    /// The longest of them.
    pub longest_ns: Option<u64>,
    /// Median of the bytes that they read from outside; `None` when unknown.
    pub median_input_bytes: Option<u64>,
    /// Its part of the critical time: of the chain of jobs, each after the other, that ends with the last job.
    pub critical_ns: u64,
    /// `job_time_ns` by cause.
    pub causes: Causes,
}

/// What cost most; each list is as long as was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Costly {
    /// Stages, over all jobs.
    pub stages: Vec<CostlyStage>,
    /// Rules whose pipelines took turns.
    pub turns: Vec<Turns>,
    /// Hosts whose jobs waited for CPUs.
    pub cpu_waits: Vec<CpuWait>,
    /// Jobs that took far longer than others of their rule.
    pub outliers: Vec<Outlier>,
}

/// A stage of a rule, over all its jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostlyStage {
    /// Its rule.
    pub rule: usize,
    /// The command without numbers, names of files and quoted data.
    pub command: String,
    /// In how many jobs.
    pub jobs: u64,
    /// Time in which it did not wait for other stages.
    pub own_ns: u64,
    /// CPU time.
    pub cpu_ns: u64,
    /// `own_ns` by cause.
    pub causes: Causes,
}

/// A rule in whose pipelines two stages waited for each other in turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turns {
    /// The rule.
    pub rule: usize,
    /// In how many jobs.
    pub jobs: u64,
    /// Their time added up.
    pub job_time_ns: u64,
    /// What was found in the longest of them.
    pub message: String,
}

/// Jobs of a host that waited for CPUs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuWait {
    /// The host.
    pub host: usize,
    /// Jobs that waited for a CPU for a tenth of their time or more.
    pub jobs: u64,
    /// How long all jobs of the host waited.
    pub waited_ns: u64,
    /// In percent of their time.
    pub percent: f64,
}

/// A job that took far longer than others of its rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outlier {
    /// The job.
    pub job: usize,
    /// How many times as long as expected.
    pub times: f64,
    /// What was expected: the median of its rule, for its input where times depend on that.
    pub expected_ns: u64,
    /// What most of the extra time went to; `None` when that cannot be told.
    pub cause: Option<Cause>,
    /// The share of that cause in the time of the job.
    pub cause_percent: f64,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JobRow {
    /// The file of its record.
    pub file: String,
    /// Its rule.
    pub rule: usize,
    /// Its host.
    pub host: usize,
    /// Start by the clock of its host, from the start of the workflow; `None` when unknown.
    pub start_ns: Option<u64>,
    /// From start to end; `None` when unknown.
    pub elapsed_ns: Option<u64>,
    /// Exit status as a shell would report it; `None` when unknown.
    pub exit_status: Option<i32>,
    /// Where its time went.
    pub causes: Causes,
}

/// How a run of a workflow differs from one before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Comparison {
    /// One sentence about the whole.
    pub message: String,
    /// The run before.
    pub before: Side,
    /// This run.
    pub after: Side,
    /// Rules of both, the one whose time changed most first.
    pub rules: Vec<ChangedRule>,
    /// Names of rules that only the run before had.
    pub gone: Vec<String>,
    /// Names of rules that only this run has.
    pub new: Vec<String>,
    /// What of the run before was read, and what could not be.
    pub files: Files,
}

/// One of two runs that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// Its jobs.
    pub jobs: u64,
    /// From the start of the first job to the end of the last.
    pub elapsed_ns: u64,
    /// Time of all jobs added up.
    pub job_time_ns: u64,
}

/// A rule in two runs of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChangedRule {
    /// Its name.
    pub name: String,
    /// Whether variables of the jobs told the name.
    pub is_named: bool,
    /// The run before: jobs, and the time of all.
    pub jobs_before: u64,
    /// This run.
    pub jobs_after: u64,
    /// Time of its jobs before.
    pub time_before_ns: u64,
    /// Time of its jobs now.
    pub time_after_ns: u64,
    /// How many times as long a job takes now, given its input; `None` when no job of both runs can be compared.
    pub times: Option<f64>,
    /// Whether that is more than chance explains.
    pub is_certain: bool,
    /// How many times as much a job reads; `None` when unknown.
    pub times_the_input: Option<f64>,
    /// What most of the difference went to.
    pub cause: Option<Cause>,
    /// In one sentence what became of it.
    pub message: String,
}
