//! A pipeline of others that is being watched: what is known of it, and leaving it as it was.

use std::fs::File;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fullbore_diagnose::diagnose;
use fullbore_measure::{Bytes, Host};
use fullbore_perf::Stacks;
use fullbore_pipe::{Limits, PipeId};
use fullbore_proc::{Root, clock_ticks_per_second};
use fullbore_profile::Profile;
use fullbore_record::{PipeRecord, RunRecord, Snapshot};
use rustix::time::ClockId;

use crate::account::Accounts;
use crate::observed::Observed;
use crate::profiling::{HERTZ, Profiling};
use crate::recording::{End, Recorder, Start};
use crate::sample::Look;
use crate::sampler::{Guests, Sampler};
use crate::summarise::{Frame, Numbers, record};
use crate::topology::pipes::Pipes;
use crate::topology::{Roots, Topology};
use crate::tune::{AdjustError, Adjusted, Tuner, Tuning, adjust};
use crate::wake::WakeUps;
use crate::watch::{Watch, cpu_time, nanoseconds};

/// Pipes that are too full to shrink are given this long to be read.
const PATIENCE: Duration = Duration::from_secs(1);

/// A pipeline of others that is being watched.
pub(crate) struct Attached {
    host: Host,
    pub(crate) watch: Watch,
    at: Instant,
    unix_ns: u64,
    /// How long it had run, as far as its processes tell.
    age_ns: Option<u64>,
    /// CPU time that fullbore used for this pipeline.
    spent: Duration,
}

impl Attached {
    /// Begins to watch; `pid` is the process that was named.
    pub(crate) fn begin(
        pid: i32,
        guests: Guests,
        tuning: Tuning,
        host: Host,
        samples: Option<File>,
    ) -> Self {
        let begin = cpu_time(ClockId::ThreadCPUTime);
        let own = std::process::id().cast_signed();
        let sampler = Sampler::of_others(own, guests);
        let roots = Roots { own, ..Roots::default() };
        let limits =
            Limits::from_settings(host.pipe_max_bytes, host.pipe_user_pages_soft, host.page_bytes);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut gaps = sampler.gaps().to_vec();
        if Root::system().try_fds(pid).is_err() {
            gaps.push(format!(
                "which pipes process {pid} holds may not be seen (it is another user's): the rest of its pipeline is \
                 unknown; root can see it"
            ));
        }
        let start = Start {
            command: String::new(),
            roots: roots.clone(),
            outside: Vec::new(),
            host: host.clone(),
            tuning,
            started_unix_ns: nanoseconds(since),
            gaps: gaps.clone(),
        };
        let topology = Topology::new(roots, Pipes::default());
        let mut observed = Observed::new(topology, host.cpus, Tuner::new(tuning, limits));
        observed.gaps.extend(gaps);
        let recorder = Recorder::begin(samples, start);
        Self {
            host,
            watch: Watch { sampler, observed, recorder, tuning, counting: None, profiling: None },
            at: Instant::now(),
            unix_ns: nanoseconds(since),
            age_ns: None,
            spent: cpu_time(ClockId::ThreadCPUTime).saturating_sub(begin),
        }
    }

