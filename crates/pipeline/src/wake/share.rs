//! What a stretch of a run shows about wake-ups.

/// The part of a stage's waits that it waited for a CPU to wake up, approximately: what it waited for pipes and for a CPU, or its
/// wake-ups at their price.
///
/// Linux counts it as waiting for a CPU from the moment at which the thread is given to the CPU that sleeps, so it is mostly
/// there; some of the price is CPU time of whoever wakes it.
pub(crate) fn waking_ns(waited_ns: f64, wake_ups: f64, price_ns: u64) -> f64 {
    waited_ns.min(wake_ups * price_ns as f64).max(0.0)
}

/// A run with fewer wake-ups per second loses nothing that matters: 5 % of the time at 75 µs each.
pub(crate) const INTERESTING_WAKE_UPS: f64 = 600.0;
/// A run that is shorter ends before the price is worth the milliseconds that it takes to measure it.
const WORTH_A_PRICE_NS: u64 = 500_000_000;

/// While a CPU wakes up, Linux counts it as idle for about this part of the time: the rest is the interrupt, and the start of
/// the thread that was woken. docs/wake-ups.md has what was measured.
const IDLE_PART: f64 = 0.8;

/// Which part of all these waits there can have been, if CPUs were idle for `idle_ns`. A thread whose CPU is in use
/// when it is woken waits for that CPU, and not for it to wake up.
pub(crate) fn possible_part(waking_ns: f64, idle_ns: Option<u64>) -> f64 {
    let Some(idle_ns) = idle_ns.filter(|_| waking_ns > 0.0) else { return 1.0 };
    (idle_ns as f64 / IDLE_PART / waking_ns).min(1.0)
}

/// Sums since the start of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) at_ns: u64,
    pub(crate) stages: Vec<StageTotals>,
    /// CPU time of all stages.
    pub(crate) cpu_ns: u64,
    /// What they waited for a CPU.
    pub(crate) waiting_ns: u64,
    /// What they read and wrote.
    pub(crate) bytes: u64,
    /// Time in which CPUs had nothing else to do: idle, or kept awake. `None` when it is unknown.
    pub(crate) spare_ns: Option<u64>,
    /// Bytes were counted at this very moment.
    pub(crate) is_fresh: bool,
}

/// Sums of one stage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StageTotals {
    pub(crate) running_ns: f64,
    /// For pipes and for a CPU.
    pub(crate) waited_ns: f64,
    pub(crate) wake_ups: f64,
}

/// What happened between two moments.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) length_ns: u64,
    stages: Vec<StageTotals>,
    waiting_ns: u64,
    bytes: u64,
    spare_ns: u64,
}

impl Window {
    pub(crate) fn between(from: &Totals, to: &Totals, cpus: u32) -> Self {
        let length_ns = to.at_ns.saturating_sub(from.at_ns);
        let cpu_ns = to.cpu_ns.saturating_sub(from.cpu_ns);
        let of_machine_ns =
            from.spare_ns.zip(to.spare_ns).map(|(from, to)| to.saturating_sub(from));
        let left_ns = (u64::from(cpus) * length_ns).saturating_sub(cpu_ns);
        let stages = to.stages.iter().enumerate().map(|(index, now)| {
            let then = from.stages.get(index).copied().unwrap_or_default();
            StageTotals {
                running_ns: now.running_ns - then.running_ns,
                waited_ns: now.waited_ns - then.waited_ns,
                wake_ups: now.wake_ups - then.wake_ups,
            }
        });
        Self {
            length_ns,
            stages: stages.collect(),
            waiting_ns: to.waiting_ns.saturating_sub(from.waiting_ns),
            bytes: to.bytes.saturating_sub(from.bytes),
            spare_ns: of_machine_ns.map_or(left_ns, |spare_ns| spare_ns.min(left_ns)),
        }
    }

    /// Whether it is worth the time to learn what a wake-up costs.
    pub(crate) fn is_worth_a_price(&self) -> bool {
        self.length_ns >= WORTH_A_PRICE_NS
            && self.most_wake_ups_per_second() >= INTERESTING_WAKE_UPS
    }

    /// Wake-ups per second of the stage that has most.
    pub(crate) fn most_wake_ups_per_second(&self) -> f64 {
        let most = self.stages.iter().map(|stage| stage.wake_ups).fold(0.0, f64::max);
        most / self.seconds()
    }

