//! Statistics that survive a noisy machine: medians instead of means.

/// The median of a sample and its spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The median.
    pub median: f64,
    /// The median absolute deviation from the median, in the same unit.
    pub mad: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Summary {
    /// Summarises `values`; `None` when there are none.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let middle = median(values)?;
        let deviations: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
        Some(Self {
            median: middle,
            mad: median(&deviations)?,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// Returns the median of `values` (the mean of the middle two when their number is even); `None` when there are none.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    Some(if sorted.len() % 2 == 1 {
        sorted[half]
    } else {
        f64::midpoint(sorted[half - 1], sorted[half])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_value_does_not_move_the_median() {
        let summary = Summary::of(&[1.0, 1.1, 0.9, 100.0, 1.0]).unwrap();
        assert!((summary.median - 1.0).abs() < 1e-9);
        assert!((summary.mad - 0.1).abs() < 1e-9);
        assert!((summary.max - 100.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_no_median() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4.0, 2.0]), Some(3.0));
    }
}
