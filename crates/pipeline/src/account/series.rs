//! Shares over time in steps of equal length; the steps double when there are too many.

use fullbore_record::StageTimeline;

/// Steps kept: with more, two become one. 600 are about one for each pixel of a page's width.
const STEPS_MAX: usize = 600;
/// Steps of all stages together, at 56 bytes each, and what each stage has at least.
const STEPS_OF_ALL_MAX: usize = 64 * STEPS_MAX;
const STEPS_MIN: usize = 40;
/// Length of a step in a short run.
const FIRST_STEP_NS: u64 = 5_000_000;

/// What a stage did in some time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    pub(crate) running_ns: f64,
    pub(crate) runnable_ns: f64,
    pub(crate) reading_ns: f64,
    pub(crate) writing_ns: f64,
    pub(crate) other_ns: f64,
}

impl Spent {
    pub(crate) fn add(&mut self, other: &Self, share: f64) {
        self.running_ns += other.running_ns * share;
        self.runnable_ns += other.runnable_ns * share;
        self.reading_ns += other.reading_ns * share;
        self.writing_ns += other.writing_ns * share;
        self.other_ns += other.other_ns * share;
    }

    /// What it waited for its pipes and for a CPU: whoever is woken for a pipe waits for both, one after the other.
    pub(crate) fn waited_to_go_on_ns(&self) -> f64 {
        self.runnable_ns + self.reading_ns + self.writing_ns
    }

    pub(crate) fn total_ns(&self) -> f64 {
        self.running_ns + self.runnable_ns + self.reading_ns + self.writing_ns + self.other_ns
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Step {
    spent: Spent,
    read_bytes: f64,
    written_bytes: f64,
}

/// The timeline of one stage. All stages of a run share the length of a step: see [`Clock`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Series {
    first: usize,
    steps: Vec<Step>,
}

/// Length and number of the steps of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) step_ns: u64,
    steps_max: usize,
}

impl Clock {
    pub(crate) fn new() -> Self {
        Self::of_at_most(STEPS_MAX)
    }

    /// Keeps so many steps, at most.
    pub(crate) fn of_at_most(steps_max: usize) -> Self {
        Self { step_ns: FIRST_STEP_NS, steps_max: steps_max.clamp(STEPS_MIN, STEPS_MAX) }
    }

    /// Makes room for `now_ns` in so many series; says how often the steps of every series must be halved in number.
    pub(crate) fn reach(&mut self, now_ns: u64, series: usize) -> u32 {
        let most = (STEPS_OF_ALL_MAX / series.max(1)).clamp(STEPS_MIN, self.steps_max);
        let mut halvings = 0;
        while now_ns / self.step_ns >= most as u64 {
            self.step_ns *= 2;
            halvings += 1;
        }
        halvings
    }

    fn step(self, at_ns: u64) -> usize {
        usize::try_from(at_ns / self.step_ns).unwrap_or(STEPS_MAX)
    }
}

impl Series {
    /// Makes two steps one.
    pub(crate) fn halve(&mut self) {
        let odd = self.first % 2;
        let mut halved: Vec<Step> = Vec::with_capacity(self.steps.len() / 2 + 1);
        for (place, step) in self.steps.iter().enumerate() {
            if halved.is_empty() || (place + odd).is_multiple_of(2) {
                halved.push(*step);
            } else if let Some(last) = halved.last_mut() {
                last.spent.add(&step.spent, 1.0);
                last.read_bytes += step.read_bytes;
                last.written_bytes += step.written_bytes;
            }
        }
        self.first /= 2;
        halved.shrink_to_fit();
        self.steps = halved;
    }

    fn step_at(&mut self, step: usize) -> &mut Step {
        if self.steps.is_empty() {
            self.first = step;
        }
        if step < self.first {
            let missing = self.first - step;
            self.steps.splice(0..0, std::iter::repeat_n(Step::default(), missing));
            self.first = step;
        }
        let place = step - self.first;
        if place >= self.steps.len() {
            self.steps.resize(place + 1, Step::default());
        }
        &mut self.steps[place]
    }

    /// Spreads what was spent between two moments over the steps between them.
    pub(crate) fn spend(&mut self, clock: Clock, from_ns: u64, to_ns: u64, spent: &Spent) {
        for (step, share) in parts(clock, from_ns, to_ns) {
            self.step_at(step).spent.add(spent, share);
        }
    }

    /// No bytes were moved so far.
    pub(crate) fn forget_moved(&mut self) {
        for step in &mut self.steps {
            (step.read_bytes, step.written_bytes) = (0.0, 0.0);
        }
    }

