//! When to keep idle CPUs awake: tried, judged by bytes per second, and kept or put back.

use fullbore_record::{KeepAwakeTrial, Outcome};

use crate::wake::share::{Totals, Window};

/// Windows that are compared are at least this long: bytes are counted every 50 ms.
const WINDOW_NS: u64 = 250_000_000;
/// Time to settle before the window that is judged.
const SETTLE_NS: u64 = 50_000_000;
/// What must be stopped at once is looked for this often.
const CHECK_NS: u64 = 20_000_000;
/// A trial needs a CPU that nobody uses …
const SPARE_CPUS: f64 = 1.0;
/// … and a critical stage that waits to be woken for this share of its time.
const CRITICAL_WAKING_SHARE: f64 = 0.25;
/// It is kept if the stages move this many times the bytes.
const GAIN: f64 = 1.1;
/// With less than this to spare, the stages fill the CPUs.
const FILLED_CPUS: f64 = 0.1;
/// A CPU that is kept awake takes no work over from another one. When so many more threads wait for a CPU although there is
/// one to spare, that is what happens.
const MORE_WAITING: f64 = 0.2;
/// The rest after the first trial that failed; it doubles with each.
const FIRST_REST_NS: u64 = 10_000_000_000;
const LAST_REST_NS: u64 = 600_000_000_000;
/// The rest after a trial that was kept until the stages filled the CPUs.
const SHORT_REST_NS: u64 = 1_000_000_000;

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Keep idle CPUs awake.
    Start,
    /// Let them sleep.
    Stop,
}

/// Decides when idle CPUs are kept awake, and remembers what it did.
#[derive(Clone, Debug)]
pub(crate) struct Keeper {
    cpus: u32,
    state: State,
    /// Where the present window began.
    from: Totals,
    /// Where the last check was.
    checked: Totals,
    rest_ns: u64,
    pub(crate) trials: Vec<KeepAwakeTrial>,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Watching,
    Trying { trial: Trial, is_settling: bool },
    Keeping { trial: Trial, speed: f64 },
    Resting { until_ns: u64 },
}

/// How it was before the CPUs were kept awake.
#[derive(Clone, Copy, Debug)]
struct Trial {
    started_ns: u64,
    bytes_per_second: f64,
    waiting_threads: f64,
}

impl Keeper {
    /// A keeper for stages that may use this many CPUs.
    pub(crate) fn new(cpus: u32) -> Self {
        Self {
            cpus,
            state: State::Watching,
            from: Totals::default(),
            checked: Totals::default(),
            rest_ns: FIRST_REST_NS,
            trials: Vec::new(),
        }
    }

    /// Takes in a sample; a wake-up costs `price_ns`, once that is known.
    pub(crate) fn decide(&mut self, now: &Totals, price_ns: Option<u64>) -> Option<Order> {
        match self.state {
            State::Resting { until_ns } if now.at_ns < until_ns => None,
            State::Resting { .. } => {
                self.state = State::Watching;
                self.from = now.clone();
                None
            }
            State::Watching => self.watch(now, price_ns?),
            State::Trying { trial, is_settling } => {
                let stop = self.check(now, trial);
                if stop.is_some() {
                    return stop;
                }
                if !is_settling {
                    return self.judge(now, trial);
                }
                if now.is_fresh && now.at_ns >= trial.started_ns + SETTLE_NS {
                    self.from = now.clone();
                    self.state = State::Trying { trial, is_settling: false };
                }
                None
            }
            State::Keeping { trial, .. } => {
                self.check(now, trial).or_else(|| self.judge(now, trial))
            }
        }
    }

    /// The run is over.
    pub(crate) fn finish(&mut self, now_ns: u64) {
        let reason = "the run ended";
        match self.state {
            State::Trying { trial, .. } => {
                self.note(
                    trial,
                    now_ns,
                    (Outcome::Kept, None),
                    &format!("{reason} before it could be judged"),
                );
            }
            State::Keeping { trial, speed } => {
                self.note(trial, now_ns, (Outcome::Kept, Some(speed)), reason);
            }
            State::Watching | State::Resting { .. } => {}
        }
        self.state = State::Watching;
    }

