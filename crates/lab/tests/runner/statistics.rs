//! Intervals hold what they promise, on made-up noise whose truth is known.

use fullbore_lab::statistics::{of_ratios, of_values};
use proptest::prelude::*;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Noise of a machine: a slow wave, a spread, and now and then something wild.
struct Noise(SplitMix64, f64);

impl Noise {
    fn next(&mut self) -> f64 {
        let uniform =
            |random: &mut SplitMix64| (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let spread: f64 = (0..12).map(|_| uniform(&mut self.0)).sum::<f64>() - 6.0;
        let wild = if uniform(&mut self.0) < 0.05 { 0.4 } else { 0.0 };
        self.1 = 0.8 * self.1 + 0.01 * (uniform(&mut self.0) - 0.5);
        (0.04 * spread + self.1 + wild).exp()
    }
}

fn rounds(seed: u64, count: usize) -> (Vec<f64>, Vec<f64>) {
    let mut noise = Noise(SplitMix64::seed_from_u64(seed), 0.0);
    (0..count).map(|_| (2.0 * noise.next(), noise.next())).unzip()
}

#[test]
fn the_ratio_of_a_second_run_lies_in_the_interval_of_the_first() {
    for count in [4, 8, 20] {
        let runs = 400;
        let held = (0..runs).filter(|seed| {
            let (a, b) = rounds(2 * seed, count);
            let (c, d) = rounds(2 * seed + 1, count);
            let (first, second) = (of_ratios(&a, &b).unwrap(), of_ratios(&c, &d).unwrap());
            (first.low.unwrap()..=first.high.unwrap()).contains(&second.middle)
        });
        let share = held.count() * 100 / usize::try_from(runs).unwrap();
        assert!(share >= 95, "{count} rounds: {share} %");
    }
}

#[test]
fn more_rounds_make_an_interval_narrower() {
    let half = |count| {
        let (a, b) = rounds(7, count);
        of_ratios(&a, &b).unwrap().half_width().unwrap()
    };
    assert!(half(40) < half(10) && half(10) < half(4));
}

proptest! {
    #[test]
    fn an_interval_holds_its_middle_and_turns_round_with_the_ratio(
        pairs in prop::collection::vec((1e-3..1e9_f64, 1e-3..1e9_f64), 2..20)
    ) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let (there, back) = (of_ratios(&a, &b).unwrap(), of_ratios(&b, &a).unwrap());
        prop_assert!(there.low.unwrap() <= there.middle && there.middle <= there.high.unwrap());
        prop_assert!((there.middle * back.middle - 1.0).abs() < 1e-5);
    }

    #[test]
    fn a_unit_changes_no_relative_width(values in prop::collection::vec(0.5..2.0_f64, 2..20)) {
        let scaled: Vec<f64> = values.iter().map(|value| value * 1e6).collect();
        let (one, other) = (of_values(&values).unwrap(), of_values(&scaled).unwrap());
        prop_assert!((one.half_width().unwrap() - other.half_width().unwrap()).abs() < 1e-5);
        prop_assert!((other.middle / one.middle / 1e6 - 1.0).abs() < 1e-5);
    }
}
