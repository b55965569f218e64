//! Dividing a stage's time between running, waiting for a CPU and the reasons to wait.

use std::collections::{BTreeMap, BTreeSet};

use crate::account::claims::Claims;
use crate::account::late::Late;
use crate::account::naps::MetAwake;
use crate::account::on_cpu::StageTimes;
use crate::account::reason::Reason;
use crate::account::series::Spent;
use crate::account::unseen;
use crate::sample::TaskLook;
use fullbore_record::Cause;

/// What one sample says about a stage, over all its processes.
#[derive(Clone, Debug, Default)]
pub(crate) struct StageSample {
    /// CPU time since the sample before, of all threads and waited-for children.
    pub(crate) run_sum_ns: u64,
    /// The largest of one thread.
    pub(crate) run_max_ns: u64,
    pub(crate) wait_sum_ns: u64,
    /// CPUs of the machine; 0 when unknown.
    pub(crate) cpus: u32,
    /// Threads that ran or wanted to at the moment of the sample.
    pub(crate) running_tasks: u32,
    /// Why it waits, by the thread that ranks highest.
    pub(crate) reason: Option<Reason>,
    /// What it can only wait for, where no sample has met it waiting.
    pub(crate) likely: Option<Reason>,
    /// Every pipe that one of its threads waits for.
    pub(crate) pipes: BTreeSet<Reason>,
    /// The same from every switch, where that is known.
    pub(crate) counted: Option<StageTimes>,
}

/// What a stage does at the moment of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Now {
    /// At least one thread is on a CPU or waits for one.
    Running,
    /// None is.
    Blocked(Reason),
}

impl StageSample {
    /// Adds what one thread did, and why it waits.
    pub(crate) fn add(&mut self, task: &TaskLook, reason: Option<Reason>, has_ended: bool) {
        self.run_sum_ns += task.running_ns;
        self.run_max_ns = self.run_max_ns.max(task.running_ns);
        self.wait_sum_ns += task.waiting_ns;
        match reason {
            // The threads of a process that has ended wait for nothing any more.
            _ if has_ended => {}
            None => self.running_tasks += 1,
            Some(reason) => {
                if self.reason.as_ref().is_none_or(|other| reason.rank() > other.rank()) {
                    self.reason = Some(reason);
                }
            }
        }
    }

    /// What the stage does now; `None` when nothing of it is left to look at.
    pub(crate) fn now(&self) -> Option<Now> {
        match (self.running_tasks, self.reason) {
            (0, Some(reason)) => Some(Now::Blocked(reason)),
            (0, None) => None,
            _ => Some(Now::Running),
        }
    }
}

/// What a stage did between two samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Divided {
    pub(crate) spent: Spent,
    pub(crate) reasons: Vec<(Reason, f64)>,
}

/// Divides a stage's time, and remembers what that takes.
#[derive(Clone, Debug)]
pub(crate) struct Divider {
    late: Late,
    met_awake: MetAwake,
    /// How many threads run at one time, when one does.
    concurrency: f64,
    /// What its threads waited for a CPU when they were woken, and was not given out yet; below 0 while the wait of one
    /// that lost its CPU is not counted by schedstat.
    woken_ns: f64,
    /// Recent reasons to wait, for waits that began and ended between two samples.
    recent: BTreeMap<Reason, f64>,
    claims: Claims,
    /// How many samples met it awake.
    awake_samples: u32,
}

/// A wait that samples themselves cut short, so that the stage is met awake too often.
const NAP: Reason = Reason::Other(Cause::Sleep);

/// Weight that the past keeps at each sample: about the last thirty samples count.
const PAST: f64 = 0.97;

impl Default for Divider {
    fn default() -> Self {
        Self {
            late: Late::default(),
            met_awake: MetAwake::default(),
            concurrency: 1.0,
            woken_ns: 0.0,
            recent: BTreeMap::new(),
            claims: Claims::default(),
            awake_samples: 0,
        }
    }
}

