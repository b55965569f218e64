//! How long a job of a rule may be expected to take, given what it reads.
//!
//! All times and amounts are natural logarithms here, so that differences are ratios.

use fullbore_measure::median;

use crate::jobs::Job;

/// Jobs of one rule from which slopes are taken; more add nothing.
const SLOPES_FROM: usize = 240;

/// Two inputs must differ by this factor to say how time depends on them (as a logarithm).
const APART: f64 = 0.2;

/// Fewer pairs of jobs with different inputs say nothing.
const LEAST_PAIRS: usize = 10;

/// Steeper than linear: sorting.
const STEEPEST: f64 = 1.2;

/// With less, time does not depend on the input.
const LEAST_SLOPE: f64 = 0.05;

/// Share of the jobs whose input must be known.
const KNOWN_SHARE: f64 = 0.8;

/// What one job took and read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// Logarithm of its time in nanoseconds.
    pub(crate) time: f64,
    /// Logarithm of the bytes that it read from outside, if they are known.
    pub(crate) bytes: Option<f64>,
}

impl Point {
    pub(crate) fn of(job: &Job<'_>) -> Self {
        let bytes = job.run.input_bytes.filter(|bytes| *bytes > 0);
        Self {
            time: (job.elapsed_ns().max(1) as f64).ln(),
            bytes: bytes.map(|bytes| (bytes as f64).ln()),
        }
    }
}

/// How the time of a rule depends on its input.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expectation {
    /// Time grows with the input to this power; 0 when it does not depend on it, or nobody knows.
    pub(crate) slope: f64,
    /// Median of the times.
    pub(crate) time: f64,
    /// Median of the inputs, if they are known.
    pub(crate) bytes: Option<f64>,
    /// Median of what is left of the times when the input is taken out.
    offset: f64,
}

impl Expectation {
    /// What these jobs, all of one rule, let expect.
    pub(crate) fn of(points: &[Point]) -> Self {
        let known: Vec<f64> = points.iter().filter_map(|point| point.bytes).collect();
        let is_known = known.len() as f64 >= KNOWN_SHARE * points.len() as f64;
        let bytes = median(&known).filter(|_| is_known);
        let slope = if is_known { slope(points) } else { 0.0 };
        let mut expectation = Self { slope, bytes, ..Self::default() };
        let times: Vec<f64> = points.iter().map(|point| point.time).collect();
        expectation.time = median(&times).unwrap_or_default();
        let rests: Vec<f64> =
            points.iter().map(|point| point.time - expectation.grown(*point)).collect();
        expectation.offset = median(&rests).unwrap_or_default();
        expectation
    }

    /// What the input adds to the time.
    pub(crate) fn grown(&self, point: Point) -> f64 {
        self.slope * point.bytes.or(self.bytes).unwrap_or_default()
    }

    /// By how much the job took longer than expected, as a logarithm.
    pub(crate) fn residual(&self, point: Point) -> f64 {
        point.time - self.grown(point) - self.offset
    }

    /// The same, as little as any honest reading allows: a job that reads more may take longer in proportion, one that reads
    /// less may take as long as the others, and of one whose input alone is unknown nothing is certain.
    pub(crate) fn surely(&self, point: Point) -> f64 {
        if self.slope > LEAST_SLOPE && point.bytes.is_none() {
            return 0.0;
        }
        let more = point.bytes.zip(self.bytes).map_or(0.0, |(bytes, median)| bytes - median);
        let above = point.time - self.time;
        self.residual(point).min(above - more.max(0.0)).min(above)
    }
}

/// The median of the slopes between pairs of jobs (Theil and Sen), which outliers do not move.
fn slope(points: &[Point]) -> f64 {
    let step = points.len().div_ceil(SLOPES_FROM).max(1);
    let some: Vec<(f64, f64)> = points
        .iter()
        .step_by(step)
        .filter_map(|point| point.bytes.map(|bytes| (bytes, point.time)))
        .collect();
    let mut slopes = Vec::new();
    for (place, (bytes, time)) in some.iter().enumerate() {
        for (other_bytes, other_time) in &some[place + 1..] {
            let apart = other_bytes - bytes;
            if apart.abs() >= APART {
                slopes.push((other_time - time) / apart);
            }
        }
    }
    if slopes.len() < LEAST_PAIRS {
        return 0.0;
    }
    median(&slopes).map_or(0.0, |slope| slope.clamp(0.0, STEEPEST))
}

/// The spread of values around their median as the deviation of a normal distribution (1.4826 × MAD).
pub(crate) fn spread(values: &[f64]) -> f64 {
    fullbore_measure::Summary::of(values).map_or(0.0, |summary| 1.4826 * summary.mad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(jobs: &[(f64, f64)]) -> Vec<Point> {
        let point = |&(seconds, bytes): &(f64, f64)| Point {
            time: (seconds * 1e9).ln(),
            bytes: (bytes > 0.0).then(|| bytes.ln()),
        };
        jobs.iter().map(point).collect()
    }

    #[test]
    fn a_job_that_reads_three_times_as_much_is_as_long_as_expected() {
        let mut jobs: Vec<(f64, f64)> =
            (1..20).map(|n| (f64::from(n), 1e6 * f64::from(n))).collect();
        jobs.push((60.0, 60e6));
        jobs.push((60.0, 10e6));
        let points = points(&jobs);
        let expectation = Expectation::of(&points);
        assert!((expectation.slope - 1.0).abs() < 0.01, "{expectation:?}");
        assert!(expectation.surely(points[19]) < 0.1, "{expectation:?}");
        // The median is 11 s, and its input lets expect 10 s.
        let longer = expectation.surely(points[20]).exp();
        assert!((5.0..6.1).contains(&longer), "{longer}");
    }

    #[test]
    fn times_that_do_not_depend_on_the_input_have_no_slope() {
        let jobs: Vec<(f64, f64)> = (1..20).map(|n| (5.0, 1e6 * f64::from(n))).collect();
        let expectation = Expectation::of(&points(&jobs));
        assert!(expectation.slope.abs() < 1e-9);
        // Unknown inputs are not taken for equal ones.
        let unknown = points(&[(1.0, 0.0), (2.0, 0.0), (3.0, 5.0)]);
        assert!(Expectation::of(&unknown).bytes.is_none());
    }
}
