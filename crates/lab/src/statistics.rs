//! How sure a number is: middles, spreads, and intervals that a second run on the same machine should meet.
//!
//! An interval here is a *replication* interval: where the middle of another run of the same size is expected, in 95 of
//! 100 cases. It is √2 wider than a confidence interval, because the other run is uncertain too, and it never gets
//! narrower than [`DRIFT_FLOOR`]. What a machine drifts beyond that is found by `passes`.

use fullbore_measure::median;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Half the width, as a logarithm, below which no interval is believed: caches, placement of memory and
/// neighbours differ between two runs by more than they do within one. A floor, not a measurement of the drift of a machine.
pub const DRIFT_FLOOR: f64 = 0.02;

/// Resamples of a bootstrap: its standard error is then known to about 4 %.
const RESAMPLES: usize = 300;

/// Modified z-score from which a value is called an outlier.
///
/// Source: Iglewicz and Hoaglin, How to Detect and Handle Outliers (1993), 3.5 with 0.6745 / MAD.
const OUTLIER: f64 = 3.5;

/// Part of the median below which a value is not called far off, however close the others are.
const NOTABLE: f64 = 0.05;

/// A middle with the interval that a second run should meet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The middle.
    pub middle: f64,
    /// Lower end; `None` when too little was measured to say.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Estimate {
    /// From a middle and half a width that are logarithms.
    fn of_logarithm(middle: f64, half: Option<f64>) -> Self {
        Self {
            middle: rounded(middle.exp()),
            low: half.map(|half| rounded((middle - half).exp())),
            high: half.map(|half| rounded((middle + half).exp())),
        }
    }

    /// Half the width of the interval as a logarithm: 0.05 is about ± 5 %.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high?.ln() - self.low?.ln()) / 2.0)
    }

    /// One divided by it: the other side of the same comparison.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            middle: self.middle.recip(),
            low: self.high.map(f64::recip),
            high: self.low.map(f64::recip),
        }
    }
}

/// Seven significant digits: more than any measurement has, and few enough to be read back as they were.
fn rounded(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.6e}").parse().unwrap_or(value) } else { value }
}

/// A middle and how far off it may be, as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// The middle.
    pub(crate) middle: f64,
    /// Its standard error; `None` for a single value.
    pub(crate) error: Option<f64>,
    /// Degrees of freedom of the error: values less one, as long as nothing else is in it.
    pub(crate) degrees: f64,
}

impl Spread {
    fn of(logarithms: &[f64], middle: impl Fn(&[f64]) -> f64) -> Self {
        let degrees = logarithms.len().saturating_sub(1) as f64;
        Self { middle: middle(logarithms), error: standard_error(logarithms, middle), degrees }
    }

    /// With an error of its own source, independent of the first: a variance known by so many degrees of freedom.
    ///
    /// Source of the degrees together: Satterthwaite (1946).
    pub(crate) fn with(self, variance: f64, degrees: f64) -> Self {
        let Some(error) = self.error.filter(|_| variance > 0.0 && degrees > 0.0) else {
            return self;
        };
        let own = error * error;
        let both = own + variance;
        let spent = own.powi(2) / self.degrees + variance.powi(2) / degrees;
        Self { error: Some(both.sqrt()), degrees: both.powi(2) / spent, ..self }
    }

    /// The true middle, as far as this run can know, with an interval that holds for all of `comparisons` at once in 95
    /// of 100 cases.
    pub(crate) fn of_this_run(self, comparisons: usize) -> Estimate {
        let share = 0.05 / comparisons.max(1) as f64;
        let half = |error: f64| (student(share, self.degrees) * error).hypot(floor(share));
        Estimate::of_logarithm(self.middle, self.error.map(half))
    }

    pub(crate) fn estimate(self) -> Estimate {
        let two_runs = std::f64::consts::SQRT_2;
        let half = |error: f64| (student(0.05, self.degrees) * two_runs * error).hypot(DRIFT_FLOOR);
        Estimate::of_logarithm(self.middle, self.error.map(half))
    }
}

/// The median of positive values and its interval.
#[must_use]
pub fn of_values(values: &[f64]) -> Option<Estimate> {
    spread_of_values(values).map(Spread::estimate)
}

pub(crate) fn spread_of_values(values: &[f64]) -> Option<Spread> {
    let logarithms = logarithms(values)?;
    Some(Spread::of(&logarithms, |values| median(values).unwrap_or_default()))
}

/// How far the mean of windows that follow each other may be off, as a part of it; `None` for less than four. The windows are
/// parts of their mean.
pub(crate) fn of_windows(parts: &[f64]) -> Option<Spread> {
    let mean = |parts: &[f64]| parts.iter().sum::<f64>() / parts.len().max(1) as f64;
    let error = standard_error(parts, mean).filter(|_| parts.len() >= 4)?;
    Some(Spread { middle: 0.0, error: Some(error), degrees: (parts.len() - 1) as f64 })
}

