//! One pipeline of a survey: watched while something happens in it, and only now and then looked at while nothing does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use fullbore_measure::{Bytes, Host};
use fullbore_proc::Root;
use fullbore_record::{Incident, RunRecord, Seen, Snapshot, StageRecord, Timeline};

use crate::attached::Attached;
use crate::sampler::Guests;
use crate::summarise::text_of;
use crate::survey::input::position;
use crate::survey::progress::Reading;
use crate::tune::{AdjustError, Adjusted, Tuning};

/// Nothing moved for so long: it is idle.
const IDLE_NS: u64 = 5_000_000_000;
/// Less CPU time than this within [`IDLE_NS`] is none: a timer that ticks.
const IDLE_CPU_NS: u64 = 10_000_000;
/// A verdict speaks of this much time, at most: after it, watching begins anew …
const GENERATION_NS: u64 = 120_000_000_000;
/// … and what began anew takes over after this.
const OVERLAP_NS: u64 = 20_000_000_000;

/// A pipeline of the machine.
pub(super) struct Tracked {
    /// Its processes.
    pub(super) members: BTreeSet<i32>,
    /// Those whose parent is not one of them, each with its parent.
    pub(super) tops: Vec<(i32, i32)>,
    watched: Option<Watched>,
    /// What was seen last.
    last: Option<Arc<Snapshot>>,
    /// How much of a CPU each of its processes has had, as last read.
    marks: BTreeMap<i32, u64>,
    /// When to look whether something happens in it.
    pub(super) look_due_ns: u64,
    reading: Reading,
}

struct Watched {
    now: Attached,
    /// What will take over.
    next: Option<Attached>,
    due_ns: u64,
    /// What had moved, and when that was less than now.
    moved: Moved,
    moved_ns: u64,
}

/// What a pipeline has done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moved {
    bytes: u64,
    cpu_ns: u64,
}

impl Moved {
    fn of(record: &RunRecord) -> Self {
        let bytes = |stage: &StageRecord| {
            stage.read_bytes.unwrap_or(0).saturating_add(stage.written_bytes.unwrap_or(0))
        };
        Self {
            bytes: record.stages.iter().map(bytes).fold(0, u64::saturating_add),
            cpu_ns: record.stages.iter().map(|stage| stage.cpu_ns).sum(),
        }
    }
}

impl Tracked {
    pub(super) fn new(members: BTreeSet<i32>, tops: Vec<(i32, i32)>) -> Self {
        Self {
            members,
            tops,
            watched: None,
            last: None,
            marks: BTreeMap::new(),
            look_due_ns: 0,
            reading: Reading::default(),
        }
    }