    /// How long it has been watched, in nanoseconds.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        nanoseconds(self.at.elapsed())
    }

    /// Takes a sample; returns the CPU time it took.
    pub(crate) fn sample(&mut self) -> Duration {
        self.sample_and(|_, _| {})
    }

    /// Takes a sample, and lets `then` see what follows from it; returns the CPU time it took.
    pub(crate) fn sample_and(&mut self, then: impl FnOnce(&Accounts, &Look)) -> Duration {
        let spent = self.watch.sample(self.elapsed_ns(), then);
        self.spent += spent;
        if self.age_ns.is_none() {
            self.age_ns = self.find_age_ns();
        }
        spent
    }

    /// Takes stacks from now on, of the threads that are there and whatever they start.
    pub(crate) fn take_stacks(&mut self) {
        let topology = &self.watch.observed.topology;
        let root = Root::system();
        let threads: Vec<i32> =
            topology.processes.keys().flat_map(|pid| root.threads(*pid)).collect();
        let stacks = Stacks::of_threads(HERTZ, &threads).map_err(|why| why.to_string());
        self.watch.profiling = Some(Profiling::new(stacks));
    }

    /// Who belongs to it now, each with its parent; without those whose parent is one of them.
    pub(crate) fn tell(&mut self, members: Vec<(i32, i32)>) {
        self.watch.sampler.tell(members);
    }

    /// Whether all of its processes have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.watch.observed.topology.processes.is_empty()
    }

    /// The record so far, with what is true at this moment only.
    pub(crate) fn snapshot(&mut self) -> Snapshot {
        self.watch.learn_statuses();
        let (record, numbers) = self.record(self.spent);
        self.watch.snapshot(record, &numbers)
    }

    /// Gives the pipes with this number in the record a capacity.
    pub(crate) fn adjust(&self, number: u32, to: Bytes) -> Result<Adjusted, AdjustError> {
        let observed = &self.watch.observed;
        let numbers = Numbers::of(&observed.topology, &observed.accounts);
        let mut pipes = numbers.pipes_numbered(number);
        let pipe = pipes.find_map(|key| observed.topology.pipes.get(key).filter(|p| p.is_alive()));
        let pipe = pipe.ok_or(AdjustError::NoPipe(number))?;
        let host = &self.host;
        let limits =
            Limits::from_settings(host.pipe_max_bytes, host.pipe_user_pages_soft, host.page_bytes);
        adjust(number, pipe, to, limits)
    }

    /// Which pipe has a number in the record.
    pub(crate) fn pipe_id(&self, number: u32) -> Option<PipeId> {
        let observed = &self.watch.observed;
        let numbers = Numbers::of(&observed.topology, &observed.accounts);
        let mut pipes = numbers.pipes_numbered(number);
        pipes.find_map(|key| observed.topology.pipes.get(key)).map(|pipe| pipe.id)
    }

    /// How long the oldest process of the pipeline had run when watching began.
    fn find_age_ns(&self) -> Option<u64> {
        let root = Root::system();
        let started = |pid: &i32| Some(root.stat(*pid)?.start_ticks);
        let oldest = self.watch.observed.topology.processes.keys().filter_map(started).min()?;
        let age_ns = age_ns(oldest);
        Some(age_ns.saturating_sub(self.elapsed_ns()))
    }

    /// The record so far; fullbore used `spent` of CPU time for it.
    pub(crate) fn record(&self, spent: Duration) -> (RunRecord, Numbers) {
        let frame = Frame {
            command: "",
            started_unix_ns: self.unix_ns.saturating_sub(self.age_ns.unwrap_or(0)),
            elapsed_ns: self.elapsed_ns(),
            exit_status: None,
            job: None,
            cpu_ns: None,
            observer_cpu_ns: nanoseconds(spent),
            idle_cpu_ns: None,
            wake_ups: WakeUps::default(),
            host: &self.host,
        };
        let (mut record, numbers) = record(&self.watch.observed, &frame);
        record.command = line_of(&record);
        record.attached_at_ns = Some(self.age_ns.unwrap_or(0).max(1));
        record.findings = diagnose(&record);
        (record, numbers)
    }

    /// Gives the pipes back the capacity they had, and returns the record.
    pub(crate) fn finish(mut self) -> (RunRecord, Option<Profile>) {
        self.watch.learn_statuses();
        let is_restored = self.watch.finish(PATIENCE);
        let (mut record, numbers) = self.record(cpu_time(ClockId::ProcessCPUTime));
        let profile = self.watch.profile(&record, &numbers);
        if !self.has_ended() {
            record.gaps.push("the pipeline went on when watching ended".to_owned());
        }
        if !is_restored {
            let gap = "a pipe keeps more than its old capacity: too much was in it to shrink it";
            record.gaps.push(gap.to_owned());
        }
        self.watch.recorder.end(&End {
            elapsed_ns: record.elapsed_ns,
            exit_status: 0,
            cpu_ns: None,
            observer_cpu_ns: record.observer_cpu_ns,
            idle_cpu_ns: None,
            wake_ups: WakeUps::default(),
            gaps: Vec::new(),
        });
        (record, profile)
    }
}

/// How long ago something was, in nanoseconds, that happened so many clock ticks after boot.
pub(crate) fn age_ns(ticks: u64) -> u64 {
    let then_ns = ticks.saturating_mul(1_000_000_000 / clock_ticks_per_second().max(1));
    nanoseconds(cpu_time(ClockId::Boottime)).saturating_sub(then_ns)
}

/// The stages as somebody would write them, if each reads from the one before.
fn line_of(record: &RunRecord) -> String {
    let is_joined = |pair: &[u32]| {
        let joins =
            |pipe: &PipeRecord| pipe.writers.contains(&pair[0]) && pipe.readers.contains(&pair[1]);
        record.pipes.iter().any(joins)
    };
    let numbers: Vec<u32> = record.stages.iter().map(|stage| stage.stage).collect();
    let commands: Vec<&str> = record.stages.iter().map(|stage| stage.command.as_str()).collect();
    let between = if numbers.windows(2).all(is_joined) { " | " } else { "; " };
    commands.join(between)
}
