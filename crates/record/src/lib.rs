//! What a run leaves behind: the schema `fullbore.run/2`, published in `docs/fullbore.run-2.schema.json`.
//!
//! Every number carries its unit in its name; percentages are of the life of the stage or pipe;
//! what could not be observed is `None` (`null` in JSON), never 0.
//!
//! [`read()`] understands records of this schema and of `fullbore.run/1`. A later version may add fields and values:
//! unknown fields are kept in `extra` and unknown values in a variant `Other`, so a record that was read is written
//! back whole, but for fields added to `host`, `job` or an incident of a known kind. Because fields may be added, other crates build these types from `default()` or `new()`, field by field.
#![forbid(unsafe_code)]

mod advice;
mod auto;
mod counters;
mod cut_off;
mod finding;
mod job;
mod name;
mod one;
mod overview;
mod read;
mod timeline;
mod title;
mod wake;
mod what_if;

use std::collections::BTreeMap;

use fullbore_measure::Host;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use advice::{AdvicePart, advice_text};
pub use auto::{AutoRecord, AutoWhat};
pub use counters::StageCounters;
pub use finding::{Finding, FindingKind};
pub use job::Job;
pub use name::Name;
pub use overview::{OVERVIEW_SCHEMA, Overview, Place, Progress, Seen};
pub use read::{ReadError, read};
pub use timeline::{SharesFrom, StageTimeline, Timeline};
pub use wake::{KeepAwakeRecord, KeepAwakeTrial};
pub use what_if::{
    ChangeKind, ChangeRecord, LimitKind, LimitRecord, PredictionRecord, SpeedRecord, WhatIfRecord,
};

/// Name and version of the schema of [`RunRecord`].
pub const SCHEMA: &str = "fullbore.run/2";

/// Fields that this version does not know, by name.
pub type Extra = BTreeMap<String, Value>;

