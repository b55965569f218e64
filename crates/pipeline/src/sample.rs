//! What one sample saw: plain values, which can be stored and replayed.
//!
//! A sample has two halves. The [`Census`] says who is there: processes, and the ends of pipes they hold.
//! The [`Look`] says what every task did since the sample before, and what it waits for.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fullbore_pipe::PipeId;
use serde::{Deserialize, Serialize};

use fullbore_record::Cause;

/// One sample of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sample {
    /// Who is there.
    pub(crate) census: Census,
    /// What they do.
    pub(crate) look: Look,
}

/// Who is there: what discovery found since the sample before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Census {
    /// When it was taken, in nanoseconds from the start of the run.
    pub(crate) at_ns: u64,
    /// Processes seen for the first time, parents before their children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) born: Vec<Born>,
    /// The ends of pipes that each process holds; `None` when they were not read this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ends: Option<Vec<HeldEnds>>,
    /// Everything was stopped since the sample before: nobody began in that time.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) all_were_stopped: bool,
}

/// A process seen for the first time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Born {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// What it ran when first seen: for a child of the shell, usually still the shell.
    pub(crate) words: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ends: Vec<PipeEnd>,
}

/// The ends of pipes that one process holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HeldEnds {
    pub(crate) pid: i32,
    pub(crate) ends: Vec<PipeEnd>,
}

/// A descriptor that leads to a pipe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PipeEnd {
    pub(crate) fd: i32,
    #[serde(with = "pipe_id")]
    pub(crate) pipe: PipeId,
    /// Where the pipe is, if it is a named FIFO.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<PathBuf>,
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// What all tasks did since the sample before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Look {
    /// When it was taken, in nanoseconds from the start of the run: the time of the census before it, so that what one finds
    /// and what the other misses began and ended at the same moment.
    pub(crate) at_ns: u64,
    pub(crate) processes: Vec<ProcessLook>,
    /// Capacities of pipes that were not known before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) capacities: Vec<PipeCapacity>,
    /// Who got a CPU and who left it since the look before; `None` when that is not watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) switches: Option<Switches>,
    /// The bytes of all processes were counted that ran since they were counted last. No replay needs it.
    #[serde(skip)]
    pub(crate) io_was_due: bool,
    /// The ends of those that were seen to have called execve; they may be gone before all ends are read again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ends: Vec<HeldEnds>,
}

impl Look {
    /// Until when times are known. Where much is new, the census took a while, and switches tell more than the sample is old.
    pub(crate) fn known_until_ns(&self) -> u64 {
        self.switches.as_ref().map_or(0, |switches| switches.until_ns).max(self.at_ns)
    }
}

/// Every switch since the look before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Switches {
    /// Until when they are complete, in nanoseconds from the start of the run.
    pub(crate) until_ns: u64,
    /// Switches that Linux had no room to note down.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) lost: u64,
    /// In the order in which they happened.
    pub(crate) list: Vec<Switch>,
}

/// A thread got a CPU, left it, began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Switch {
    /// When, in nanoseconds from the start of the run.
    pub(crate) at_ns: u64,
    pub(crate) pid: i32,
    pub(crate) tid: i32,
    pub(crate) to: Turn,
}

/// What becomes of a thread at a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Turn {
    /// It got a CPU.
    On,
    /// It left its CPU, to wait for something.
    Off,
    /// It lost its CPU to another thread.
    Preempted,
    /// It was started by this process.
    Begun(i32),
    /// It ended, or may not be watched any more.
    Ended,
}

/// The capacity of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PipeCapacity {
    #[serde(with = "pipe_id")]
    pub(crate) pipe: PipeId,
    pub(crate) bytes: u64,
}

/// What one process did since the sample before. What was not read this time is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProcessLook {
    pub(crate) pid: i32,
    /// It has ended; what its tasks did until then still counts.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) has_ended: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tasks: Vec<TaskLook>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) counts: Option<Counts>,
    /// CPU time of the children it has waited for, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) children_cpu_ns: Option<u64>,
    /// Its parent, which changes when the parent ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) io: Option<IoCount>,
    /// What it runs, if that has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<Vec<String>>,
    /// What the environment says in which that was started, when it was read.
    #[serde(flatten)]
    pub(crate) environment: Environment,
    /// What its status said, when that was read.
    #[serde(flatten)]
    pub(crate) status: StatusLook,
    /// From now on it counts as closed to us: another user's process, or one that is protected.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) waits_are_hidden: bool,
    /// This Linux shows what no process waits for, which the record says once for all of them.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) waits_are_withheld: bool,
}

