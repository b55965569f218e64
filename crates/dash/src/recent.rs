//! What a stage did in the last second, and how fast it was before that: read off its timeline.

use fullbore_record::{StageTimeline, Timeline};

/// How far back "now" reaches, in nanoseconds: long enough that the numbers can be read before they change.
const NOW_NS: u64 = 1_000_000_000;

/// Columns of history that are kept: the widest that is ever shown.
const LONGEST_HISTORY: usize = 40;

/// What a stage does, in percent of the last second (or of the last step of the timeline, when that is longer).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Activity {
    pub(crate) running: f32,
    pub(crate) runnable: f32,
    pub(crate) reading: f32,
    pub(crate) writing: f32,
    pub(crate) other: f32,
}

/// One of the five things a stage can be doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    Running,
    Runnable,
    Reading,
    Writing,
    Other,
}

impl Activity {
    /// The activity at the end of the timeline.
    pub(crate) fn now(stage: &StageTimeline, step_ns: u64) -> Self {
        let steps = steps_of_now(step_ns);
        Self {
            running: mean_of_last(&stage.running, steps),
            runnable: mean_of_last(&stage.runnable, steps),
            reading: mean_of_last(&stage.blocked_reading, steps),
            writing: mean_of_last(&stage.blocked_writing, steps),
            other: mean_of_last(&stage.blocked_other, steps),
        }
    }

    /// The five shares in the order in which they are drawn.
    pub(crate) fn shares(&self) -> [(Doing, f32); 5] {
        [
            (Doing::Running, self.running),
            (Doing::Runnable, self.runnable),
            (Doing::Reading, self.reading),
            (Doing::Writing, self.writing),
            (Doing::Other, self.other),
        ]
    }

    /// What it does most, and the share of that in percent; `None` when nothing was observed.
    pub(crate) fn mostly(&self) -> Option<(Doing, f32)> {
        self.shares()
            .into_iter()
            .rev()
            .filter(|(_, percent)| *percent > 0.0)
            .max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// How much it wants a CPU, in percent.
    pub(crate) fn busy(&self) -> f32 {
        self.running + self.runnable
    }
}

fn steps_of_now(step_ns: u64) -> usize {
    usize::try_from(NOW_NS.div_ceil(step_ns.max(1))).unwrap_or(usize::MAX)
}

fn mean_of_last(values: &[f32], steps: usize) -> f32 {
    let last = &values[values.len() - steps.clamp(1, values.len().max(1)).min(values.len())..];
    let finite = last.iter().copied().filter(|value| value.is_finite());
    if last.is_empty() { 0.0 } else { (finite.sum::<f32>() / last.len() as f32).clamp(0.0, 100.0) }
}

/// Bytes that a stage handled over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Flow {
    /// Bytes read per second in the last second.
    pub(crate) read: f64,
    /// Bytes written per second in the last second.
    pub(crate) written: f64,
    /// Bytes handled per second (the larger of read and written), one number a second, oldest first.
    pub(crate) history: Vec<u64>,
}

impl Flow {
    /// The flow of `stage`, which must belong to `timeline`.
    pub(crate) fn of(stage: &StageTimeline, timeline: &Timeline) -> Self {
        let steps = steps_of_now(timeline.step_ns);
        Self {
            read: rate_of_last(&stage.read_bytes, steps, timeline.step_ns),
            written: rate_of_last(&stage.written_bytes, steps, timeline.step_ns),
            history: history(stage, timeline),
        }
    }

    /// Bytes handled per second: the larger of read and written, so that a source, a filter and a sink all have one.
    pub(crate) fn handled(&self) -> f64 {
        self.read.max(self.written)
    }
}

fn rate_of_last(bytes: &[u64], steps: usize, step_ns: u64) -> f64 {
    let last = &bytes[bytes.len() - steps.min(bytes.len())..];
    let seconds = last.len() as f64 * step_ns as f64 / 1e9;
    if seconds > 0.0 { last.iter().map(|&count| count as f64).sum::<f64>() / seconds } else { 0.0 }
}