/// One run of a pipeline, whole: what ran, what it waited for, what was tuned and what follows from it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program that wrote the record.
    pub fullbore_version: String,
    /// The line given to the shell, or the words of the command.
    pub command: String,
    /// Start of the run, in nanoseconds since 1970-01-01 UTC.
    pub started_unix_ns: u64,
    /// When watching began, from the start of the run; `None` when fullbore started the run itself.
    #[serde(default)]
    pub attached_at_ns: Option<u64>,
    /// The job of a build tool, workflow manager or scheduler that the run belonged to.
    #[serde(default)]
    pub job: Option<Job>,
    /// Exit status as a shell would report it (128 + n for signal n); `None` when it could not be learned.
    pub exit_status: Option<i32>,
    /// Time from the start of the shell to its end; of a run that was watched from later on, how long it was watched. All
    /// other times and counts begin then, too.
    pub elapsed_ns: u64,
    /// The best possible time on this machine: the largest running time of one stage, or the CPU time of all divided by the CPUs.
    pub bound_ns: u64,
    /// Of the time in which at least one stage was running, the share in which at least two were.
    pub overlap_percent: Option<f64>,
    /// CPU seconds of all stages per second of elapsed time.
    pub parallelism: f64,
    /// CPU time of all processes that have ended and were waited for, whether or not a stage shows it; `None` before the end
    /// of the run, and when it could not be learned.
    #[serde(default)]
    pub cpu_ns: Option<u64>,
    /// CPU time fullbore itself used.
    pub observer_cpu_ns: u64,
    /// Time in which CPUs of the machine had nothing to do, summed over them, to a clock tick (proc_stat(5)); `None` when unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_cpu_ns: Option<u64>,
    /// How often the pipeline was sampled.
    pub samples: u64,
    /// What the shares of stages and pipes were computed from.
    #[serde(default)]
    pub shares_from: SharesFrom,
    /// The machine.
    pub host: Host,
    /// Stages in the order in which data flows through them.
    pub stages: Vec<StageRecord>,
    /// Pipes between stages, and between a stage and the outside.
    pub pipes: Vec<PipeRecord>,
    /// Every change fullbore made to a pipe.
    pub tuning: Vec<TuningRecord>,
    /// What became of the commands that `run --auto` offered to make faster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub auto: Vec<AutoRecord>,
    /// What it costs to wake a thread on a CPU that sleeps, more than on one that is awake; `None` when it was not measured:
    /// nothing depended on it, the run was short, or CPUs were in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_up_price_ns: Option<u64>,
    /// What `run --keep-awake` did; `None` without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_awake: Option<KeepAwakeRecord>,
    /// States that can be seen only while the pipeline runs.
    pub incidents: Vec<Incident>,
    /// What follows from all this; the first finding is the verdict.
    pub findings: Vec<Finding>,
    /// How long the run would have taken with one thing changed; `None` when nothing was predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIfRecord>,
    /// What could not be observed, and what makes numbers doubtful, one sentence each.
    pub gaps: Vec<String>,
    /// Shares over time.
    pub timeline: Timeline,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A stage: one command of the pipeline with all processes it started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageRecord {
    /// Number of the stage, from 1.
    pub stage: u32,
    /// Process that the shell started for it (the first, when there were several).
    pub pid: i32,
    /// What it runs, as text: see `command_is`.
    pub command: String,
    /// Whether `command` is a program with its arguments or a piece of the shell line.
    #[serde(default)]
    pub command_is: CommandIs,
    /// The words it was started with (its argv); those of the shell when it is a copy of the shell. Empty when unknown.
    #[serde(default)]
    pub words: Vec<String>,
    /// What did the work, when that is not what the stage was started with: `gzip -1` in `sh -c 'gzip -1; true'`. Its
    /// name alone when several processes ran it with other arguments; empty when there is no such program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub main_words: Vec<String>,
    /// For a stage that deals its input out with `fullbore par`: how many copies of its command (`main_words`) ran at the
    /// same time, at least. `None` for every other stage. What it read and wrote is then what went in at the standard input
    /// of `par` and out at its standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// Locale of what did the work (`main_words`, or else `words`), such as `C` or `en_US.UTF-8`; if it is not the same for
    /// characters and for their order, both, as setlocale(3) writes them: `LC_CTYPE=en_US.UTF-8;LC_COLLATE=C`. `None` when
    /// it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Variables of its environment that change how it buffers: `PYTHONUNBUFFERED`, and `_STDBUF_I` and `_STDBUF_O`, which
    /// stdbuf(1) sets. No other variable is recorded.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub buffering: BTreeMap<String, String>,
    /// Processes seen in this stage, over its whole life: at least so many. Only with `--exact` are those seen that live for
    /// less than the time between two samples.
    pub processes: u32,
    /// Most threads seen at one time.
    pub threads: u32,
    /// When the stage was first seen, from the start of the run.
    pub start_ns: u64,
    /// How long it lived.
    pub life_ns: u64,
    /// CPU time of all its processes, ended children included.
    pub cpu_ns: u64,
    /// At least one of its threads was on a CPU.
    pub running_percent: f64,
    /// None was on a CPU, at least one was waiting for one.
    pub runnable_percent: f64,
    /// Blocked reading a pipe; `None` when the reason of its waits could not be seen.
    pub blocked_reading_percent: Option<f64>,
    /// Blocked writing a pipe; `None` when the reason of its waits could not be seen.
    pub blocked_writing_percent: Option<f64>,
    /// Blocked on anything else (see `blocked_other_causes`).
    pub blocked_other_percent: f64,
    /// `blocked_other_percent`, by cause.
    pub blocked_other_causes: BTreeMap<Cause, f64>,
    /// Bytes read by system calls that Linux counts; `None` when it moves data by splice.
    pub read_bytes: Option<u64>,
    /// Bytes written by system calls that Linux counts; `None` when it moves data by splice.
    pub written_bytes: Option<u64>,
    /// System calls that read.
    pub read_calls: Option<u64>,
    /// System calls that wrote.
    pub write_calls: Option<u64>,
    /// How often one of its threads waited for something and was woken (voluntary context switches), approximately; `None` when
    /// Linux does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_ups: Option<u64>,
    /// The share of its life in which it waited for a CPU to wake up, approximately: what it waited for pipes and for a CPU, or its
    /// wake-ups at their price (`wake_up_price_ns`), whichever is less; for all stages together no more than the
    /// time in which CPUs were idle allows. `None` when it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waking_percent: Option<f64>,
    /// What the CPU and Linux counted, with `--counters`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<StageCounters>,
    /// Largest resident memory of one of its processes.
    pub peak_memory_bytes: Option<u64>,
    /// Exit status as a shell would report it; `None` when it could not be learned.
    pub exit_status: Option<i32>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What the command of a stage is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommandIs {
    /// A program and its arguments, quoted as one would type them.
    #[default]
    Program,
    /// A loop, a group or another piece of the line, run by a copy of the shell.
    ShellText,
    /// Something that a later version has a name for.
    #[serde(untagged)]
    Other(Name),
}

/// Why a stage was blocked on something that is not a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// A file on a disk, or memory that must come from one.
    Disk,
    /// A socket to a network, or one on this machine that uses its protocols.
    Network,
    /// A socket to another process of this machine: a Unix socket, a socket pair.
    LocalSocket,
    /// Another process of the run, at the other side of a network socket.
    Peer,
    /// A terminal.
    Terminal,
    /// It asked to sleep.
    Sleep,
    /// A lock or another thread (futex, flock).
    Lock,
    /// An event it watches for: changes of files (inotify), a signal, eventfd.
    Event,
    /// A child process that is not itself seen to wait.
    Child,
    /// The other side of a named FIFO has not been opened.
    FifoPeer,
    /// It is stopped (Ctrl-Z, SIGSTOP, a debugger).
    Stopped,
    /// The reason could not be seen.
    Unknown,
    /// A cause that a later version has a name for.
    #[serde(untagged)]
    Other(Name),
}

