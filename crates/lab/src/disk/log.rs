//! Logs of fio (`write_iops_log` and its kin) → values over time. A line is time in ms, value, direction, and more that is not needed.

use super::record::{DirectionRun, Timeline};
use super::steps::{self, Together, Wanted};

/// Lines of one log: those of all jobs, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines(Vec<Line>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    ms: u64,
    value: u64,
    direction: u64,
}

/// A log of single requests (log_avg_msec=0) has no rates in it.
const LEAST_STEP_MS: u64 = 50;

impl Lines {
    /// Adds the lines of a file; what is no line of a log is left out.
    pub(super) fn add(&mut self, text: &str) {
        self.0.extend(text.lines().filter_map(line));
    }

    /// The step that the lines have: the usual distance of two that follow each other. Lines of several jobs, or of several directions, may have the same time.
    fn step_ms(&self) -> u64 {
        let gap = |two: &[Line]| two[1].ms.checked_sub(two[0].ms).filter(|gap| *gap > 20);
        let mut gaps: Vec<u64> = self.0.windows(2).filter_map(gap).collect();
        gaps.sort_unstable();
        // Windows end some milliseconds early or late.
        gaps.get(gaps.len() / 2).map_or(0, |gap| (gap.saturating_add(5)) / 10 * 10)
    }

    fn values(&self, direction: u64, wanted: &Wanted) -> Vec<f64> {
        let lines = self.0.iter().filter(|line| line.direction == direction);
        steps::values(lines.map(|line| (line.ms, line.value as f64)), wanted)
    }
}

fn line(text: &str) -> Option<Line> {
    let mut parts = text.split(',').map(str::trim);
    let mut number = || parts.next()?.parse::<u64>().ok();
    Some(Line { ms: number()?, value: number()?, direction: number()? })
}

/// The three logs of a run of fio.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Logs {
    /// Requests a second.
    pub(super) iops: Lines,
    /// KiB a second.
    pub(super) bandwidth: Lines,
    /// Completion latency in ns.
    pub(super) latency: Lines,
}

impl Logs {
    /// What they say about a direction whose result is `run`.
    pub(super) fn timeline(&self, run: &DirectionRun, step_ms: u64) -> Timeline {
        let place = match run.direction.as_str() {
            "write" => 1,
            "trim" => 2,
            _ => 0,
        };
        let step_ms =
            if step_ms > 0 { step_ms } else { self.iops.step_ms().max(self.bandwidth.step_ms()) };
        if step_ms < LEAST_STEP_MS {
            return Timeline::default();
        }
        let values = |lines: &Lines, together| {
            lines.values(place, &Wanted { step_ms, runtime_ms: run.runtime_ms, together })
        };
        // Times 1 ms. Some results have rates only.
        let total = |count: u64, rate: f64| match count {
            0 => Together::Sum { total: rate * run.runtime_ms as f64 },
            count => Together::Sum { total: count as f64 * 1000.0 },
        };
        let kib = total(run.bytes / 1024, run.bytes_per_s / 1024.0);
        let bytes = values(&self.bandwidth, kib);
        let timeline = Timeline {
            step_ms,
            iops: values(&self.iops, total(run.requests, run.iops)),
            bytes_per_s: bytes.into_iter().map(|kib| kib * 1024.0).collect(),
            latency_ns: values(&self.latency, Together::Mean),
        };
        if timeline.iops.is_empty()
            && timeline.bytes_per_s.is_empty()
            && timeline.latency_ns.is_empty()
        {
            return Timeline::default();
        }
        timeline
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Lines {
        let mut lines = Lines::default();
        lines.add(text);
        lines
    }

    #[test]
    fn the_step_is_the_usual_distance_of_lines() {
        let both = lines("499, 100, 0, 0, 0\n1000, 110, 0, 0, 0\n500, 10, 0, 0, 0\n1001, 20, 0\n");
        assert_eq!(both.step_ms(), 500);
        let mixed = lines("499, 1, 0\n503, 1, 1\n1000, 1, 0\n1002, 1, 1\nnonsense\n1500, 1, 0\n");
        assert_eq!(mixed.step_ms(), 500);
        assert_eq!(lines("7, 1, 0\n").step_ms(), 0);
        assert!(lines("7, 1, 0\n18446744073709551615, 1, 0\n").step_ms() > 0);
    }

    #[test]
    fn each_direction_has_its_own_lines() {
        let mut logs = Logs::default();
        logs.iops.add("500, 100, 0, 0\n500, 7, 1, 0\n1000, 110, 0, 0\n1000, 9, 1, 0\n");
        let run = |direction: &str, iops| DirectionRun {
            direction: direction.to_owned(),
            runtime_ms: 1000,
            iops,
            ..DirectionRun::default()
        };
        assert_eq!(logs.timeline(&run("read", 105.0), 500).iops, [100.0, 110.0]);
        assert_eq!(logs.timeline(&run("write", 8.0), 0).iops, [7.0, 9.0]);
        assert_eq!(logs.timeline(&run("trim", 8.0), 0), Timeline::default());
        assert_eq!(logs.timeline(&run("read", 8.0), 10), Timeline::default(), "single requests");
    }
}