    fn watch(&mut self, now: &Totals, price_ns: u64) -> Option<Order> {
        let window = self.window(now)?;
        self.from = now.clone();
        let is_worth_it = window.spare_cpus() >= SPARE_CPUS
            && window.critical_waking_share(price_ns) >= CRITICAL_WAKING_SHARE
            && window.bytes_per_second() > 0.0;
        if !is_worth_it {
            return None;
        }
        let trial = Trial {
            started_ns: now.at_ns,
            bytes_per_second: window.bytes_per_second(),
            waiting_threads: window.waiting_threads(),
        };
        self.checked = now.clone();
        self.state = State::Trying { trial, is_settling: true };
        Some(Order::Start)
    }

    /// Stops at once when threads wait for a CPU although there is one to spare.
    fn check(&mut self, now: &Totals, trial: Trial) -> Option<Order> {
        let window = Window::between(&self.checked, now, self.cpus);
        if window.length_ns < CHECK_NS {
            return None;
        }
        self.checked = now.clone();
        let more = window.waiting_threads() - trial.waiting_threads;
        let is_harmful = more >= MORE_WAITING && window.spare_cpus() >= MORE_WAITING;
        is_harmful.then(|| {
            self.fail(trial, now.at_ns, None, "stages waited for a CPU although one was idle")
        })
    }

    /// Compares the last window with the one before the trial.
    fn judge(&mut self, now: &Totals, trial: Trial) -> Option<Order> {
        let window = self.window(now)?;
        self.from = now.clone();
        let speed = window.bytes_per_second() / trial.bytes_per_second;
        if speed < GAIN {
            let was_kept = matches!(self.state, State::Keeping { .. });
            let reason = if was_kept { "it helped no longer" } else { "it did not help" };
            return Some(self.fail(trial, now.at_ns, Some(speed), reason));
        }
        if window.spare_cpus() < FILLED_CPUS {
            let outcome = (Outcome::Kept, Some(speed));
            self.note(trial, now.at_ns, outcome, "the stages filled the CPUs");
            self.state = State::Resting { until_ns: now.at_ns + SHORT_REST_NS };
            return Some(Order::Stop);
        }
        self.state = State::Keeping { trial, speed };
        None
    }

    /// The window so far, if it is long enough to be judged and its bytes were counted just now.
    fn window(&self, now: &Totals) -> Option<Window> {
        let window = Window::between(&self.from, now, self.cpus);
        (now.is_fresh && window.length_ns >= WINDOW_NS).then_some(window)
    }

    fn fail(&mut self, trial: Trial, now_ns: u64, speed: Option<f64>, reason: &str) -> Order {
        self.note(trial, now_ns, (Outcome::Reverted, speed), reason);
        self.state = State::Resting { until_ns: now_ns + self.rest_ns };
        self.rest_ns = (self.rest_ns * 2).min(LAST_REST_NS);
        Order::Stop
    }