impl Divider {
    /// Divides `length_ns` of a stage's life.
    ///
    /// CPU time is exact, because the scheduler counts it. What remains goes to the reason seen at the sample,
    /// or, when the stage ran at that moment, to its recent reasons in proportion; [`Claims`] says when it is paid.
    pub(crate) fn divide(&mut self, sample: &StageSample, length_ns: u64) -> Divided {
        let length = length_ns as f64;
        let now = sample.now();
        self.remember(now);
        self.awake_samples += u32::from(now == Some(Now::Running));
        let (running, runnable) = match sample.counted {
            Some(counted) => self.awake_by_switches(sample, counted, length),
            None => self.awake_by_samples(sample, length),
        };
        let is_awake = f64::from(u8::from(now == Some(Now::Running)));
        self.met_awake.note(is_awake, (running + runnable) / length);
        let mut divided = Divided::default();
        divided.spent.running_ns = running;
        divided.spent.runnable_ns = runnable;
        divided.reasons = self.reasons(sample, length, length - running - runnable);
        for (reason, ns) in &divided.reasons {
            match reason {
                Reason::Reading(_) => divided.spent.reading_ns += ns,
                Reason::Writing(_) => divided.spent.writing_ns += ns,
                Reason::Other(_) => divided.spent.other_ns += ns,
            }
        }
        divided
    }

    /// Time on a CPU and time waiting for one, as schedstat counts them for each thread.
    fn awake_by_samples(&mut self, sample: &StageSample, length: f64) -> (f64, f64) {
        if sample.running_tasks > 0 {
            self.concurrency += 0.1 * (f64::from(sample.running_tasks) - self.concurrency);
        }
        let together = self.concurrency.max(1.0);
        let (run_sum, wait_sum) = (sample.run_sum_ns as f64, sample.wait_sum_ns as f64);
        let is_crowded = sample.cpus > 0 && together > f64::from(sample.cpus);
        // Of more threads than CPUs one is on a CPU while any wants to be, unless others have all CPUs.
        let ran = if is_crowded {
            run_sum.min((run_sum + wait_sum) / together)
        } else {
            run_sum / together
        };
        let ran = ran.max(sample.run_max_ns as f64);
        let running = self.late.running(ran, length);
        let runnable = self.late.runnable(sample.wait_sum_ns as f64 / together, length - running);
        let is_running = sample.running_tasks > 0;
        let advance = if is_running { self.late.advance(length - running - runnable) } else { 0.0 };
        (running + advance, runnable)
    }

    /// The same from every switch. Those do not tell when a thread was woken: schedstat adds what it waited from then on.
    fn awake_by_switches(
        &mut self,
        sample: &StageSample,
        counted: StageTimes,
        length: f64,
    ) -> (f64, f64) {
        let running = (counted.running_ns as f64).min(length);
        let together = counted.running_sum_ns as f64 / counted.running_ns.max(1) as f64;
        let preempted = (counted.preempted_ns as f64).min(length - running);
        self.woken_ns += sample.wait_sum_ns as f64 - counted.preempted_sum_ns as f64;
        let woken = (self.woken_ns / together.max(1.0)).clamp(0.0, length - running - preempted);
        self.woken_ns -= woken * together.max(1.0);
        (running, preempted + woken)
    }

    /// No sample met it waiting, though it waits.
    pub(crate) fn is_always_awake(&self) -> bool {
        self.recent.is_empty()
            && self.awake_samples >= unseen::SAMPLES
            && self.met_awake.woken_share() >= unseen::WAITING_SHARE
    }

    fn remember(&mut self, now: Option<Now>) {
        if let Some(Now::Blocked(reason)) = now {
            self.recent.values_mut().for_each(|weight| *weight *= PAST);
            self.recent.retain(|_, weight| *weight > 0.01);
            *self.recent.entry(reason).or_default() += 1.0;
        }
    }

