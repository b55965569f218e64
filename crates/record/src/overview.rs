//! Every pipeline of a machine at one moment: what `fullbore top` shows.

use std::sync::Arc;

use fullbore_measure::Host;
use serde::Serialize;

use crate::Snapshot;

/// Name and version of the format of an [`Overview`].
pub const OVERVIEW_SCHEMA: &str = "fullbore.top/1";

/// Every pipeline of a machine at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Overview {
    /// [`OVERVIEW_SCHEMA`].
    pub schema: String,
    /// Version of the fullbore that looked.
    pub fullbore_version: String,
    /// When, in nanoseconds since 1970 (UTC).
    pub unix_ns: u64,
    /// How long it has looked.
    pub elapsed_ns: u64,
    /// CPU time that took.
    pub observer_cpu_ns: u64,
    /// The machine.
    pub host: Host,
    /// Processes of the machine whose pipes may be seen.
    pub processes: u32,
    /// Processes of other users, whose pipes may not be seen.
    pub hidden_processes: u32,
    /// Groups of such processes that are probably pipelines: started by one process, in one process group, as a shell
    /// starts the stages of a pipeline.
    pub hidden_pipelines: u32,
    /// The pipelines, the oldest first.
    pub pipelines: Vec<Seen>,
}

/// A pipeline as part of an [`Overview`].
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Seen {
    /// The process by which it is known: the one that began first.
    pub pid: i32,
    /// Where it belongs.
    pub place: Place,
    /// How long ago its first process began.
    pub age_ns: u64,
    /// Nothing was read, written or computed for five seconds. If it never was otherwise, nothing is known but its stages.
    pub is_idle: bool,
    /// How far its first stage has read a file; `None` if it reads none.
    pub progress: Option<Progress>,
    /// What was seen since it has been watched. Thousands of idle pipelines share theirs with who watches them.
    #[serde(flatten)]
    pub snapshot: Arc<Snapshot>,
}

impl Seen {
    /// An active pipeline of which nothing is known but what was seen of it.
    #[must_use]
    pub fn new(snapshot: Arc<Snapshot>) -> Self {
        let (pid, age_ns, is_idle) = (0, 0, false);
        Self { pid, place: Place::default(), age_ns, is_idle, progress: None, snapshot }
    }

    /// The process by which it is known, and the first process of each stage.
    pub fn pids(&self) -> impl Iterator<Item = i32> {
        let stages = self.snapshot.record.stages.iter().map(|stage| stage.pid);
        std::iter::once(self.pid).chain(stages)
    }

    /// Whether it has a text, given in small letters, in its commands, its unit, terminal or user; or whether that is the number of
    /// one of its processes.
    #[must_use]
    pub fn has(&self, wanted: &str) -> bool {
        if wanted.is_empty() {
            return true;
        }
        let place = &self.place;
        let texts = [&place.unit, &place.terminal, &place.user].into_iter().flatten();
        let mut texts = texts.chain(std::iter::once(&self.snapshot.record.command));
        texts.any(|text| text.to_lowercase().contains(wanted))
            || self.pids().any(|pid| pid.to_string() == wanted)
    }
}

/// Where a pipeline belongs.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub struct Place {
    /// The unit of systemd, or the container, that it runs in: the last part of its control group.
    pub unit: Option<String>,
    /// Its terminal, such as `pts/3`.
    pub terminal: Option<String>,
    /// Its session (setsid(2)): the number of the process that began it.
    pub session: i32,
    /// The user whose it is, by number.
    pub uid: u32,
    /// The user's name, if /etc/passwd has one.
    pub user: Option<String>,
}

/// How far a stage has read its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Progress {
    /// The stage that reads.
    pub stage: u32,
    /// How far it has come, in bytes from the start of its (first) file.
    pub position_bytes: u64,
    /// The size of its files together.
    pub size_bytes: u64,
    /// Bytes per second, lately; `None` until that is known.
    pub bytes_per_second: Option<f64>,
    /// When, at that rate, all will have been read.
    pub input_left_ns: Option<u64>,
    /// When, at that rate, the pipeline will have ended; `None` behind a stage that takes in everything before it gives anything out
    /// (sort), because how long that will take is unknown.
    pub left_ns: Option<u64>,
}

impl Progress {
    /// A stage has read so far of so much.
    #[must_use]
    pub fn new(stage: u32, position_bytes: u64, size_bytes: u64) -> Self {
        Self { stage, position_bytes, size_bytes, ..Self::default() }
    }

    /// The share that has been read, in percent.
    #[must_use]
    pub fn percent(&self) -> f64 {
        100.0 * self.position_bytes as f64 / self.size_bytes.max(1) as f64
    }
}