/// A pipe that carried data from stage to stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PipeRecord {
    /// Number of the pipe, from 1.
    pub pipe: u32,
    /// Path, when it is a named FIFO.
    pub path: Option<String>,
    /// Stages that held its write end.
    pub writers: Vec<u32>,
    /// Stages that held its read end.
    pub readers: Vec<u32>,
    /// Its write end is held outside the pipeline (it is where the pipeline's input comes from).
    pub outside_writer: bool,
    /// Its read end is held outside the pipeline (it is where the pipeline's output goes to).
    pub outside_reader: bool,
    /// Capacity when first seen.
    pub initial_capacity_bytes: Option<u64>,
    /// Capacity when last seen.
    pub capacity_bytes: Option<u64>,
    /// Share of the pipe's life in which its writer was blocked on it.
    pub writer_blocked_percent: Option<f64>,
    /// Share of the pipe's life in which its reader was blocked on it.
    pub reader_blocked_percent: Option<f64>,
    /// How long the pipe was seen.
    pub life_ns: u64,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One attempt to change the capacity of a pipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TuningRecord {
    /// Which pipe.
    pub pipe: u32,
    /// When, from the start of the run.
    pub at_ns: u64,
    /// Capacity before.
    pub from_bytes: u64,
    /// Capacity asked for.
    pub to_bytes: u64,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, in one sentence.
    pub reason: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl TuningRecord {
    /// An attempt on this pipe, `at_ns` nanoseconds from the start of the run, to change its capacity from
    /// `from_bytes` to `to_bytes`; without a reason.
    #[must_use]
    pub fn new(pipe: u32, at_ns: u64, from_bytes: u64, to_bytes: u64, outcome: Outcome) -> Self {
        Self {
            pipe,
            at_ns,
            from_bytes,
            to_bytes,
            outcome,
            reason: String::new(),
            extra: Extra::new(),
        }
    }

    /// The same, for this reason.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }
}

/// What became of an attempt to change a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It helped, or was asked for by the user.
    Kept,
    /// It did not help and was put back.
    Reverted,
    /// Linux said no.
    Refused,
    /// An outcome that a later version has a name for.
    #[serde(untagged)]
    Other(Name),
}

/// A state that can be seen only while it lasts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Incident {
    /// A reader waits for an end of file that cannot come: the writers it knows are gone, someone else holds the write end.
    LeakedEnd {
        /// The pipe.
        pipe: u32,
        /// The stage that waits.
        waiting_stage: u32,
        /// Stage of the process that holds the end, when it belongs to one.
        holder_stage: Option<u32>,
        /// Process that holds the end.
        holder_pid: i32,
        /// What it runs.
        holder_command: String,
        /// How long the reader waited.
        lasted_ns: u64,
    },
    /// Stages wait for each other in a circle.
    Deadlock {
        /// The stages of the circle, each waiting for the next.
        stages: Vec<u32>,
        /// The pipe each of them waits on.
        pipes: Vec<u32>,
        /// How long the circle stood.
        lasted_ns: u64,
        /// Whether it still stood when the run ended.
        to_the_end: bool,
    },
    /// Nothing ran and nothing moved.
    Stalled {
        /// The stage that all others waited for, when there is one.
        stage: Option<u32>,
        /// How long.
        lasted_ns: u64,
    },
    /// A kind that a later version has a name for, as it was read.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// The record so far, with what only matters while the pipeline runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// The record, as if the run ended now (`exit_status` is not known yet).
    #[serde(flatten)]
    pub record: RunRecord,
    /// Bytes queued in each pipe of the record, when they could be counted.
    pub pipe_fill_bytes: Vec<Option<u64>>,
    /// Whether each stage of the record is alive.
    pub stage_is_alive: Vec<bool>,
}
