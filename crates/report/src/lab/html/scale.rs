//! Axes: where a value lies, and which values get a mark.

use fullbore_lab::Estimate;

/// An axis over positive values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

/// From this ratio of the largest to the smallest value on, a linear axis hides the small ones.
const WIDE: f64 = 25.0;

/// How far beyond the middles the end of an interval may stretch an axis.
const ROOM: f64 = 1.4;

impl Scale {
    /// A logarithmic axis that holds all values, with a little room at both ends; `None` without a positive value.
    pub(crate) fn logarithmic(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = ends(values)?;
        let room = (high / low).powf(0.04).max(1.03);
        Some(Self { low: low / room, high: high * room, is_logarithmic: true })
    }

    /// The middles, and the ends of intervals as far as they do not drown the middles.
    pub(crate) fn worth_showing(estimates: &[Estimate]) -> Vec<f64> {
        let Some((low, high)) = ends(estimates.iter().map(|estimate| estimate.middle)) else {
            return Vec::new();
        };
        let all =
            estimates.iter().flat_map(|e| [Some(e.middle), e.low, e.high].into_iter().flatten());
        all.map(|value| value.clamp(low / ROOM, high * ROOM)).collect()
    }

    /// An axis from zero, or a logarithmic one when that would hide the small values.
    pub(crate) fn suiting(values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = ends(values)?;
        if high / low > WIDE {
            // A whole decade below the smallest, so that it has a length too.
            return Some(Self { low: low / 2.0, high: high * 1.1, is_logarithmic: true });
        }
        Some(Self { low: 0.0, high: high * 1.02, is_logarithmic: false })
    }

    pub(crate) fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }

    /// Where a value lies, 0 to 1; values outside lie at the ends.
    pub(crate) fn place(&self, value: f64) -> f64 {
        let place = if self.is_logarithmic {
            (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
        } else {
            value / self.high
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Whether a value lies beyond an end of the axis, so that a mark of it stands for something further out.
    pub(crate) fn cuts(&self, value: f64) -> bool {
        value > self.high || (self.is_logarithmic && value < self.low)
    }

    /// Whether a value lies on the axis.
    pub(crate) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Round values, at most about `most`.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        if !self.is_logarithmic {
            return linear_ticks(self.high, most);
        }
        for factors in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
            let ticks = self.decades(factors, 1);
            if ticks.len() <= most && ticks.len() >= 2 {
                return ticks;
            }
        }
        if self.high / self.low < 10.0 {
            let ticks =
                linear_ticks(self.high, most).into_iter().chain(linear_ticks(self.high, 2 * most));
            let mut ticks: Vec<f64> = ticks.filter(|tick| self.holds(*tick)).collect();
            ticks.sort_by(f64::total_cmp);
            ticks.dedup();
            return ticks;
        }
        let whole = self.decades(&[1.0], 1).len();
        self.decades(&[1.0], i32::try_from(whole.div_ceil(most.max(1))).unwrap_or(1).max(1))
    }

    /// Values that are a factor times a power of ten, every `step`th decade.
    fn decades(&self, factors: &[f64], step: i32) -> Vec<f64> {
        let (first, last) = (exponent(self.low), exponent(self.high));
        let decades = (first..=last).filter(|decade| decade % step == 0);
        let all = decades.flat_map(|decade| factors.iter().map(move |f| f * 10_f64.powi(decade)));
        all.filter(|tick| self.holds(*tick)).collect()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the exponent of a double is below 400")]
fn exponent(value: f64) -> i32 {
    value.log10().floor() as i32
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let values: Vec<f64> = values.filter(|value| value.is_finite() && *value > 0.0).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(0.0, f64::max);
    (high > 0.0).then_some((low, high))
}

fn linear_ticks(high: f64, most: usize) -> Vec<f64> {
    let least = high / most.max(1) as f64;
    let decade = 10_f64.powi(exponent(least));
    let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * decade).into_iter().find(|step| *step >= least);
    let step = step.unwrap_or(high);
    (0..=most).map(|n| n as f64 * step).filter(|tick| *tick <= high).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_range_starts_at_zero_and_a_wide_one_is_logarithmic() {
        let narrow = Scale::suiting([2.0, 9.0].into_iter()).unwrap();
        assert!(!narrow.is_logarithmic() && narrow.place(0.0).abs() < 1e-9);
        assert_eq!(narrow.ticks(5), [0.0, 2.0, 4.0, 6.0, 8.0]);
        let wide = Scale::suiting([1.0, 1000.0].into_iter()).unwrap();
        assert!(wide.is_logarithmic());
        assert_eq!(wide.ticks(4), [1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn a_range_within_a_decade_has_marks_too() {
        let scale = Scale::logarithmic([144.0, 235.0].into_iter()).unwrap();
        assert!(scale.ticks(7).len() >= 3, "{:?}", scale.ticks(7));
    }

    #[test]
    fn an_interval_without_bounds_does_not_drown_the_others() {
        let wide = Estimate { middle: 2.0, low: Some(0.01), high: Some(900.0) };
        let shown = Scale::worth_showing(&[wide, Estimate { middle: 1.0, low: None, high: None }]);
        assert!(shown.iter().all(|value| (0.5..=3.0).contains(value)), "{shown:?}");
    }

    #[test]
    fn values_lie_in_order_and_never_outside() {
        let scale = Scale::logarithmic([1e3, 1e9].into_iter()).unwrap();
        let places = [0.0, 1e3, 1e6, 1e9, 1e99].map(|value| scale.place(value));
        assert!(places.is_sorted() && (places[2] - 0.5).abs() < 1e-9, "{places:?}");
        assert_eq!(Scale::logarithmic([f64::NAN, 0.0, -1.0].into_iter()), None);
        assert_eq!(Scale::logarithmic([1e2, 1e12].into_iter()).unwrap().ticks(5).len(), 4);
    }
}