    /// The share of the window in which the critical stage, which ran most, waited to be woken. Whoever waits for a busy stage
    /// is woken often, too, and loses nothing by it.
    pub(crate) fn critical_waking_share(&self, price_ns: u64) -> f64 {
        let waking_ns = |stage: &StageTotals| waking_ns(stage.waited_ns, stage.wake_ups, price_ns);
        let part = possible_part(self.stages.iter().map(waking_ns).sum(), Some(self.spare_ns));
        let critical = self.stages.iter().max_by(|a, b| a.running_ns.total_cmp(&b.running_ns));
        critical.map_or(0.0, |stage| part * waking_ns(stage) / self.length_ns.max(1) as f64)
    }

    /// CPUs' worth of time that nobody used.
    pub(crate) fn spare_cpus(&self) -> f64 {
        self.share(self.spare_ns)
    }

    /// How many threads waited for a CPU, on average.
    pub(crate) fn waiting_threads(&self) -> f64 {
        self.share(self.waiting_ns)
    }

    pub(crate) fn bytes_per_second(&self) -> f64 {
        self.bytes as f64 / self.seconds()
    }

    fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.length_ns.max(1) as f64
    }

    fn seconds(&self) -> f64 {
        self.length_ns.max(1) as f64 * 1e-9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_waits_to_be_woken_no_longer_than_it_waits() {
        assert_eq!(waking_ns(1e9, 1000.0, 33_000), 33e6);
        assert_eq!(waking_ns(1e6, 1000.0, 33_000), 1e6);
        assert_eq!(waking_ns(1e9, 0.0, 33_000), 0.0);
    }

    #[test]
    fn stages_wait_to_be_woken_no_longer_than_cpus_are_idle() {
        assert_eq!(possible_part(1e9, None), 1.0);
        assert_eq!(possible_part(0.0, Some(0)), 1.0);
        assert_eq!(possible_part(1e9, Some(2_000_000_000)), 1.0);
        assert_eq!(possible_part(1e9, Some(400_000_000)), 0.5);
        assert_eq!(possible_part(1e9, Some(0)), 0.0);
    }

    #[test]
    fn a_price_is_worth_its_time_where_a_stage_was_woken_often_for_a_while() {
        let window = |at_ns, wake_ups| {
            let stage = StageTotals { wake_ups, ..StageTotals::default() };
            let to = Totals { at_ns, stages: vec![stage], ..Totals::default() };
            Window::between(&Totals::default(), &to, 2)
        };
        assert!(window(500_000_000, 300.0).is_worth_a_price());
        assert!(!window(499_000_000, 300.0).is_worth_a_price(), "too short");
        assert!(!window(500_000_000, 299.0).is_worth_a_price(), "too few");
    }

    #[test]
    fn a_stage_whose_cpus_are_in_use_does_not_wait_for_them_to_wake_up() {
        let stage = StageTotals { running_ns: 0.4e9, waited_ns: 0.6e9, wake_ups: 20_000.0 };
        let to = Totals {
            at_ns: 1_000_000_000,
            stages: vec![stage],
            spare_ns: Some(80_000_000),
            ..Totals::default()
        };
        let from = Totals { spare_ns: Some(0), ..Totals::default() };
        let share = Window::between(&from, &to, 2).critical_waking_share(30_000);
        assert!((share - 0.1).abs() < 1e-9, "{share}");
    }

    #[test]
    fn only_the_critical_stage_counts() {
        let stage = |running_ns, wake_ups| StageTotals {
            running_ns,
            waited_ns: 1e9 - running_ns,
            wake_ups,
        };
        let window = |stages: &[StageTotals]| {
            let to = Totals { at_ns: 1_000_000_000, stages: stages.to_vec(), ..Totals::default() };
            Window::between(&Totals::default(), &to, 2)
        };
        // A reader that is always woken, and always in time: the writer never waits.
        let idle_reader = window(&[stage(0.95e9, 10.0), stage(0.1e9, 40_000.0)]);
        assert!(idle_reader.critical_waking_share(30_000) < 0.01);
        let in_turns = window(&[stage(0.31e9, 12_000.0), stage(0.3e9, 10_000.0)]);
        assert!((in_turns.critical_waking_share(30_000) - 0.36).abs() < 0.001);
    }

    #[test]
    fn what_other_programs_use_is_not_to_spare() {
        let to = Totals {
            at_ns: 1_000_000_000,
            cpu_ns: 500_000_000,
            spare_ns: Some(600_000_000),
            ..Totals::default()
        };
        let from = Totals { spare_ns: Some(0), ..Totals::default() };
        assert!((Window::between(&from, &to, 2).spare_cpus() - 0.6).abs() < 1e-9);
        let unknown = Totals { spare_ns: None, ..to };
        assert!((Window::between(&from, &unknown, 2).spare_cpus() - 1.5).abs() < 1e-9);
    }
}
