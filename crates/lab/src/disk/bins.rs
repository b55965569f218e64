//! Latencies in the bins of fio: each power of two has 64 of them. Merged by adding them up, so that a percentile of several jobs,
//! passes or hosts is one of all their requests together, and never a mean of percentiles.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Requests by latency: `[value of the bin in ns, requests]`, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>")]
pub struct Bins(BTreeMap<u64, u64>);

/// Bits of a latency that a bin keeps; source: fio, stat.h, `FIO_IO_U_PLAT_BITS`.
const BITS: u32 = 6;

impl Bins {
    /// Adds requests to the bin with this value.
    pub fn add(&mut self, value_ns: u64, requests: u64) {
        if requests > 0 {
            let known = self.0.entry(value_ns).or_default();
            *known = known.saturating_add(requests);
        }
    }

    /// Adds one request of this latency.
    pub fn count(&mut self, latency_ns: u64) {
        self.add(value_of(latency_ns), 1);
    }

    /// Adds all requests of others.
    pub fn merge(&mut self, others: &Self) {
        others.0.iter().for_each(|(value, requests)| self.add(*value, *requests));
    }

    /// All requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.0.values().sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Value and requests of each bin that has some, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(value, requests)| (*value, *requests))
    }

    /// The value of the first bin up to which at least `percent` of the requests lie: the rule of fio.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<u64> {
        let wanted = percent / 100.0 * self.requests() as f64;
        let mut sum = 0_u64;
        for (value, requests) in self.iter() {
            sum += requests;
            if sum as f64 >= wanted {
                return Some(value);
            }
        }
        self.0.last_key_value().map(|(value, _)| *value)
    }

    /// With every latency times `factor`: what a slower device would have given.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut scaled = Self::default();
        for (value, requests) in self.iter() {
            scaled.add(value_of(rounded(value as f64 * factor)), requests);
        }
        scaled
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "latencies are far below 2^53 ns"
)]
pub(super) fn rounded(value: f64) -> u64 {
    value.max(0.0).round() as u64
}

/// The value that stands for all latencies of the bin of this one: the middle of the bin.
#[must_use]
pub fn value_of(latency_ns: u64) -> u64 {
    let highest = 63_u32.saturating_sub(latency_ns.leading_zeros());
    if highest <= BITS {
        return latency_ns;
    }
    let lost = highest - BITS;
    ((latency_ns >> lost) << lost) + (1 << (lost - 1))
}

impl From<Vec<(u64, u64)>> for Bins {
    fn from(pairs: Vec<(u64, u64)>) -> Self {
        let mut bins = Self::default();
        pairs.into_iter().for_each(|(value, requests)| bins.add(value, requests));
        bins
    }
}

impl From<Bins> for Vec<(u64, u64)> {
    fn from(bins: Bins) -> Self {
        bins.0.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_those_that_fio_prints() {
        // Read off an output of fio 3.33: bins of 512 ns from 32.8 µs, of 1024 ns from 65.5 µs.
        for (latency, value) in
            [(41_852, 41_728), (42_000, 42_240), (66_000, 66_048), (127, 127), (128, 129), (0, 0)]
        {
            assert_eq!(value_of(latency), value, "{latency}");
        }
    }

    proptest! {
        #[test]
        fn percentiles_of_merged_bins_lie_within_one_bin_of_the_truth(
            mut latencies in prop::collection::vec(1_u64..5_000_000_000, 1..400),
            parts in 1_usize..5,
            percent in 0.1_f64..100.0,
        ) {
            let mut merged = Bins::default();
            for part in latencies.chunks(latencies.len().div_ceil(parts)) {
                let mut bins = Bins::default();
                part.iter().for_each(|latency| bins.count(*latency));
                merged.merge(&bins);
            }
            latencies.sort_unstable();
            let wanted = percent / 100.0 * latencies.len() as f64;
            let place = (1..=latencies.len()).find(|place| *place as f64 >= wanted).unwrap();
            let truth = latencies[place - 1];
            let found = merged.percentile(percent).unwrap();
            prop_assert_eq!(found, value_of(truth));
            prop_assert!((found as f64 / truth as f64 - 1.0).abs() <= 1.0 / 64.0);
        }
    }

    #[test]
    fn a_mean_of_percentiles_is_not_what_we_give() {
        let of = |latency, requests| Bins::from(vec![(latency, requests)]);
        let mut both = of(100, 999);
        both.merge(&of(100_096, 1));
        assert_eq!(both.percentile(99.0), Some(100));
        assert_eq!(both.percentile(99.95), Some(100_096));
        assert_eq!(Bins::default().percentile(50.0), None);
    }
}