/// The ratio of two engines, round by round, and its interval: what hits both sides of a round cancels out.
///
/// The middle is the Hodges–Lehmann estimate of the logarithms: nearly as sharp as a mean, and unmoved by a quarter
/// of wild rounds.
#[must_use]
pub fn of_ratios(above: &[f64], below: &[f64]) -> Option<Estimate> {
    spread_of_ratios(above, below).map(Spread::estimate)
}

pub(crate) fn spread_of_ratios(above: &[f64], below: &[f64]) -> Option<Spread> {
    let ratios: Vec<f64> = above.iter().zip(below).map(|(above, below)| above / below).collect();
    let logarithms = logarithms(&ratios)?;
    Some(Spread::of(&logarithms, hodges_lehmann))
}

/// How one spread differs from another (the second less the first), with an interval that holds for all of
/// `comparisons` at once in 95 of 100 cases.
///
/// Source of the degrees of freedom: Welch (1947).
pub(crate) fn difference(first: Spread, second: Spread, comparisons: usize) -> Estimate {
    let middle = second.middle - first.middle;
    let half = first.error.zip(second.error).map(|(a, b)| {
        let (a, b) = (a * a, b * b);
        let degrees = if a + b > 0.0 {
            (a + b).powi(2) / (a * a / first.degrees + b * b / second.degrees)
        } else {
            first.degrees + second.degrees
        };
        let share = 0.05 / comparisons.max(1) as f64;
        (student(share, degrees) * (a + b).sqrt()).hypot(floor(share))
    });
    Estimate::of_logarithm(middle, half)
}

/// [`DRIFT_FLOOR`] where an interval leaves out `share`.
fn floor(share: f64) -> f64 {
    DRIFT_FLOOR * normal_quantile(share) / normal_quantile(0.05)
}

fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let logarithms: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    (!logarithms.is_empty() && logarithms.iter().all(|l| l.is_finite())).then_some(logarithms)
}

/// The median of the means of all pairs, each value paired with itself too; zero for no values.
///
/// Source: Hodges and Lehmann, Estimates of Location Based on Rank Tests (1963).
#[must_use]
pub fn hodges_lehmann(values: &[f64]) -> f64 {
    let mut means = Vec::with_capacity(values.len() * (values.len() + 1) / 2);
    for (place, first) in values.iter().enumerate() {
        means.extend(values[place..].iter().map(|second| f64::midpoint(*first, *second)));
    }
    if means.is_empty() {
        return 0.0;
    }
    let half = means.len() / 2;
    let is_odd = means.len() % 2 == 1;
    let (below, middle, _) = means.select_nth_unstable_by(half, f64::total_cmp);
    let middle = *middle;
    if is_odd {
        return middle;
    }
    let before = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    f64::midpoint(before, middle)
}

/// The standard error of a middle, by a bootstrap of blocks of rounds (rounds that follow each other resemble each
/// other): half the distance between the 16th and the 84th percentile of the resampled middles. `None` for one value.
fn standard_error(values: &[f64], middle: impl Fn(&[f64]) -> f64) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len();
    // Blocks of n^(1/3): Künsch (1989); a seed of its own, so that the same values always give the same interval.
    let length = (1..count).take_while(|length| length.pow(3) <= count).last().unwrap_or(1);
    let mut random = SplitMix64::seed_from_u64(count as u64);
    let mut middles: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let mut resampled = Vec::with_capacity(count + length);
            while resampled.len() < count {
                let start = below(&mut random, count);
                resampled.extend((start..start + length).map(|place| values[place % count]));
            }
            resampled.truncate(count);
            middle(&resampled)
        })
        .collect();
    middles.sort_by(f64::total_cmp);
    let at = |share: usize| middles[RESAMPLES * share / 100];
    // A bootstrap of n values in blocks of l sees a variance that is (n − l) / n of the true one.
    let correction = (count as f64 / (count - length) as f64).sqrt();
    Some(correction * (at(84) - at(16)) / 2.0)
}

/// A number below `limit`, which is small: the bias of the remainder is nothing beside it.
#[expect(clippy::cast_possible_truncation, reason = "the remainder is below limit")]
fn below(random: &mut SplitMix64, limit: usize) -> usize {
    (random.next_u64() % limit as u64) as usize
}

/// How many standard errors of Student's distribution leave `share` outside on both sides together.
///
/// Exact for one and two degrees of freedom. Source of the rest: Abramowitz and Stegun, 26.7.5, Fisher's expansion.
fn student(share: f64, degrees: f64) -> f64 {
    let p = 1.0 - share / 2.0;
    if degrees <= 1.0 {
        return (std::f64::consts::PI * (p - 0.5)).tan();
    }
    if degrees <= 2.0 {
        return (2.0 * p - 1.0) * (2.0 / (4.0 * p * (1.0 - p))).sqrt();
    }
    let z = normal_quantile(share);
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * degrees)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * degrees.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * degrees.powi(3))
}

