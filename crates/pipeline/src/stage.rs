//! A stage while it is watched: sums over all its processes, past and present.

use std::collections::BTreeMap;

use fullbore_pipe::Pidfd;
use fullbore_proc::Io;

use crate::correct::{Late, MetAwake};
use crate::record::Cause;
use crate::timeline::{Series, Spent};

/// Why a stage waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// For data in a pipe (by index).
    Reading(usize),
    /// For room in a pipe (by index).
    Writing(usize),
    /// For anything else.
    Other(Cause),
}

impl Reason {
    /// Which of several waiting threads speaks for the stage: the one on the path of the data.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Writing(_) => 9,
            Self::Reading(_) => 8,
            Self::Other(Cause::Disk) => 7,
            Self::Other(Cause::Network) => 6,
            Self::Other(Cause::Terminal) => 5,
            Self::Other(Cause::Stopped) => 4,
            Self::Other(Cause::FifoPeer) => 3,
            Self::Other(Cause::Sleep) => 2,
            Self::Other(Cause::Lock | Cause::Unknown) => 1,
            Self::Other(Cause::Child) => 0,
        }
    }
}

/// What a stage did when last looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    /// At least one thread was on a CPU or waited for one.
    Running,
    /// None was.
    Blocked(Reason),
}

/// A stage.
#[derive(Debug)]
pub(crate) struct Stage {
    /// Process whose child it began as; 0 for the shell itself.
    pub(crate) container: i32,
    pub(crate) leader: i32,
    pub(crate) leader_is_alive: bool,
    pub(crate) hold: Option<Pidfd>,
    pub(crate) exit_status: Option<i32>,
    pub(crate) words: Vec<String>,
    /// What its first process ran when first seen.
    pub(crate) first_words: Vec<String>,
    /// Its first process only starts stages and waits for them.
    pub(crate) was_only_container: bool,
    pub(crate) processes: u32,
    pub(crate) alive: u32,
    pub(crate) threads: u32,
    pub(crate) start_ns: u64,
    pub(crate) last_ns: u64,
    pub(crate) cpu_ns: u64,
    /// Bytes and calls of processes that ended.
    pub(crate) ended_io: Io,
    /// The sum of `ended_io` and the live processes, when last read.
    pub(crate) io: Option<Io>,
    pub(crate) io_read_ns: u64,
    pub(crate) unseen: Unseen,
    pub(crate) peak_memory_bytes: Option<u64>,
    pub(crate) spent: Spent,
    pub(crate) causes: BTreeMap<Cause, f64>,
    pub(crate) series: Series,
    pub(crate) now: Option<Now>,
    /// Since when it waits for the same thing without a break.
    pub(crate) blocked_since_ns: Option<u64>,
    late: Late,
    /// How many threads run at one time, when one does.
    concurrency: f64,
    /// Recent reasons to wait, to divide waits that fell between two looks.
    recent: BTreeMap<Reason, f64>,
    met_awake: MetAwake,
    /// The stage this one was joined with (repetitions of a loop).
    pub(crate) joined: Option<usize>,
}

/// What cannot be told about a stage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unseen {
    /// It moves data by splice, which Linux does not count.
    pub(crate) bytes: bool,
    /// What one of its processes waits for may not be looked at.
    pub(crate) waits: bool,
}

/// What one look found about a stage, over all its processes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageLook {
    /// CPU time since the last look, of all threads and waited-for children.
    pub(crate) run_sum_ns: u64,
    /// The largest of one thread.
    pub(crate) run_max_ns: u64,
    pub(crate) wait_sum_ns: u64,
    /// Threads that ran or wanted to when looked at.
    pub(crate) running_tasks: u32,
    /// Why it waits, by the thread that ranks highest.
    pub(crate) reason: Option<Reason>,
}

/// What a stage does that is met awake more often than it is.
const NAP: Reason = Reason::Other(Cause::Sleep);

/// Weight that the past keeps at each look: about the last thirty looks count.
const PAST: f64 = 0.97;

impl Stage {
    pub(crate) fn new(container: i32, leader: i32, words: Vec<String>, now_ns: u64) -> Self {
        Self {
            container,
            leader,
            leader_is_alive: true,
            hold: None,
            exit_status: None,
            first_words: words.clone(),
            words,
            was_only_container: false,
            processes: 0,
            alive: 0,
            threads: 1,
            start_ns: now_ns,
            last_ns: now_ns,
            cpu_ns: 0,
            ended_io: Io::default(),
            io: None,
            io_read_ns: now_ns,
            unseen: Unseen::default(),
            peak_memory_bytes: None,
            spent: Spent::default(),
            causes: BTreeMap::new(),
            series: Series::default(),
            now: None,
            blocked_since_ns: None,
            late: Late::default(),
            concurrency: 1.0,
            recent: BTreeMap::new(),
            met_awake: MetAwake::default(),
            joined: None,
        }
    }

