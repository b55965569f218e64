//! One pipeline of a survey: watched while something happens in it, and only now and then looked at while nothing does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use fullbore_measure::{Bytes, Host};
use fullbore_proc::Root;
use fullbore_record::{Incident, RunRecord, Seen, Snapshot, StageRecord, Timeline};

use crate::account::series::Clock;
use crate::attached::Attached;
use crate::sampler::Guests;
use crate::summarise::text_of;
use crate::survey::input::position;
use crate::survey::mark::Mark;
use crate::survey::progress::Reading;
use crate::tune::{AdjustError, Adjusted, Tuning};

/// Nothing moved for so long: it is idle.
const IDLE_NS: u64 = 5_000_000_000;
/// Less CPU time than this within [`IDLE_NS`] is none: a timer that ticks.
const IDLE_CPU_NS: u64 = 10_000_000;
/// One that has been watched for less than this is new.
const NEW_NS: u64 = 2_000_000_000;
/// If nothing has moved for so long since watching began, perhaps nothing will.
const QUIET_NS: u64 = 300_000_000;
/// Steps of a timeline that nobody will see as a whole.
const STEPS_MAX: usize = 240;
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
    /// What runs in it, as long as nothing else is known.
    listed: Option<Arc<Snapshot>>,
    /// How much of a CPU each of its processes has had, as last read.
    marks: BTreeMap<i32, Mark>,
    /// Since when that has been the same.
    calm_since_ns: Option<u64>,
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
    /// Whether none of its processes had used a CPU for [`QUIET_NS`] when watching began.
    is_calm: bool,
    /// Whether anything has moved since watching began.
    has_moved: bool,
}

impl Watched {
    /// Notes when something has moved since this was called last.
    fn note_moved(&mut self, now_ns: u64) {
        let moved = Moved::of(&self.now);
        let more_cpu_ns = moved.cpu_ns.saturating_sub(self.moved.cpu_ns);
        if moved.bytes != self.moved.bytes || more_cpu_ns > IDLE_CPU_NS {
            (self.moved, self.moved_ns) = (moved, now_ns);
            self.has_moved = true;
        }
    }
}

/// What a pipeline has done.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moved {
    bytes: u64,
    cpu_ns: u64,
}

impl Moved {
    fn of(attached: &Attached) -> Self {
        let mut moved = Self::default();
        for stage in &attached.watch.observed.accounts.stages {
            moved.cpu_ns += stage.cpu_ns;
            if let Some(total) = stage.io.total {
                moved.bytes = moved.bytes.saturating_add(total.read_bytes);
                moved.bytes = moved.bytes.saturating_add(total.written_bytes);
            }
        }
        moved
    }
}