    /// Spreads bytes moved between two moments over the steps between them.
    pub(crate) fn moved(
        &mut self,
        clock: Clock,
        from_ns: u64,
        to_ns: u64,
        read: u64,
        written: u64,
    ) {
        for (step, share) in parts(clock, from_ns, to_ns) {
            let step = self.step_at(step);
            step.read_bytes += read as f64 * share;
            step.written_bytes += written as f64 * share;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Forgets everything from a moment on; a step that holds it goes, too.
    pub(crate) fn keep_until(&mut self, clock: Clock, until_ns: u64) {
        self.steps.truncate(clock.step(until_ns).saturating_sub(self.first));
        self.steps.shrink_to_fit();
    }

    /// All that was spent.
    pub(crate) fn sum(&self) -> Spent {
        self.steps.iter().fold(Spent::default(), |mut sum, step| {
            sum.add(&step.spent, 1.0);
            sum
        })
    }

    /// Adds the steps of another series.
    pub(crate) fn absorb(&mut self, other: &Self) {
        for (place, step) in other.steps.iter().enumerate() {
            let into = self.step_at(other.first + place);
            into.spent.add(&step.spent, 1.0);
            into.read_bytes += step.read_bytes;
            into.written_bytes += step.written_bytes;
        }
    }

    /// The series as the record holds it, from the start of the run to `steps` steps.
    pub(crate) fn record(&self, stage: u32, clock: Clock, end_ns: u64) -> StageTimeline {
        let count = clock.step(end_ns.saturating_sub(1)) + 1;
        let step_at =
            |step: usize| step.checked_sub(self.first).and_then(|place| self.steps.get(place));
        let shares = |of: fn(&Spent) -> f64| {
            let percent = |step: usize| {
                let from = step as u64 * clock.step_ns;
                // The last step is shorter when the run ended within it.
                let length = clock.step_ns.min(end_ns.saturating_sub(from)).max(1) as f64;
                step_at(step).map_or(0.0, |step| {
                    #[expect(
                        clippy::cast_possible_truncation,
                        reason = "a percentage with three digits"
                    )]
                    let value =
                        (of(&step.spent) / length * 1000.0).round().min(1000.0) as f32 / 10.0;
                    value
                })
            };
            (0..count).map(percent).collect()
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole bytes")]
        let bytes = |of: fn(&Step) -> f64| {
            (0..count).map(|step| step_at(step).map_or(0, |step| of(step) as u64)).collect()
        };
        let mut line = StageTimeline::default();
        line.stage = stage;
        line.running = shares(|spent| spent.running_ns);
        line.runnable = shares(|spent| spent.runnable_ns);
        line.blocked_reading = shares(|spent| spent.reading_ns);
        line.blocked_writing = shares(|spent| spent.writing_ns);
        line.blocked_other = shares(|spent| spent.other_ns);
        line.read_bytes = bytes(|step| step.read_bytes);
        line.written_bytes = bytes(|step| step.written_bytes);
        line
    }
}

/// The steps between two moments, with the share of the time between them that falls into each.
fn parts(clock: Clock, from_ns: u64, to_ns: u64) -> impl Iterator<Item = (usize, f64)> {
    let to_ns = to_ns.max(from_ns + 1);
    let last = clock.step(to_ns - 1);
    (clock.step(from_ns)..=last).map(move |step| {
        let begin = (step as u64 * clock.step_ns).max(from_ns);
        let end = ((step as u64 + 1) * clock.step_ns).min(to_ns);
        (step, end.saturating_sub(begin) as f64 / (to_ns - from_ns) as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn running(ns: u64) -> Spent {
        Spent { running_ns: ns as f64, ..Spent::default() }
    }

    #[test]
    fn many_stages_have_coarser_steps() {
        let steps = |stages: usize| {
            let mut clock = Clock::new();
            clock.reach(60_000 * MS, stages);
            60_000 * MS / clock.step_ns
        };
        assert!((300..600).contains(&steps(1)) && steps(64) == steps(1));
        assert!(steps(1500) < 40 && steps(1500) * 1500 < 64 * 600, "{}", steps(1500));
    }

    #[test]
    fn who_watches_many_keeps_fewer_steps() {
        let mut clock = Clock::of_at_most(240);
        clock.reach(60_000 * MS, 1);
        assert!((120..240).contains(&(60_000 * MS / clock.step_ns)));
    }

    #[test]
    fn time_is_spread_over_the_steps_it_covers() {
        let clock = Clock::new();
        let mut series = Series::default();
        series.spend(clock, 0, 10 * MS, &running(10 * MS));
        series.spend(clock, 10 * MS, 15 * MS, &running(0));
        let record = series.record(1, clock, 15 * MS);
        assert_eq!(record.running, [100.0, 100.0, 0.0]);
    }

    #[test]
    fn halving_loses_neither_time_nor_bytes() {
        let mut clock = Clock::new();
        let mut series = Series::default();
        for step in 3..600_u64 {
            series.spend(clock, step * 5 * MS, (step + 1) * 5 * MS, &running(5 * MS));
            series.moved(clock, step * 5 * MS, (step + 1) * 5 * MS, 1000, 10);
        }
        for _ in 0..clock.reach(3100 * MS, 1) {
            series.halve();
        }
        assert_eq!(clock.step_ns, 10 * MS);
        let record = series.record(1, clock, 3000 * MS);
        assert_eq!(record.running.len(), 300);
        assert_eq!(&record.running[..3], [0.0, 50.0, 100.0]);
        assert_eq!(record.read_bytes.iter().sum::<u64>(), 597_000);
    }

    #[test]
    fn a_short_last_step_is_measured_by_its_own_length() {
        let clock = Clock::new();
        let mut series = Series::default();
        series.spend(clock, 0, 6 * MS, &running(6 * MS));
        assert_eq!(series.record(1, clock, 6 * MS).running, [100.0, 100.0]);
    }
}