    fn note(
        &mut self,
        trial: Trial,
        now_ns: u64,
        (outcome, speed): (Outcome, Option<f64>),
        reason: &str,
    ) {
        let lasted_ns = now_ns.saturating_sub(trial.started_ns);
        let mut record = KeepAwakeTrial::new(trial.started_ns, lasted_ns, outcome, reason);
        record.speed_percent = speed.map(|speed| (speed * 1000.0).round() / 10.0);
        self.trials.push(record);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wake::share::StageTotals;

    const MS: u64 = 1_000_000;
    const PRICE_NS: Option<u64> = Some(30_000);

    /// What one millisecond is like.
    #[derive(Clone, Copy)]
    struct Rate {
        bytes: u64,
        wake_ups: f64,
        cpu_ns: u64,
        waiting_ns: u64,
    }

    /// Both stages are woken 10 times in each millisecond, and half the time of two CPUs is left.
    const IN_TURNS: Rate = Rate { bytes: 100, wake_ups: 10.0, cpu_ns: 900_000, waiting_ns: 0 };
    const TWICE: Rate = Rate { bytes: 200, ..IN_TURNS };

    /// A pipeline on two CPUs, and the orders of its keeper with their times in milliseconds.
    struct Simulated {
        keeper: Keeper,
        totals: Totals,
        is_on: bool,
        orders: Vec<(u64, Order)>,
    }

    impl Simulated {
        fn new() -> Self {
            let totals = Totals { stages: vec![StageTotals::default(); 2], ..Totals::default() };
            Self { keeper: Keeper::new(2), totals, is_on: false, orders: Vec::new() }
        }

        /// Lets time pass: it is `off` while CPUs may sleep and `on` while they are kept awake.
        fn pass(&mut self, ms: u64, off: Rate, on: Rate) {
            for _ in 0..ms / 10 {
                let rate = if self.is_on { on } else { off };
                let totals = &mut self.totals;
                totals.at_ns += 10 * MS;
                totals.bytes += 10 * rate.bytes;
                totals.cpu_ns += 10 * rate.cpu_ns;
                totals.waiting_ns += 10 * rate.waiting_ns;
                for stage in &mut totals.stages {
                    stage.wake_ups += 10.0 * rate.wake_ups;
                    stage.running_ns += 5.0 * rate.cpu_ns as f64;
                    stage.waited_ns += (10 * MS - 5 * rate.cpu_ns.min(2 * MS)) as f64;
                }
                totals.is_fresh = (totals.at_ns / MS).is_multiple_of(50);
                if let Some(order) = self.keeper.decide(&self.totals, PRICE_NS) {
                    self.is_on = order == Order::Start;
                    self.orders.push((self.totals.at_ns / MS, order));
                }
            }
        }

        fn outcomes(&self) -> Vec<(Outcome, Option<f64>)> {
            self.keeper.trials.iter().map(|trial| (trial.outcome, trial.speed_percent)).collect()
        }
    }

    #[test]
    fn what_helps_is_kept_to_the_end() {
        let mut run = Simulated::new();
        run.pass(20_000, IN_TURNS, TWICE);
        assert_eq!(run.orders, [(250, Order::Start)]);
        run.keeper.finish(20_000 * MS);
        assert_eq!(run.outcomes(), [(Outcome::Kept, Some(200.0))]);
        assert_eq!(run.keeper.trials[0].lasted_ns, 19_750 * MS);
    }

    #[test]
    fn what_does_not_help_is_put_back_and_tried_ever_more_rarely() {
        let mut run = Simulated::new();
        run.pass(100_000, IN_TURNS, IN_TURNS);
        let starts: Vec<u64> = run.orders.iter().step_by(2).map(|(at, _)| *at / 1000).collect();
        assert_eq!(starts, [0, 10, 31, 71], "{:?}", run.orders);
        assert!(run.orders.iter().skip(1).step_by(2).all(|(_, order)| *order == Order::Stop));
        assert_eq!(run.outcomes(), [(Outcome::Reverted, Some(100.0)); 4]);
    }

    #[test]
    fn what_helps_no_longer_is_put_back() {
        let mut run = Simulated::new();
        run.pass(1000, IN_TURNS, TWICE);
        run.pass(1000, IN_TURNS, IN_TURNS);
        assert_eq!(run.orders, [(250, Order::Start), (1300, Order::Stop)]);
        assert_eq!(run.keeper.trials[0].reason, "it helped no longer");
    }

    #[test]
    fn it_stops_at_once_when_stages_wait_for_a_cpu_although_one_is_idle() {
        let stacked = Rate { waiting_ns: 900_000, ..TWICE };
        let mut run = Simulated::new();
        run.pass(1000, IN_TURNS, stacked);
        assert_eq!(run.orders, [(250, Order::Start), (270, Order::Stop)]);
        assert_eq!(run.outcomes(), [(Outcome::Reverted, None)]);
    }

    #[test]
    fn it_stops_when_the_stages_fill_the_cpus_and_rests_briefly() {
        let full = Rate { cpu_ns: 1_950_000, waiting_ns: 900_000, ..TWICE };
        let mut run = Simulated::new();
        run.pass(1000, IN_TURNS, full);
        assert_eq!(run.orders, [(250, Order::Start), (550, Order::Stop)]);
        assert_eq!(run.outcomes(), [(Outcome::Kept, Some(200.0))]);
        run.pass(1000, IN_TURNS, full);
        assert_eq!(run.orders[2], (1800, Order::Start), "{:?}", run.orders);
    }

    #[test]
    fn nothing_is_tried_where_it_cannot_help() {
        let busy = Rate { cpu_ns: 1_100_000, ..IN_TURNS };
        let few_wake_ups = Rate { wake_ups: 5.0, ..IN_TURNS };
        let nothing_moves = Rate { bytes: 0, ..IN_TURNS };
        for rate in [busy, few_wake_ups, nothing_moves] {
            let mut run = Simulated::new();
            run.pass(2000, rate, TWICE);
            assert_eq!(run.orders, []);
        }
        let mut run = Simulated::new();
        run.keeper = Keeper::new(1);
        run.pass(2000, IN_TURNS, TWICE);
        assert_eq!(run.orders, [], "there is only one CPU");
    }
}