    /// Other processes belong to it now.
    pub(super) fn change(&mut self, members: BTreeSet<i32>, tops: Vec<(i32, i32)>) {
        if let Some(watched) = &mut self.watched {
            for attached in std::iter::once(&mut watched.now).chain(&mut watched.next) {
                attached.tell(tops.clone());
            }
        }
        (self.members, self.tops) = (members, tops);
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// Whether it has been looked at closely.
    pub(super) fn is_known(&self) -> bool {
        self.last.is_some()
    }

    /// Whether something happened in it since this was asked last. The first time, that is unknown and `false`.
    pub(super) fn has_stirred(&mut self, root: &Root) -> bool {
        let mut has_stirred = false;
        for pid in &self.members {
            let Some(stat) = root.stat(*pid) else { continue };
            // What the first thread has had to the nanosecond, and all threads to a clock tick.
            let exact = root.schedstat(*pid, *pid).map_or(0, |times| times.running_ns);
            let mark = exact.wrapping_add(stat.cpu_ticks << 40);
            has_stirred |= self.marks.insert(*pid, mark).is_some_and(|before| before != mark);
        }
        has_stirred
    }

    /// Begins to watch it.
    pub(super) fn watch(&mut self, host: &Host, now_ns: u64) {
        let now = self.attach(host);
        let (moved, moved_ns) = (Moved::default(), now_ns);
        self.watched = Some(Watched { now, next: None, due_ns: now_ns, moved, moved_ns });
    }

    fn attach(&self, host: &Host) -> Attached {
        let pid = self.tops.first().map_or(0, |(_, pid)| *pid);
        Attached::begin(pid, Guests::told(self.tops.clone()), Tuning::Off, host.clone(), None)
    }

    pub(super) fn due_ns(&self) -> Option<u64> {
        self.watched.as_ref().map(|watched| watched.due_ns)
    }

    /// Gives a pipe a capacity.
    pub(super) fn adjust(&self, pipe: u32, to: Bytes) -> Result<Adjusted, AdjustError> {
        let watched = self.watched.as_ref().ok_or(AdjustError::NoPipe(pipe))?;
        watched.now.adjust(pipe, to)
    }

    /// How long it has been watched.
    pub(super) fn watched_ns(&self) -> u64 {
        self.watched.as_ref().map_or(0, |watched| watched.now.elapsed_ns())
    }

    /// Takes a sample; the next one comes `interval_ns` later.
    pub(super) fn sample(&mut self, now_ns: u64, interval_ns: u64) -> Duration {
        let Some(watched) = &mut self.watched else { return Duration::ZERO };
        watched.due_ns = now_ns + interval_ns;
        let next = watched.next.as_mut().map_or(Duration::ZERO, Attached::sample);
        watched.now.sample() + next
    }

    /// Looks at what has been seen since. Ends watching if nothing happens.
    pub(super) fn take_stock(&mut self, host: &Host, root: &Root, now_ns: u64) {
        let is_due = self.watched_ns() > GENERATION_NS;
        let has_next = self.watched.as_ref().is_some_and(|watched| watched.next.is_some());
        let next = (is_due && !has_next).then(|| self.attach(host));
        let Some(watched) = &mut self.watched else { return };
        watched.next = watched.next.take().or(next);
        if let Some(next) = watched.next.take_if(|next| next.elapsed_ns() > OVERLAP_NS) {
            watched.now = next;
            watched.moved = Moved::default();
        }
        let mut snapshot = watched.now.snapshot();
        let moved = Moved::of(&snapshot.record);
        let more_cpu_ns = moved.cpu_ns.saturating_sub(watched.moved.cpu_ns);
        if moved.bytes != watched.moved.bytes || more_cpu_ns > IDLE_CPU_NS {
            (watched.moved, watched.moved_ns) = (moved, now_ns);
        }
        let is_idle =
            now_ns.saturating_sub(watched.moved_ns) > IDLE_NS && !is_stuck(&snapshot.record);
        if let Some((pid, _)) = first_stage(&snapshot.record)
            && let Some((position, size)) = position(root, pid)
        {
            self.reading.take_in(now_ns, position, size);
        }
        if is_idle {
            self.watched = None;
            self.has_stirred(root);
            // There may be thousands of these, and nobody needs the history of nothing.
            snapshot.record.timeline = Timeline::default();
        }
        self.last = Some(Arc::new(snapshot));
    }

    /// Whether none of its processes lives.
    pub(super) fn has_ended(&self) -> bool {
        self.watched.as_ref().is_some_and(|watched| watched.now.has_ended())
    }

    /// What is known of it.
    pub(super) fn seen(&self, root: &Root) -> Seen {
        let snapshot = self.last.clone().unwrap_or_else(|| Arc::new(self.stages_alone(root)));
        let mut seen = Seen::new(snapshot);
        seen.is_idle = self.watched.is_none();
        let record = &seen.snapshot.record;
        if !seen.is_idle
            && let Some((_, stage)) = first_stage(record)
        {
            seen.progress = self.reading.progress(stage, record);
        }
        seen
    }

    /// A record that says nothing but what runs.
    fn stages_alone(&self, root: &Root) -> Snapshot {
        let mut snapshot = Snapshot::default();
        for (number, (_, pid)) in (1..).zip(&self.tops) {
            let mut stage = StageRecord::default();
            stage.stage = number;
            stage.pid = *pid;
            stage.words = root.command_line(*pid);
            stage.command = text_of(&stage.words);
            snapshot.record.stages.push(stage);
        }
        let commands = snapshot.record.stages.iter().map(|stage| stage.command.as_str());
        snapshot.record.command = commands.collect::<Vec<_>>().join(" | ");
        snapshot
    }
}

/// Its first stage, if that does not read from another: process and number.
fn first_stage(record: &RunRecord) -> Option<(i32, u32)> {
    let reads = |stage: &StageRecord| record.pipes.iter().any(|p| p.readers.contains(&stage.stage));
    let first = record.stages.iter().find(|stage| !reads(stage))?;
    Some((first.pid, first.stage))
}

/// Whether its stages wait for each other, or for an end that cannot come.
pub(super) fn is_stuck(record: &RunRecord) -> bool {
    let is_so = |incident: &Incident| {
        matches!(incident, Incident::Deadlock { to_the_end: true, .. } | Incident::LeakedEnd { .. })
    };
    record.incidents.iter().any(is_so)
}
