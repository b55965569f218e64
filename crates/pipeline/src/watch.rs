//! Watching a pipeline, whoever started it: samples, and the changes to pipes that follow from them.

use std::time::{Duration, Instant};

use fullbore_profile::Profile;
use fullbore_record::{RunRecord, Snapshot};
use rustix::time::ClockId;

use crate::account::Accounts;
use crate::counting::Counting;
use crate::observed::Observed;
use crate::profiling::Profiling;
use crate::recording::Recorder;
use crate::sample::{Look, Sample};
use crate::sampler::{Sampler, ask};
use crate::subject::as_shell_reports;
use crate::summarise::Numbers;
use crate::tune::{Tuning, apply, restore_all};

/// A pipe that is too full to be given its old capacity is looked at again after this time.
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

/// A pipeline that is being watched.
pub(crate) struct Watch {
    pub(crate) sampler: Sampler,
    pub(crate) observed: Observed,
    pub(crate) recorder: Recorder,
    pub(crate) tuning: Tuning,
    /// Where counters are wanted.
    pub(crate) counting: Option<Counting>,
    /// Where stacks are wanted.
    pub(crate) profiling: Option<Profiling>,
}

impl Watch {
    /// Takes one sample, and makes the changes to pipes that follow from it; returns the CPU time it took. `also` sees what
    /// was seen.
    ///
    /// Not the time by the clock: where CPUs are scarce, that is mostly waiting for one, and would make samples rare
    /// just where there is much to see.
    pub(crate) fn sample(&mut self, now_ns: u64, also: impl FnOnce(&Accounts, &Look)) -> Duration {
        let begin = cpu_time(ClockId::ThreadCPUTime);
        let census = self.sampler.census(&self.observed.topology, now_ns);
        let known = self.observed.topology.stages.len();
        self.observed.take_in_census(&census);
        self.profiling
            .iter_mut()
            .for_each(|profiling| profiling.note_stages(&self.observed.topology));
        let new = self.observed.topology.stages.get(known..).unwrap_or_default();
        new.iter().for_each(|stage| self.sampler.leaders.hold(stage.leader.pid));
        if let Some(counting) = &mut self.counting {
            new.iter()
                .enumerate()
                .for_each(|(place, stage)| counting.begin(known + place, stage.leader.pid));
        }
        let look = self.sampler.look(&self.observed.topology, now_ns);
        let mut changes = self.observed.take_in_look(&look);
        self.profiling.iter_mut().for_each(|profiling| profiling.take_in(&self.observed, &look));
        also(&self.observed.accounts, &look);
        self.recorder.sample(Sample { census, look });
        while let Some(change) = changes.pop() {
            let answer = apply(&change, self.tuning, &self.observed.topology, &self.sampler);
            self.recorder.answer(&answer);
            changes.extend(self.observed.take_in_answer(change, &answer, now_ns));
        }
        cpu_time(ClockId::ThreadCPUTime).saturating_sub(begin)
    }

    /// Learns the exit statuses of stages that have ended.
    pub(crate) fn learn_statuses(&mut self) {
        for (pid, status) in self.sampler.leaders.statuses() {
            self.note_status(pid, as_shell_reports(status));
        }
    }

    pub(crate) fn note_status(&mut self, pid: i32, status: i32) {
        self.recorder.status(pid, status);
        self.observed.topology.note_status(pid, status);
    }

    /// The last sample was taken: gives pipes that go on without us the capacity they had. If more is in one than fits, it is
    /// tried again for as long as `patience`; then this is `false`.
    pub(crate) fn finish(&mut self, patience: Duration) -> bool {
        self.observed.finish();
        let end = Instant::now() + patience;
        while !restore_all(&self.observed.topology, &self.sampler) {
            if Instant::now() >= end {
                return false;
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
        true
    }

    /// The towers of what was watched, where stacks were wanted.
    pub(crate) fn profile(&mut self, record: &RunRecord, numbers: &Numbers) -> Option<Profile> {
        let profiling = self.profiling.take()?;
        Some(profiling.profile(record, &self.observed.topology, numbers))
    }

    /// The record so far, with what is true at this moment only.
    pub(crate) fn snapshot(&self, record: RunRecord, numbers: &Numbers) -> Snapshot {
        let topology = &self.observed.topology;
        let fill = |key| {
            let pipe = topology.pipes.get(key).filter(|_| self.sampler.may_ask())?;
            let bytes = ask(pipe, |fd| fullbore_pipe::fill(fd).ok())?;
            Some(bytes.0)
        };
        let is_alive = |index: &usize| topology.stages[*index].alive > 0;
        let mut snapshot = Snapshot::default();
        snapshot.record = record;
        snapshot.pipe_fill_bytes = numbers.pipe_order.iter().map(|key| fill(*key)).collect();
        snapshot.stage_is_alive = numbers.stage_order.iter().map(is_alive).collect();
        snapshot
    }
}

/// CPU time of this process or thread so far.
pub(crate) fn cpu_time(of: ClockId) -> Duration {
    let time = rustix::time::clock_gettime(of);
    Duration::try_from(time).unwrap_or_default()
}

pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