/// Rates in buckets of one second (or one step), which are tied to the clock so that a column never changes once it
/// is over. The newest bucket is left out until a quarter of it has been seen: a single step says little.
fn history(stage: &StageTimeline, timeline: &Timeline) -> Vec<u64> {
    let step_ns = timeline.step_ns.max(1);
    let bucket_ns = step_ns.max(NOW_NS);
    let steps = stage.read_bytes.len().max(stage.written_bytes.len());
    let bucket_of = |step: usize| {
        (timeline.start_ns.saturating_add((step as u64).saturating_mul(step_ns))) / bucket_ns
    };
    let mut rates = Vec::new();
    let mut end = steps;
    while end > 0 && rates.len() <= LONGEST_HISTORY {
        let bucket = bucket_of(end - 1);
        let start =
            (0..end).rev().take_while(|&step| bucket_of(step) == bucket).last().unwrap_or(end - 1);
        let seconds = (end - start) as f64 * step_ns as f64 / 1e9;
        let is_newest = end == steps;
        if !is_newest || start == 0 || seconds * 4e9 >= bucket_ns as f64 {
            let sum = |bytes: &[u64]| {
                bytes
                    .get(start..end.min(bytes.len()))
                    .unwrap_or(&[])
                    .iter()
                    .map(|&count| count as f64)
                    .sum::<f64>()
            };
            rates.push(whole(sum(&stage.read_bytes).max(sum(&stage.written_bytes)) / seconds));
        }
        end = start;
    }
    rates.truncate(LONGEST_HISTORY);
    rates.reverse();
    rates
}

#[expect(clippy::cast_possible_truncation, reason = "a rate beyond u64::MAX saturates")]
fn whole(rate: f64) -> u64 {
    rate as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(step_ns: u64, stage: StageTimeline) -> Timeline {
        let mut timeline = Timeline::default();
        timeline.step_ns = step_ns;
        timeline.stages.push(stage);
        timeline
    }

    fn stage(running: Vec<f32>, read_bytes: Vec<u64>) -> StageTimeline {
        let mut stage = StageTimeline::default();
        stage.running = running;
        stage.read_bytes = read_bytes;
        stage
    }

    #[test]
    fn now_is_the_last_second() {
        let stage = stage(vec![0.0, 0.0, 100.0, 50.0], vec![]);
        assert_eq!(Activity::now(&stage, 500_000_000).running, 75.0);
        assert_eq!(
            Activity::now(&stage, 60_000_000_000).running,
            50.0,
            "a step longer than a second"
        );
        assert_eq!(Activity::now(&StageTimeline::default(), 0), Activity::default());
    }

    #[test]
    fn history_has_one_rate_a_second() {
        let mut stage = stage(vec![], vec![10, 20, 30, 40, 50]);
        stage.written_bytes = vec![0, 0, 100];
        let flow = Flow::of(&stage, &timeline(500_000_000, stage.clone()));
        assert_eq!(flow.history, [30, 100, 100]);
        assert_eq!(flow.read, 90.0);
    }

    #[test]
    fn a_second_that_has_hardly_begun_is_not_history_yet() {
        let stage = stage(vec![], vec![10; 11]);
        assert_eq!(Flow::of(&stage, &timeline(100_000_000, stage.clone())).history, [100]);
    }

    #[test]
    fn odd_timelines_are_no_reason_to_panic() {
        let stage = stage(vec![f32::NAN, f32::INFINITY], vec![u64::MAX; 3]);
        for step_ns in [0, 1, 1_000_000_000, u64::MAX] {
            let mut line = timeline(step_ns, stage.clone());
            line.start_ns = u64::MAX;
            assert!(Activity::now(&stage, step_ns).running.is_finite());
            assert!(Flow::of(&stage, &line).history.len() <= LONGEST_HISTORY);
        }
    }
}