    /// Divides what a stage waited in an interval of this length that ended `now`.
    fn reasons(&mut self, sample: &StageSample, length: f64, waited: f64) -> Vec<(Reason, f64)> {
        if let Some(Now::Blocked(reason)) = sample.now() {
            self.claims.earn(reason, length, waited);
            return self.claims.pay(waited, &BTreeMap::from([(reason, 1.0)]));
        }
        let naps = self.recent.contains_key(&NAP);
        let share = if naps { self.met_awake.woken_share() } else { 0.0 };
        self.claims.earn(NAP, share * length, waited);
        if self.recent.is_empty() {
            return vec![(sample.likely.unwrap_or(Reason::Other(Cause::Unknown)), waited)];
        }
        self.claims.pay(waited, &self.recent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::pipes::{PipeKey, Pipes};
    use fullbore_pipe::PipeId;

    fn pipe() -> PipeKey {
        Pipes::default().learn(PipeId::anonymous(1), None)
    }

    fn running(run_ns: u64) -> StageSample {
        StageSample {
            run_sum_ns: run_ns,
            run_max_ns: run_ns,
            running_tasks: 1,
            ..StageSample::default()
        }
    }

    #[test]
    fn what_is_not_cpu_time_goes_to_the_reason_seen() {
        let sample = StageSample {
            wait_sum_ns: 10,
            running_tasks: 0,
            reason: Some(Reason::Reading(pipe())),
            ..running(30)
        };
        let divided = Divider::default().divide(&sample, 100);
        assert!((divided.spent.running_ns - 30.0).abs() < 1e-9);
        assert!((divided.spent.runnable_ns - 10.0).abs() < 1e-9);
        assert_eq!(divided.reasons, [(Reason::Reading(pipe()), 60.0)]);
    }

    #[test]
    fn waits_between_two_samples_go_to_the_recent_reasons() {
        let mut divider = Divider::default();
        let blocked = Reason::Writing(pipe());
        divider.divide(&StageSample { reason: Some(blocked), ..StageSample::default() }, 10);
        let divided = divider.divide(&running(5_000_000), 12_000_000);
        assert_eq!(divided.reasons, [(blocked, 3_000_000.0)]);
    }

    #[test]
    fn a_stage_that_no_sample_meets_waiting_waits_for_what_it_can_only_wait_for() {
        let mut divider = Divider::default();
        let (likely, seen) = (Reason::Reading(pipe()), Reason::Writing(pipe()));
        let sample = StageSample { likely: Some(likely), ..running(5_000_000) };
        let mut reasons = |sample: &StageSample| {
            let divided = divider.divide(sample, 12_000_000);
            let reasons: Vec<Reason> = divided.reasons.iter().map(|(reason, _)| *reason).collect();
            (reasons, divider.is_always_awake())
        };
        let unknown = vec![Reason::Other(Cause::Unknown)];
        for _ in 1..unseen::SAMPLES {
            assert_eq!(reasons(&running(5_000_000)), (unknown.clone(), false), "too few samples");
        }
        assert_eq!(reasons(&running(5_000_000)), (unknown, true));
        assert_eq!(reasons(&sample), (vec![likely], true));
        reasons(&StageSample { reason: Some(seen), ..StageSample::default() });
        assert_eq!(reasons(&sample), (vec![seen], false));
    }

    #[test]
    fn a_thread_that_runs_all_the_time_is_running_though_linux_counts_by_ticks() {
        let mut divider = Divider::default();
        let (mut ran, mut length) = (0.0, 0.0);
        for millisecond in 0..40_u64 {
            let counted = if millisecond % 4 == 3 { 4_000_000 } else { 0 };
            let divided = divider.divide(&running(counted), 1_000_000);
            ran += divided.spent.running_ns;
            length += divided.spent.total_ns();
        }
        assert!((ran - length).abs() < 1.0, "{ran} of {length}");
    }

    /// 64 threads have two CPUs, or one, because they are bound to it or because another program has the other one.
    #[test]
    fn of_more_threads_than_cpus_one_is_always_on_a_cpu() {
        for had in [2, 1] {
            let mut divider = Divider::default();
            let (mut ran, mut length) = (0.0, 0.0);
            for _ in 0..100 {
                let sample = StageSample {
                    run_sum_ns: had * 20_000_000,
                    run_max_ns: had * 20_000_000 / 64,
                    wait_sum_ns: (64 - had) * 20_000_000,
                    running_tasks: 64,
                    cpus: 2,
                    ..StageSample::default()
                };
                let divided = divider.divide(&sample, 20_000_000);
                ran += divided.spent.running_ns;
                length += divided.spent.total_ns();
            }
            assert!(ran > 0.97 * length, "{had} CPUs: {ran} of {length}");
        }
    }

    #[test]
    fn a_stage_met_awake_more_often_than_it_is_was_woken_by_the_sample() {
        let mut divider = Divider::default();
        let mut napped = 0.0;
        for turn in 0..10_000_u64 {
            let reason = match turn % 20 {
                0..3 => Some(NAP),
                3..6 => None, // awake, though it runs 5 % of the time
                _ => Some(Reason::Writing(pipe())),
            };
            let running_tasks = u32::from(reason.is_none());
            let sample = StageSample { running_tasks, reason, ..running(1_000_000) };
            let divided = divider.divide(&sample, 20_000_000);
            if turn >= 5_000 {
                napped += divided.spent.other_ns;
            }
        }
        // Seen in 15 % of the samples, and a surplus of 10 % met awake.
        let percent = napped / 5_000.0 / 200_000.0;
        assert!((percent - 25.0).abs() < 1.5, "{percent}");
    }

    /// A source that sleeps for 350 µs whenever its reader has let it write, which on busy CPUs begins with a wait for one.
    #[test]
    fn a_short_sleep_after_each_wait_for_a_cpu_has_its_full_share() {
        const PARTS_NS: [(u64, Option<Reason>); 3] =
            [(200_000, None), (350_000, Some(NAP)), (1_850_000, Some(Reason::Other(Cause::Lock)))];
        const CYCLE_NS: u64 = 2_400_000;
        // Time spent waiting for a CPU until this moment.
        let waited = |at: u64| at / CYCLE_NS * PARTS_NS[0].0 + (at % CYCLE_NS).min(PARTS_NS[0].0);
        let mut divider = Divider::default();
        let (mut at, mut napped, mut random) = (0, 0.0, 7_u64);
        while at < 20_000_000_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = 750_000 + (random >> 33) % 1_000_000;
            let phase = (at + length) % CYCLE_NS;
            let reason = match phase {
                0..200_000 => None,
                200_000..550_000 => PARTS_NS[1].1,
                _ => PARTS_NS[2].1,
            };
            let sample = StageSample {
                wait_sum_ns: waited(at + length) - waited(at),
                running_tasks: u32::from(reason.is_none()),
                reason,
                ..StageSample::default()
            };
            let divided = divider.divide(&sample, length);
            let naps = divided.reasons.iter().filter(|(reason, _)| *reason == NAP);
            napped += naps.map(|(_, ns)| ns).sum::<f64>();
            at += length;
        }
        let percent = 100.0 * napped / at as f64;
        assert!((percent - 14.6).abs() < 0.6, "{percent}");
    }

    #[test]
    fn no_more_time_is_given_out_than_passed() {
        let sample = StageSample { wait_sum_ns: 900, running_tasks: 2, ..running(500) };
        let divided = Divider::default().divide(&sample, 100);
        assert!((divided.spent.total_ns() - 100.0).abs() < 1e-9);
        assert!((divided.spent.running_ns - 100.0).abs() < 1e-9);
    }
}
