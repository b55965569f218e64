//! Logs of fio (`write_iops_log` and its kin) → values over time. A line is time in ms, value, direction, and more that is not needed.

use super::record::Timeline;

/// Lines of one log: those of all jobs, in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines(Vec<Line>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    ms: u64,
    value: u64,
    direction: u64,
}

/// How the values of several jobs in one step become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Together {
    Sum,
    Mean,
}

/// A log of single requests (log_avg_msec=0) has no rates in it.
const LEAST_STEP_MS: u64 = 50;

impl Lines {
    /// Adds the lines of a file; what is no line of a log is left out.
    pub(super) fn add(&mut self, text: &str) {
        self.0.extend(text.lines().filter_map(line));
    }

    fn of(&self, direction: u64) -> impl Iterator<Item = &Line> {
        self.0.iter().filter(move |line| line.direction == direction)
    }

    /// The step that the lines have: the smallest distance that a job keeps, from their first time.
    fn step_ms(&self) -> u64 {
        let mut times: Vec<u64> = self.0.iter().map(|line| line.ms).collect();
        times.sort_unstable();
        times.dedup_by(|later, first| *later - *first <= 20);
        let mut gaps: Vec<u64> = times.windows(2).map(|two| two[1] - two[0]).collect();
        gaps.sort_unstable();
        // Windows end some milliseconds early or late.
        gaps.get(gaps.len() / 2).map_or(0, |gap| (gap + 5) / 10 * 10)
    }

    /// One value for each step; steps of the warm-up, which some versions log too, are left out.
    fn values(
        &self,
        direction: u64,
        step_ms: u64,
        runtime_ms: u64,
        together: Together,
    ) -> Vec<f64> {
        if step_ms == 0 {
            return Vec::new();
        }
        let last = self.of(direction).map(|line| line.ms).max().unwrap_or(0);
        let has_warm_up = runtime_ms > 0 && last > runtime_ms.saturating_add(step_ms / 2);
        let start = if has_warm_up { last - runtime_ms } else { 0 };
        let mut steps: Vec<(f64, u32)> = Vec::new();
        for line in self.of(direction).filter(|line| line.ms > start.saturating_add(step_ms / 2)) {
            // A window is logged at its end, some milliseconds early or late.
            let place = (line.ms - start).saturating_add(step_ms / 4) / step_ms;
            let Ok(place) = usize::try_from(place.saturating_sub(1)) else { continue };
            if place >= steps.len() {
                if place > steps.len() + 100_000 {
                    continue;
                }
                steps.resize(place + 1, (0.0, 0));
            }
            steps[place].0 += line.value as f64;
            steps[place].1 += 1;
        }
        let most = steps.iter().map(|(_, jobs)| *jobs).max().unwrap_or(0);
        // A last step that not all jobs reached says nothing.
        while steps.last().is_some_and(|(_, jobs)| jobs * 2 < most) {
            steps.pop();
        }
        let known = steps.into_iter().filter(|(_, jobs)| *jobs > 0);
        known
            .map(|(sum, jobs)| match together {
                Together::Sum => sum,
                Together::Mean => sum / f64::from(jobs),
            })
            .collect()
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
    /// What they say about one direction.
    pub(super) fn timeline(&self, direction: &str, step_ms: u64, runtime_ms: u64) -> Timeline {
        let place = match direction {
            "write" => 1,
            "trim" => 2,
            _ => 0,
        };
        let step_ms =
            if step_ms > 0 { step_ms } else { self.iops.step_ms().max(self.bandwidth.step_ms()) };
        if step_ms < LEAST_STEP_MS {
            return Timeline::default();
        }
        let values = |lines: &Lines, together| lines.values(place, step_ms, runtime_ms, together);
        let bytes = values(&self.bandwidth, Together::Sum).into_iter().map(|kib| kib * 1024.0);
        let timeline = Timeline {
            step_ms,
            iops: values(&self.iops, Together::Sum),
            bytes_per_s: bytes.collect(),
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
    fn jobs_are_added_up_step_by_step() {
        let both = lines(
            "499, 100, 0, 0, 0\n1000, 110, 0, 0, 0\n500, 10, 0, 0, 0\n1001, 20, 0, 0, 0\nnonsense\n500, 7, 1, 0, 0\n",
        );
        assert_eq!(both.values(0, 500, 1000, Together::Sum), [110.0, 130.0]);
        assert_eq!(both.values(0, 500, 1000, Together::Mean), [55.0, 65.0]);
        assert_eq!(both.values(1, 500, 1000, Together::Sum), [7.0]);
        assert_eq!(both.step_ms(), 500);
    }

    #[test]
    fn the_warm_up_that_a_version_logs_does_not_count() {
        let all = lines("250, 1, 0\n500, 2, 0\n750, 3, 0\n1000, 4, 0\n1250, 5, 0\n1500, 6, 0\n");
        assert_eq!(all.values(0, 250, 750, Together::Sum), [4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_step_that_most_jobs_did_not_reach_does_not_count() {
        let all =
            lines("250, 5, 0\n251, 5, 0\n252, 5, 0\n500, 5, 0\n500, 5, 0\n500, 5, 0\n750, 5, 0\n");
        assert_eq!(all.values(0, 250, 0, Together::Sum), [15.0, 15.0]);
    }

    #[test]
    fn an_absurd_time_does_not_fill_the_memory() {
        let all = lines("250, 5, 0\n18446744073709551615, 5, 0\n");
        assert!(all.values(0, 250, 0, Together::Sum).len() < 3);
    }
}