impl Tracked {
    pub(super) fn new(members: BTreeSet<i32>, tops: Vec<(i32, i32)>) -> Self {
        Self {
            members,
            tops,
            watched: None,
            last: None,
            listed: None,
            marks: BTreeMap::new(),
            calm_since_ns: None,
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
        self.listed = None;
    }

    pub(super) fn is_watched(&self) -> bool {
        self.watched.is_some()
    }

    /// Whether it has been looked at closely.
    pub(super) fn is_known(&self) -> bool {
        self.last.is_some()
    }

    /// Whether something happened in it since this was asked last. The first time, that is unknown and `false`.
    pub(super) fn has_stirred(&mut self, root: &Root, now_ns: u64) -> bool {
        let mut has_stirred = false;
        for pid in &self.members {
            let before = self.marks.get(pid).copied();
            let Some(mark) = Mark::read(root, *pid, before) else { continue };
            self.marks.insert(*pid, mark);
            has_stirred |= before.is_some_and(|before| before != mark);
        }
        if has_stirred || self.calm_since_ns.is_none() {
            self.calm_since_ns = Some(now_ns);
        }
        has_stirred
    }

    /// Begins to watch it.
    pub(super) fn watch(&mut self, host: &Host, now_ns: u64) {
        let now = self.attach(host);
        // Of one that is watched already, nobody has asked for some time.
        let is_calm = self.watched.is_none()
            && self.calm_since_ns.is_some_and(|since_ns| now_ns > since_ns + QUIET_NS);
        self.watched = Some(Watched {
            now,
            next: None,
            due_ns: now_ns,
            moved: Moved::default(),
            moved_ns: now_ns,
            is_calm,
            has_moved: false,
        });
    }

    fn attach(&self, host: &Host) -> Attached {
        let pid = self.tops.first().map_or(0, |(_, pid)| *pid);
        let guests = Guests::told(self.tops.clone());
        let mut attached = Attached::begin(pid, guests, Tuning::Off, host.clone(), None);
        attached.watch.observed.accounts.clock = Clock::of_at_most(STEPS_MAX);
        attached
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

    /// Whether little is known of it yet: it has not been watched for long, and something has moved in it or may soon.
    pub(super) fn is_new(&self) -> bool {
        self.watched_ns() < NEW_NS && !self.is_quiet()
    }

    /// Whether it is being found out that nothing happens in it. One that is stuck is watched for longer.
    pub(super) fn is_on_probation(&self) -> bool {
        self.is_quiet() && self.watched_ns() < IDLE_NS * 3 / 2
    }

    /// Whether it is watched, and nothing has moved in it since.
    pub(super) fn is_quiet(&self) -> bool {
        let is_long = self.watched_ns() > QUIET_NS;
        self.watched.as_ref().is_some_and(|one| !one.has_moved && (one.is_calm || is_long))
    }

    /// Takes a sample; the next one comes `interval_ns` later.
    pub(super) fn sample(&mut self, now_ns: u64, interval_ns: u64) -> Duration {
        let Some(watched) = &mut self.watched else { return Duration::ZERO };
        watched.due_ns = now_ns + interval_ns;
        let next = watched.next.as_mut().map_or(Duration::ZERO, Attached::sample);
        let spent = watched.now.sample() + next;
        // Until it is known to be busy, this must not wait for somebody to take stock.
        if !watched.has_moved {
            watched.note_moved(now_ns);
        }
        spent
    }

    /// Looks at what has been seen since. Ends watching if nothing happens.
    pub(super) fn take_stock(&mut self, host: &Host, root: &Root, now_ns: u64) {
        let is_quiet = self.is_quiet();
        let is_due = self.watched_ns() > GENERATION_NS;
        let has_next = self.watched.as_ref().is_some_and(|watched| watched.next.is_some());
        let next = (is_due && !has_next).then(|| self.attach(host));
        let Some(watched) = &mut self.watched else { return };
        watched.next = watched.next.take().or(next);
        if let Some(next) = watched.next.take_if(|next| next.elapsed_ns() > OVERLAP_NS) {
            watched.now = next;
            watched.moved = Moved::default();
        }
        watched.note_moved(now_ns);
        let has_rested = now_ns.saturating_sub(watched.moved_ns) > IDLE_NS;
        let is_quiet = is_quiet && !watched.has_moved;
        // What it consists of has been seen, and nothing has happened in it.
        if is_quiet && !has_rested && self.last.is_some() {
            return;
        }
        let mut snapshot = watched.now.snapshot();
        let is_idle = has_rested && !is_stuck(&snapshot.record);
        if !is_quiet
            && let Some((pid, _)) = first_stage(&snapshot.record)
            && let Some((position, size)) = position(root, pid)
        {
            self.reading.take_in(now_ns, position, size);
        }
        if is_idle {
            self.watched = None;
            self.has_stirred(root, now_ns);
            // There may be thousands of these, and nobody needs the history of nothing.
            snapshot.record.timeline = Timeline::default();
        }
        self.last = Some(Arc::new(snapshot));
        self.listed = None;
    }

    /// Whether none of its processes lives.
    pub(super) fn has_ended(&self) -> bool {
        self.watched.as_ref().is_some_and(|watched| watched.now.has_ended())
    }

    /// What is known of it.
    pub(super) fn seen(&mut self, root: &Root) -> Seen {
        let mut seen = Seen::new(match &self.last {
            Some(last) => Arc::clone(last),
            None => self.stages_alone(root),
        });
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
    fn stages_alone(&mut self, root: &Root) -> Arc<Snapshot> {
        if let Some(listed) = &self.listed {
            return Arc::clone(listed);
        }
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
        Arc::clone(self.listed.insert(Arc::new(snapshot)))
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
