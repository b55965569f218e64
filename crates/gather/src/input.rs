//! What the judges share: the jobs, who can be compared with whom, and what each may be expected to take.

use crate::cause::{Cause, Causes};
use crate::expect::{Expectation, Point};
use crate::jobs::Jobs;

/// The jobs with what their siblings let expect.
pub(crate) struct Input<'a> {
    pub(crate) jobs: &'a Jobs<'a>,
    /// For each rule, those of its jobs that can be compared.
    pub(crate) groups: Vec<Vec<usize>>,
    /// For each rule.
    pub(crate) expectations: Vec<Expectation>,
    /// For each job.
    pub(crate) points: Vec<Point>,
}

impl<'a> Input<'a> {
    pub(crate) fn of(jobs: &'a Jobs<'a>) -> Self {
        let groups = jobs.siblings();
        let points: Vec<Point> = jobs.all.iter().map(Point::of).collect();
        let expectation = |group: &Vec<usize>| {
            let own: Vec<Point> = group.iter().map(|job| points[*job]).collect();
            Expectation::of(&own)
        };
        let expectations = groups.iter().map(expectation).collect();
        Self { jobs, groups, expectations, points }
    }

    /// By how much a job took longer than its siblings let expect, as a logarithm.
    pub(crate) fn residual(&self, job: usize) -> f64 {
        self.expectations[self.jobs.all[job].rule].residual(self.points[job])
    }

    /// Where the time of these jobs went beyond that of the others, by cause: the cause with most of the extra time, and its
    /// share in all extra time, in percent. Both sets belong to one rule; times are taken relative to what is expected.
    pub(crate) fn extra(&self, slow: &[usize], others: &[usize]) -> Extra {
        let mut extra = Extra::default();
        let (of_slow, of_others) = (self.relative(slow), self.relative(others));
        for (sum, (slow, other)) in extra.by_cause.iter_mut().zip(of_slow.iter().zip(of_others)) {
            *sum = slow - other;
        }
        extra
    }

    /// Mean time by cause, relative to what each job was expected to take.
    fn relative(&self, some: &[usize]) -> [f64; Cause::ALL.len()] {
        let mut sums = [0.0; Cause::ALL.len()];
        for &place in some {
            let job = &self.jobs.all[place];
            let expected = job.elapsed_ns() as f64 / self.residual(place).exp();
            for (sum, cause) in sums.iter_mut().zip(Cause::ALL) {
                *sum += job.causes.get(cause) as f64 / expected.max(1.0) / some.len().max(1) as f64;
            }
        }
        sums
    }
}

/// Time that some jobs took more than others, by cause, in units of the expected time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extra {
    by_cause: [f64; Cause::ALL.len()],
}

impl Extra {
    /// Between the mean times by cause of two sets of jobs, in nanoseconds a job.
    pub(crate) fn between(before: &Causes, after: &Causes) -> Self {
        let mut extra = Self::default();
        for (difference, cause) in extra.by_cause.iter_mut().zip(Cause::ALL) {
            *difference = after.get(cause) as f64 - before.get(cause) as f64;
        }
        extra
    }

    /// Adds that of another rule, with a weight.
    pub(crate) fn add(&mut self, other: &Self, weight: f64) {
        for (sum, value) in self.by_cause.iter_mut().zip(other.by_cause) {
            *sum += value * weight;
        }
    }

    /// The cause of most of it and its share in percent; `None` when there is no extra time.
    pub(crate) fn main(&self) -> Option<(Cause, f64)> {
        let all: f64 = self.by_cause.iter().filter(|value| **value > 0.0).sum();
        let with_causes = Cause::ALL.iter().zip(self.by_cause);
        let (cause, most) = with_causes.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (most > 0.0).then(|| (*cause, most / all * 100.0))
    }

    /// The same for time that became less.
    pub(crate) fn main_saving(&self) -> Option<(Cause, f64)> {
        Self { by_cause: self.by_cause.map(|value| -value) }.main()
    }
}