/// What the environment of a program says about text and buffers; nothing else of it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Environment {
    /// `None` when it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) locale: Option<String>,
    /// Variables by which it was told to use other buffers than usual.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) buffering: BTreeMap<String, String>,
}

impl Environment {
    pub(crate) fn is_known(&self) -> bool {
        *self != Self::default()
    }

    /// What two programs have in common.
    pub(crate) fn common(self, other: &Self) -> Self {
        if self == *other { self } else { Self::default() }
    }
}

/// What `/proc/PID/status` tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StatusLook {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) peak_memory_bytes: Option<u64>,
    /// How its first thread left its CPU, since it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) left_cpu: Option<LeftCpu>,
}

/// What `/proc/PID/stat` counts for the process as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) threads: u32,
    /// CPU time of all its threads, ended ones included, in nanoseconds (to a clock tick).
    pub(crate) cpu_ns: u64,
}

/// How often a thread left its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeftCpu {
    /// To wait for something, each time to be woken later.
    pub(crate) to_wait: u64,
    /// Because another thread got the CPU.
    pub(crate) to_another: u64,
}

/// What one thread did since the sample before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskLook {
    /// The thread; 0 in recordings that do not tell.
    #[serde(default)]
    pub(crate) tid: i32,
    /// Time on a CPU.
    pub(crate) running_ns: u64,
    /// Time ready to run, but waiting for a CPU.
    pub(crate) waiting_ns: u64,
    /// How often it got a CPU.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) slices: u64,
    /// What it does at this moment.
    pub(crate) doing: Doing,
}

/// What a thread does at the moment of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Doing {
    /// It is on a CPU or waits for one.
    Running,
    /// It waits to read from one place.
    Reading(Awaited),
    /// It waits to write to one place.
    Writing(Awaited),
    /// It waits until one of several places is ready (poll, select, epoll).
    Polling {
        /// Places it wants to read from.
        reads: Vec<Awaited>,
        /// Places it wants to write to.
        writes: Vec<Awaited>,
    },
    /// It moves data from one place to another in one call (splice, tee, sendfile), which Linux does not count.
    Moving {
        /// Where the data comes from.
        from: Awaited,
        /// Where it goes.
        to: Awaited,
        /// Bytes queued in the source, if it is a pipe that could be asked.
        source_fill_bytes: Option<u64>,
    },
    /// It waits for something that is not a descriptor.
    Waiting(Cause),
}

/// What a descriptor leads to, as far as waiting for it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Awaited {
    /// A pipe or FIFO.
    Pipe(#[serde(with = "pipe_id")] PipeId),
    /// Anything else, by the cause that a wait for it counts as.
    Other(Cause),
}

/// Bytes and system calls that Linux counted for a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IoCount {
    pub(crate) read_bytes: u64,
    pub(crate) written_bytes: u64,
    pub(crate) read_calls: u64,
    pub(crate) write_calls: u64,
}

impl IoCount {
    /// The sum of two counts.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            read_bytes: self.read_bytes + other.read_bytes,
            written_bytes: self.written_bytes + other.written_bytes,
            read_calls: self.read_calls + other.read_calls,
            write_calls: self.write_calls + other.write_calls,
        }
    }

    /// How much more this count has than `other`.
    pub(crate) fn minus(self, other: Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(other.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(other.written_bytes),
            read_calls: self.read_calls.saturating_sub(other.read_calls),
            write_calls: self.write_calls.saturating_sub(other.write_calls),
        }
    }
}

impl From<fullbore_proc::Io> for IoCount {
    fn from(io: fullbore_proc::Io) -> Self {
        Self {
            read_bytes: io.read_bytes,
            written_bytes: io.written_bytes,
            read_calls: io.read_calls,
            write_calls: io.write_calls,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// The identity of a pipe as two numbers: device (0 for an anonymous pipe) and inode.
mod pipe_id {
    use fullbore_pipe::PipeId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(id: &PipeId, to: S) -> Result<S::Ok, S::Error> {
        (id.device, id.inode).serialize(to)
    }

    pub(super) fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<PipeId, D::Error> {
        let (device, inode) = <(u64, u64)>::deserialize(from)?;
        Ok(PipeId { device, inode })
    }
}
