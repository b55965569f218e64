//! How sure it is which stage holds the others back.

use fullbore_record::SharesFrom;

use super::flow::{Flow, StageFlow};

/// The same command on the same data takes this part more or less time from run to run, on a machine that others use, too:
/// one standard deviation.
const FROM_RUN_TO_RUN: f64 = 0.04;

/// Linux adds to the time on a CPU once a tick of 4 ms: one standard deviation of a time that ends anywhere in a tick.
const TICK_ERROR_NS: f64 = 4e6 / 3.464;

/// How sure it is that the one stage has more time of its own than the other, in percent: 50 when they are equal.
///
/// The difference is compared with what it would vary by from run to run, and with what samples cannot tell: that
/// a stage was met waiting for something of its own in so many samples out of so many (as a binomial share).
pub(super) fn percent(flow: &Flow<'_>, ns: (f64, f64), stages: (usize, usize)) -> f64 {
    let error = |index: usize, own_ns: f64| {
        (FROM_RUN_TO_RUN * own_ns).hypot(error_of_samples_ns(flow, &flow.stages[index]))
    };
    let error_ns = error(stages.0, ns.0).hypot(error(stages.1, ns.1));
    100.0 * normal_below((ns.0 - ns.1) / error_ns.max(1.0))
}

/// One standard deviation of the time that a stage did not wait for others, as far as it rests on samples.
fn error_of_samples_ns(flow: &Flow<'_>, stage: &StageFlow<'_>) -> f64 {
    let record = flow.record;
    let part_of_run = stage.life_ns / (record.elapsed_ns as f64).max(1.0);
    let samples = (record.samples as f64 * part_of_run).max(1.0);
    let waited_ns = stage.needed_ns() - stage.running_ns;
    let share = (waited_ns / stage.life_ns.max(1.0)).clamp(0.0, 1.0);
    // Rule of succession: what was never met may still have been there.
    let share = (share * samples + 1.0) / (samples + 2.0);
    let waits_ns = (share * (1.0 - share) / samples).sqrt() * stage.life_ns;
    match record.shares_from {
        SharesFrom::Switches => waits_ns,
        _ => waits_ns.hypot(TICK_ERROR_NS),
    }
}

/// The part of a normal distribution below `z` standard deviations. Source: Abramowitz and Stegun, Handbook of
/// Mathematical Functions, 26.2.17; off by less than 1e-7.
fn normal_below(z: f64) -> f64 {
    const FACTORS: [f64; 5] =
        [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let polynomial = FACTORS.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    let above = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if z >= 0.0 { 1.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbore_record::{RunRecord, StageRecord};

    /// Two stages that only run and wait for each other, in a run of so many samples.
    fn record(samples: u64, running_percents: [f64; 2]) -> RunRecord {
        let mut record = RunRecord::default();
        record.elapsed_ns = 1_000_000_000;
        record.samples = samples;
        record.stages = (1..)
            .zip(running_percents)
            .map(|(number, running_percent)| {
                let mut stage = StageRecord::default();
                stage.stage = number;
                stage.life_ns = record.elapsed_ns;
                stage.running_percent = running_percent;
                stage
            })
            .collect();
        record
    }

    fn confidence(samples: u64, running_percents: [f64; 2]) -> f64 {
        let record = record(samples, running_percents);
        let flow = Flow::of(&record);
        let own_ns = |index: usize| flow.stages[index].own_ns();
        percent(&flow, (own_ns(0), own_ns(1)), (0, 1))
    }

    #[test]
    fn the_normal_distribution_at_known_places() {
        for (z, below) in [(0.0, 0.5), (1.0, 0.841_344_7), (-1.959_964, 0.025), (3.0, 0.998_650_1)]
        {
            assert!((normal_below(z) - below).abs() < 1e-6, "{z}");
        }
    }

    #[test]
    fn the_further_apart_the_surer() {
        assert!((confidence(500, [80.0, 80.0]) - 50.0).abs() < 0.1);
        let close = confidence(500, [80.0, 76.0]);
        assert!((70.0..90.0).contains(&close), "{close}");
        assert!(confidence(500, [90.0, 60.0]) > 99.9);
    }

    #[test]
    fn few_samples_make_unsure() {
        let (few, many) = (confidence(10, [60.0, 45.0]), confidence(1000, [60.0, 45.0]));
        assert!(few < 90.0 && many > 99.0, "{few}, {many}");
    }
}