    /// How long it lived so far.
    pub(crate) fn life_ns(&self) -> f64 {
        self.spent.total_ns()
    }

    /// Divides `length_ns` between running, waiting for a CPU and the reasons to wait; adds it to the sums.
    ///
    /// CPU time is exact (the scheduler counts it); what remains goes to the reason seen at the look,
    /// or, when the stage ran at that moment, to its recent reasons in proportion.
    pub(crate) fn divide(&mut self, look: &StageLook, length_ns: u64, now_ns: u64) -> Divided {
        let length = length_ns as f64;
        if look.running_tasks > 0 {
            self.concurrency += 0.1 * (f64::from(look.running_tasks) - self.concurrency);
        }
        let together = self.concurrency.max(1.0);
        let now = match (look.running_tasks, look.reason) {
            (0, Some(reason)) => Some(Now::Blocked(reason)),
            (0, None) => None,
            _ => Some(Now::Running),
        };
        self.note(now, now_ns);
        let ran = (look.run_sum_ns as f64 / together).max(look.run_max_ns as f64);
        let running = self.late.running(ran, length);
        let runnable = self.late.runnable(look.wait_sum_ns as f64 / together, length - running);
        let advance = if now == Some(Now::Running) {
            self.late.advance(length - running - runnable)
        } else {
            0.0
        };
        let is_awake = f64::from(u8::from(now == Some(Now::Running)));
        self.met_awake.note(is_awake, (running + runnable + advance) / length);
        let mut divided = Divided::default();
        divided.spent.running_ns = running + advance;
        divided.spent.runnable_ns = runnable;
        divided.reasons = self.reasons(now, length - running - runnable - advance);
        for (reason, ns) in &divided.reasons {
            match reason {
                Reason::Reading(_) => divided.spent.reading_ns += ns,
                Reason::Writing(_) => divided.spent.writing_ns += ns,
                Reason::Other(cause) => {
                    divided.spent.other_ns += ns;
                    *self.causes.entry(*cause).or_default() += ns;
                }
            }
        }
        self.cpu_ns += look.run_sum_ns;
        self.spent.add(&divided.spent, 1.0);
        self.last_ns = now_ns;
        divided
    }

    fn note(&mut self, now: Option<Now>, now_ns: u64) {
        if !matches!(now, Some(Now::Blocked(_))) || now != self.now {
            self.blocked_since_ns = matches!(now, Some(Now::Blocked(_))).then_some(now_ns);
        }
        self.now = now;
        if let Some(Now::Blocked(reason)) = now {
            self.recent.values_mut().for_each(|weight| *weight *= PAST);
            self.recent.retain(|_, weight| *weight > 0.01);
            *self.recent.entry(reason).or_default() += 1.0;
        }
    }

    fn reasons(&self, now: Option<Now>, blocked_ns: f64) -> Vec<(Reason, f64)> {
        if let Some(Now::Blocked(reason)) = now {
            return vec![(reason, blocked_ns)];
        }
        let seen: f64 = self.recent.values().sum();
        if seen == 0.0 {
            return vec![(Reason::Other(Cause::Unknown), blocked_ns)];
        }
        let woken = self.met_awake.woken_share();
        let share = |(reason, weight): (&Reason, &f64)| {
            let share = if !self.recent.contains_key(&NAP) {
                weight / seen
            } else {
                weight / seen * (1.0 - woken) + if *reason == NAP { woken } else { 0.0 }
            };
            (*reason, blocked_ns * share)
        };
        self.recent.iter().map(share).collect()
    }

    /// Takes over everything another stage did: it was the same command again.
    pub(crate) fn join(&mut self, other: &mut Self) {
        self.processes += other.processes;
        self.cpu_ns += other.cpu_ns;
        self.threads = self.threads.max(other.threads);
        self.peak_memory_bytes = self.peak_memory_bytes.max(other.peak_memory_bytes);
        self.start_ns = self.start_ns.min(other.start_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        self.spent.add(&other.spent, 1.0);
        for (cause, ns) in &other.causes {
            *self.causes.entry(*cause).or_default() += ns;
        }
        self.series.absorb(&std::mem::take(&mut other.series));
        self.ended_io = sum(self.ended_io, other.ended_io);
        self.io = match (self.io, other.io) {
            (Some(one), Some(two)) => Some(sum(one, two)),
            (one, two) => one.or(two),
        };
        self.unseen.bytes |= other.unseen.bytes;
        self.unseen.waits |= other.unseen.waits;
        self.exit_status = other.exit_status.or(self.exit_status);
    }
}

/// What a stage did between two looks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Divided {
    pub(crate) spent: Spent,
    pub(crate) reasons: Vec<(Reason, f64)>,
}