/// How many standard errors of a normal distribution leave `share` outside on both sides together.
///
/// Source: Abramowitz and Stegun, 26.2.23; right to 0.0005.
#[must_use]
pub fn normal_quantile(share: f64) -> f64 {
    let t = (-2.0 * (share / 2.0).clamp(1e-300, 0.5).ln()).sqrt();
    let above = 2.515_517 + 0.802_853 * t + 0.010_328 * t * t;
    let under = 1.0 + 1.432_788 * t + 0.189_269 * t * t + 0.001_308 * t * t * t;
    t - above / under
}

/// How many values are far from all others.
#[must_use]
pub fn outliers(values: &[f64]) -> usize {
    let Some(middle) = median(values) else { return 0 };
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let spread = median(&deviations).unwrap_or_default();
    if values.len() < 5 || spread <= 0.0 {
        return 0;
    }
    let is_far = |deviation: &&f64| {
        0.6745 * **deviation / spread > OUTLIER && **deviation > NOTABLE * middle.abs()
    };
    deviations.iter().filter(is_far).count()
}

/// By how much the values rise (or fall, negative) from the first third to the last, in percent, when that is no
/// accident; `None` when there is no such trend, or fewer than 8 values.
///
/// Source of the test: Mann, Nonparametric Tests Against Trend (1945), at 1 %.
#[must_use]
pub fn drift_percent(values: &[f64]) -> Option<f64> {
    let count = values.len();
    if count < 8 {
        return None;
    }
    let mut trend = 0.0;
    for (place, earlier) in values.iter().enumerate() {
        for later in &values[place + 1..] {
            trend +=
                (later - earlier).partial_cmp(&0.0).map_or(0.0, |order| f64::from(order as i8));
        }
    }
    let n = count as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    let third = count / 3;
    let change = median(&values[count - third..])? / median(&values[..third])? - 1.0;
    let is_trend = trend.abs() > 2.576 * deviation && change.abs() > DRIFT_FLOOR;
    is_trend.then_some(change * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_pairs_is_the_known_one() {
        // Walsh averages of 1, 2, 10: 1, 1.5, 5.5, 2, 6, 10; their median is (2 + 5.5) / 2.
        assert!((hodges_lehmann(&[1.0, 2.0, 10.0]) - 3.75).abs() < 1e-12);
        assert!((hodges_lehmann(&[7.0]) - 7.0).abs() < 1e-12);
        assert!(hodges_lehmann(&[]).abs() < 1e-12);
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        assert!((normal_quantile(0.05) - 1.95996).abs() < 1e-3);
        assert!((normal_quantile(0.01) - 2.57583).abs() < 1e-3);
        for (degrees, known) in
            [(1.0, 12.706), (2.0, 4.3027), (3.0, 3.1824), (5.0, 2.5706), (30.0, 2.0423)]
        {
            let found = student(0.05, degrees);
            assert!((found / known - 1.0).abs() < 0.02, "{degrees}: {found}, not {known}");
        }
    }

    #[test]
    fn equal_rounds_leave_only_the_floor() {
        let estimate = of_ratios(&[2.0; 6], &[1.0; 6]).unwrap();
        assert!((estimate.middle - 2.0).abs() < 1e-12);
        assert!((estimate.half_width().unwrap() - DRIFT_FLOOR).abs() < 1e-6);
        let two = of_values(&[1.0, 2.0]).unwrap();
        assert!(two.half_width().unwrap() > 1.0, "two values say nearly nothing: {two:?}");
    }

    #[test]
    fn one_round_has_a_middle_and_no_interval() {
        let estimate = of_values(&[3.0]).unwrap();
        assert_eq!((estimate.low, estimate.high), (None, None));
        assert_eq!(of_values(&[]), None);
        assert_eq!(of_values(&[0.0, 1.0]), None);
    }

    #[test]
    fn a_wild_value_is_an_outlier_and_a_spread_is_not() {
        assert_eq!(outliers(&[1.0, 1.1, 0.9, 1.05, 50.0, 0.95]), 1);
        assert_eq!(outliers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 0);
        assert_eq!(outliers(&[1.0, 1.0, 1.0, 1.0, 1.0]), 0);
    }

    #[test]
    fn a_slope_is_drift_and_noise_is_not() {
        let slope: Vec<f64> = (0..12).map(|n| 1.0 + 0.02 * f64::from(n)).collect();
        assert!(drift_percent(&slope).is_some_and(|percent| (10.0..25.0).contains(&percent)));
        let noise = [1.0, 1.1, 0.9, 1.05, 0.95, 1.1, 0.9, 1.0, 1.05, 0.95];
        assert_eq!(drift_percent(&noise), None);
    }

    #[test]
    fn the_inverse_swaps_the_ends() {
        let estimate = Estimate { middle: 2.0, low: Some(1.0), high: Some(4.0) };
        assert_eq!(estimate.inverse(), Estimate { middle: 0.5, low: Some(0.25), high: Some(1.0) });
    }
}
