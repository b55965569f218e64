//! Latencies as a distribution: buckets with both ends, the axis all engines of a case share, a line of blocks for text.

use fullbore_lab::Latency;
use fullbore_lab::record::{CaseRun, EngineRun, PointRun};

use super::figures;

/// The ratio of a bucket's ends where the record does not show it: that of the first versions.
const USUAL_RATIO: f64 = 1.25;

/// Narrower or wider buckets than these are no buckets of a histogram.
const RATIOS: (f64, f64) = (1.01, 1.3);

/// Heights of a block, from one value to all.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Where no value lies.
const NOTHING: char = '·';

/// Some values between two times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bucket {
    /// All are longer, in nanoseconds.
    pub(super) low_ns: f64,
    /// None is longer, in nanoseconds.
    pub(super) high_ns: f64,
    /// How many there are.
    pub(super) count: u64,
}

/// The shortest and the longest latency of a case, and how wide its buckets are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    /// The lower end of the first bucket of all engines at all points.
    pub(super) low_ns: f64,
    /// The longest latency.
    pub(super) high_ns: f64,
    ratio: f64,
}

/// Latencies at a point, with the engine they are of.
pub(super) fn at(point: &PointRun) -> impl Iterator<Item = (&EngineRun, &Latency)> {
    let known = |run: &'_ EngineRun| run.latency.as_ref().is_some_and(|l| !filled(l).is_empty());
    let has = point.engines.iter().filter(move |run| known(run));
    has.filter_map(|run| Some((run, run.latency.as_ref()?)))
}

/// Buckets that hold something, in order.
fn filled(latency: &Latency) -> Vec<(u64, u64)> {
    let mut filled: Vec<(u64, u64)> =
        latency.buckets.iter().copied().filter(|(high, count)| *high > 0 && *count > 0).collect();
    filled.sort_unstable();
    filled
}

impl Range {
    /// `None` when no engine has latencies.
    pub(super) fn of(case: &CaseRun) -> Option<Self> {
        let all: Vec<&Latency> =
            case.points.iter().flat_map(at).map(|(_, latency)| latency).collect();
        let ratios = all.iter().flat_map(|latency| {
            let filled = filled(latency);
            let neighbours: Vec<f64> =
                filled.windows(2).map(|pair| pair[1].0 as f64 / pair[0].0 as f64).collect();
            neighbours
        });
        // Empty buckets are left out, so the nearest neighbours show how wide one is.
        let ratio = ratios.filter(|ratio| *ratio >= RATIOS.0).fold(f64::INFINITY, f64::min);
        let ratio = if ratio <= RATIOS.1 { ratio } else { USUAL_RATIO };
        let mut range = Self { low_ns: f64::INFINITY, high_ns: 0.0, ratio };
        for latency in all {
            let buckets = range.buckets(latency);
            range.low_ns = buckets.iter().map(|b| b.low_ns).fold(range.low_ns, f64::min);
            range.high_ns = buckets.iter().map(|b| b.high_ns).fold(range.high_ns, f64::max);
        }
        (range.high_ns > 0.0).then_some(range)
    }

    /// The buckets of one engine.
    pub(super) fn buckets(&self, latency: &Latency) -> Vec<Bucket> {
        let mut before = 0.0_f64;
        let bucket = |(high, count): (u64, u64)| {
            // The last bucket ends with the longest value.
            let high_ns = high.min(latency.max_ns.max(1)) as f64;
            let low_ns = (high as f64 / self.ratio).max(before).min(high_ns);
            before = high as f64;
            Bucket { low_ns, high_ns, count }
        };
        filled(latency).into_iter().map(bucket).collect()
    }

    /// From where to where a line of blocks goes: `836 ns … 7.31 ms`.
    pub(super) fn told(&self) -> String {
        let end = |ns: f64| figures::nanoseconds(whole(ns) as u64);
        format!("{} … {}", end(self.low_ns), end(self.high_ns))
    }

    /// A histogram in a line of at most `columns` letters from the shortest to the longest latency of the case, both
    /// axes logarithmic.
    pub(super) fn blocks(&self, latency: &Latency, columns: usize) -> String {
        let width = (self.high_ns / self.low_ns).ln();
        // A letter narrower than a bucket would leave gaps that mean nothing.
        let columns = columns.min(whole(width / self.ratio.ln())).max(1);
        let mut counts = vec![0_u64; columns];
        for bucket in self.buckets(latency) {
            let middle = (bucket.low_ns * bucket.high_ns).sqrt();
            let place = whole((middle / self.low_ns).ln() / width * columns as f64);
            counts[place.min(columns - 1)] += bucket.count;
        }
        let all = counts.iter().sum::<u64>();
        counts.iter().map(|count| block(*count, all)).collect()
    }
}

fn block(count: u64, all: u64) -> char {
    if count == 0 {
        return NOTHING;
    }
    let place = whole(height(count, all) * BLOCKS.len() as f64);
    BLOCKS[place.min(BLOCKS.len() - 1)]
}

/// Height of a bucket, 0 to 1: logarithmic, so that a single value among millions is seen.
pub(super) fn height(count: u64, all: u64) -> f64 {
    let height = (count.max(1) as f64).log10() + 0.5;
    height / ((all.max(count).max(1) as f64).log10() + 0.5)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small, and a cast saturates"
)]
fn whole(value: f64) -> usize {
    value.max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(buckets: &[(u64, u64)]) -> Latency {
        let count = buckets.iter().map(|(_, count)| count).sum();
        let max_ns = buckets.last().map_or(0, |(high, _)| *high);
        Latency { count, p50_ns: 1, p99_ns: 1, p999_ns: 1, max_ns, buckets: buckets.to_vec() }
    }

    const RANGE: Range = Range { low_ns: 100.0, high_ns: 100_000.0, ratio: 1.25 };

    #[test]
    fn a_bucket_begins_where_the_one_before_ends_or_as_wide_as_all_are() {
        let buckets = RANGE.buckets(&latency(&[(1000, 5), (1250, 3), (5000, 1)]));
        let ends: Vec<_> = buckets.iter().map(|b| (b.low_ns, b.high_ns)).collect();
        assert_eq!(ends, [(800.0, 1000.0), (1000.0, 1250.0), (4000.0, 5000.0)]);
    }

    #[test]
    fn one_value_among_many_is_seen_in_a_line_of_blocks() {
        let line = RANGE.blocks(&latency(&[(1250, 1_000_000), (100_000, 1)]), 6);
        assert_eq!(line, "··█··▁");
    }

    #[test]
    fn a_line_is_never_finer_than_its_buckets() {
        assert_eq!(RANGE.blocks(&latency(&[(1250, 9)]), 500).chars().count(), 30);
    }
}