/// The sum of two counts.
pub(crate) fn sum(one: Io, two: Io) -> Io {
    Io {
        read_bytes: one.read_bytes + two.read_bytes,
        written_bytes: one.written_bytes + two.written_bytes,
        read_calls: one.read_calls + two.read_calls,
        write_calls: one.write_calls + two.write_calls,
    }
}

/// What the first count has more than the second.
pub(crate) fn difference(one: Io, two: Io) -> Io {
    Io {
        read_bytes: one.read_bytes.saturating_sub(two.read_bytes),
        written_bytes: one.written_bytes.saturating_sub(two.written_bytes),
        read_calls: one.read_calls.saturating_sub(two.read_calls),
        write_calls: one.write_calls.saturating_sub(two.write_calls),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage() -> Stage {
        Stage::new(1, 2, vec!["cat".to_owned()], 0)
    }

    #[test]
    fn what_is_not_cpu_time_goes_to_the_reason_seen() {
        let mut stage = stage();
        let look = StageLook {
            run_sum_ns: 30,
            run_max_ns: 30,
            wait_sum_ns: 10,
            running_tasks: 0,
            reason: Some(Reason::Reading(4)),
        };
        let divided = stage.divide(&look, 100, 100);
        assert!((divided.spent.running_ns - 30.0).abs() < 1e-9);
        assert!((divided.spent.runnable_ns - 10.0).abs() < 1e-9);
        assert_eq!(divided.reasons, [(Reason::Reading(4), 60.0)]);
        assert_eq!(stage.cpu_ns, 30);
    }

    #[test]
    fn waits_between_two_looks_go_to_the_recent_reasons() {
        let mut stage = stage();
        let blocked =
            |pipe| StageLook { reason: Some(Reason::Writing(pipe)), ..StageLook::default() };
        stage.divide(&blocked(1), 10, 10);
        let running = StageLook {
            run_sum_ns: 5_000_000,
            run_max_ns: 5_000_000,
            running_tasks: 1,
            ..StageLook::default()
        };
        let divided = stage.divide(&running, 12_000_000, 20);
        assert_eq!(divided.reasons, [(Reason::Writing(1), 3_000_000.0)]);
    }

    #[test]
    fn a_thread_that_runs_all_the_time_is_running_though_linux_counts_by_ticks() {
        let mut stage = stage();
        let (mut running, mut length) = (0.0, 0.0);
        for millisecond in 0..40_u64 {
            let counted = if millisecond % 4 == 3 { 4_000_000 } else { 0 };
            let look = StageLook {
                run_sum_ns: counted,
                run_max_ns: counted,
                running_tasks: 1,
                ..StageLook::default()
            };
            let divided = stage.divide(&look, 1_000_000, millisecond);
            running += divided.spent.running_ns;
            length += divided.spent.total_ns();
        }
        assert!((running - length).abs() < 1.0, "{running} of {length}");
    }

    #[test]
    fn a_stage_met_awake_more_often_than_it_is_was_woken_by_the_look() {
        let mut stage = stage();
        let mut napped = 0.0;
        for turn in 0..10_000_u64 {
            let reason = match turn % 20 {
                0..3 => Some(NAP),
                3..6 => None, // awake, though it runs 5 % of the time
                _ => Some(Reason::Writing(1)),
            };
            let look = StageLook {
                run_sum_ns: 1_000_000,
                run_max_ns: 1_000_000,
                running_tasks: u32::from(reason.is_none()),
                reason,
                ..StageLook::default()
            };
            let divided = stage.divide(&look, 20_000_000, turn);
            if turn >= 5_000 {
                napped += divided.spent.other_ns;
            }
        }
        // Seen in 15 % of looks, and a surplus of 10 % met awake.
        let percent = napped / 5_000.0 / 200_000.0;
        assert!((percent - 25.0).abs() < 1.5, "{percent}");
    }

    #[test]
    fn no_more_time_is_given_out_than_passed() {
        let mut stage = stage();
        let look = StageLook {
            run_sum_ns: 500,
            run_max_ns: 300,
            wait_sum_ns: 900,
            running_tasks: 2,
            reason: None,
        };
        let divided = stage.divide(&look, 100, 100);
        assert!((divided.spent.total_ns() - 100.0).abs() < 1e-9);
        assert!((divided.spent.running_ns - 100.0).abs() < 1e-9);
    }
}
