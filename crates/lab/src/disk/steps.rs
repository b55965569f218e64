//! Lines of a log → values of equal steps.
//!
//! A line has the time at which fio wrote it, and holds for the time since the line before it of the same job. On a busy machine fio
//! writes late: if each line counted as one step, a short time would weigh as much as a long one.

/// How the values of several jobs in one step become one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Together {
    /// Rates add up. `total` is what their sum over all ms must be, from the result.
    Sum {
        total: f64,
    },
    Mean,
}

/// The steps that are asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) step_ms: u64,
    /// 0 where it is not known.
    pub(super) runtime_ms: u64,
    pub(super) together: Together,
}

/// The time for which a line holds, in ms since the beginning of the log.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Window {
    from: u64,
    to: u64,
    /// Up to here, no line tells anything.
    known_from: u64,
    value: f64,
}

/// More steps than this between two lines of a job are a wrong time, not a pause.
const LONGEST_PAUSE: u64 = 100_000;

/// And so is a line after more steps than this: weeks of the shortest ones.
const MOST_STEPS: u64 = 10_000_000;

/// More jobs than this have no common log that is sorted.
const MOST_SORTED_JOBS: usize = 256;

/// One value for each step; steps of the warm-up, which some versions log too, are left out, and so is a last step of which less than half is known.
pub(super) fn values(lines: impl Iterator<Item = (u64, f64)>, wanted: &Wanted) -> Vec<f64> {
    let Wanted { step_ms, runtime_ms, together } = *wanted;
    if step_ms == 0 {
        return Vec::new();
    }
    let mut jobs = jobs(lines, step_ms);
    let last = jobs.iter().filter_map(|job| job.last()).map(|window| window.to).max().unwrap_or(0);
    let is_far = |from: u64, to: u64| to.saturating_sub(from) > step_ms.saturating_add(step_ms / 2);
    let has_warm_up = runtime_ms > 0 && last > runtime_ms.saturating_add(step_ms / 2);
    let start = if has_warm_up { last - runtime_ms } else { 0 };
    // Requests that take long end after the last line.
    let is_valid = runtime_ms / step_ms <= MOST_STEPS;
    let end = if is_valid && is_far(last, runtime_ms) { runtime_ms } else { last };
    for job in &mut jobs {
        job.retain(|window| window.to > start);
        for window in job.iter_mut() {
            window.from = window.from.max(start);
            let is_pause = is_far(window.from, window.to);
            window.known_from = if is_pause { window.to - step_ms } else { window.from };
        }
        if let Some(Window { to: from, value, .. }) = job.last().copied()
            && is_far(from, end)
            // How long requests took of a job that is done, nothing tells.
            && (together != Together::Mean || !is_far(from, last))
        {
            job.push(Window { from, to: end, known_from: end, value });
        }
    }
    if let Together::Sum { total } = together {
        // A part of the last step may have no line.
        let logged = if runtime_ms > end { (end - start) as f64 / runtime_ms as f64 } else { 1.0 };
        fill(&mut jobs, total * logged);
    }
    by_step(&jobs, start, step_ms, together)
}

/// The lines of each job as windows.
///
/// fio writes the lines of one job after those of the other, so a time that goes back begins a job. Within a job, lines of latency may
/// follow each other sooner than after a step. Some tools sort lines by time; then those of one job are about a step apart.
fn jobs(lines: impl Iterator<Item = (u64, f64)>, step_ms: u64) -> Vec<Vec<Window>> {
    let lines: Vec<(u64, f64)> = lines.filter(|(ms, _)| ms / step_ms <= MOST_STEPS).collect();
    let last = lines.iter().map(|(ms, _)| *ms).max().unwrap_or(0);
    let is_sorted = lines.is_sorted_by_key(|(ms, _)| *ms);
    let has_several = (lines.len() as u64).saturating_mul(2) > (last / step_ms).saturating_mul(3);
    if is_sorted && has_several { of_sorted(&lines, step_ms) } else { one_by_one(&lines, step_ms) }
}

fn one_by_one(lines: &[(u64, f64)], step_ms: u64) -> Vec<Vec<Window>> {
    let mut jobs: Vec<Vec<Window>> = Vec::new();
    let mut before = u64::MAX;
    for (ms, value) in lines.iter().copied() {
        if ms < before {
            jobs.push(Vec::new());
        }
        before = ms;
        if let Some(job) = jobs.last_mut() {
            add(job, ms, value, step_ms);
        }
    }
    jobs
}

/// Nothing for lines that are no steps of a few jobs.
fn of_sorted(lines: &[(u64, f64)], step_ms: u64) -> Vec<Vec<Window>> {
    let mut jobs: Vec<Vec<Window>> = Vec::new();
    for (ms, value) in lines.iter().copied() {
        let waits = |job: &Vec<Window>| {
            job.last().is_some_and(|window| ms >= window.to.saturating_add(step_ms / 2))
        };
        if let Some(job) = jobs.iter_mut().find(|job| waits(job)) {
            add(job, ms, value, step_ms);
        } else if jobs.len() < MOST_SORTED_JOBS {
            jobs.push(Vec::new());
            if let Some(job) = jobs.last_mut() {
                add(job, ms, value, step_ms);
            }
        } else {
            return Vec::new();
        }
    }
    jobs
}

fn add(job: &mut Vec<Window>, ms: u64, value: f64, step_ms: u64) {
    let from = job.last().map_or(0, |window| window.to);
    if ms > from && (ms - from) / step_ms <= LONGEST_PAUSE {
        job.push(Window { from, to: ms, known_from: from, value });
    }
}

/// Gives pauses in a log of rates what the lines leave of `total`. fio writes no line for a time in which nothing ended, and one
/// line for a time in which it did not come to writing: after a pause, a line may hold for its last step only or for all of it,
/// and only the sum tells which.
fn fill(jobs: &mut [Vec<Window>], total: f64) {
    let (mut known, mut paused) = (0.0, 0.0);
    for Window { from, to, known_from, value } in jobs.iter().flatten() {
        known += value * (to - known_from) as f64;
        paused += value * (known_from - from) as f64;
    }
    if paused <= 0.0 {
        return;
    }
    let share = ((total - known) / paused).clamp(0.0, 1.0);
    let halves = |window: &Window| {
        let middle = window.known_from;
        let pause = Window { to: middle, value: window.value * share, ..*window };
        [pause, Window { from: middle, ..*window }]
    };
    for job in jobs {
        *job = job.iter().flat_map(halves).collect();
    }
}

/// What a job says about a step: the sum of value × ms, and the ms that are known.
type Part = (f64, f64);

fn by_step(jobs: &[Vec<Window>], start: u64, step_ms: u64, together: Together) -> Vec<f64> {
    let (mut steps, mut own): (Vec<Part>, Vec<Part>) = (Vec::new(), Vec::new());
    for job in jobs {
        own.clear();
        job.iter().for_each(|window| spread(window, start, step_ms, &mut own));
        steps.resize(steps.len().max(own.len()), (0.0, 0.0));
        for (step, (sum, ms)) in steps.iter_mut().zip(&own).filter(|(_, (_, ms))| *ms > 0.0) {
            step.0 += if together == Together::Mean { *sum } else { sum / ms };
            step.1 += ms;
        }
    }
    let most = steps.iter().map(|(_, known)| *known).fold(0.0, f64::max);
    while steps.last().is_some_and(|(_, known)| known * 2.0 < most) {
        steps.pop();
    }
    let value = |(value, known): Part| match together {
        Together::Sum { .. } => value,
        Together::Mean => value / f64::max(known, 1.0),
    };
    steps.into_iter().map(value).collect()
}

/// Adds a window to the steps that it covers.
fn spread(window: &Window, start: u64, step_ms: u64, steps: &mut Vec<Part>) {
    let mut from = window.from - start;
    let to = window.to - start;
    while from < to {
        let step = from / step_ms;
        let until = to.min((step + 1).saturating_mul(step_ms));
        let place = usize::try_from(step).expect("fits: steps are bounded");
        if steps.len() <= place {
            steps.resize(place + 1, (0.0, 0.0));
        }
        steps[place].0 += window.value * (until - from) as f64;
        steps[place].1 += (until - from) as f64;
        from = until;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[(u64, u64)], step_ms: u64, runtime_ms: u64, together: Together) -> Vec<f64> {
        let lines = lines.iter().map(|(ms, value)| (*ms, *value as f64));
        let values = values(lines, &Wanted { step_ms, runtime_ms, together });
        values.into_iter().map(|value| (value * 100.0).round() / 100.0).collect()
    }

    /// Of a pass with this mean.
    fn sum(mean: f64, runtime_ms: u64) -> Together {
        Together::Sum { total: mean * runtime_ms as f64 }
    }

    #[test]
    fn jobs_are_added_up_step_by_step() {
        let by_job = [(500, 100), (1000, 110), (500, 10), (1000, 20)];
        assert_eq!(of(&by_job, 500, 1000, sum(120.0, 1000)), [110.0, 130.0]);
        assert_eq!(of(&by_job, 500, 1000, Together::Mean), [55.0, 65.0]);
        let by_time = [(500, 100), (500, 10), (1000, 110), (1000, 20)];
        assert_eq!(of(&by_time, 500, 1000, sum(120.0, 1000)), [110.0, 130.0]);
        // The second job went on after the first.
        let longer = [(500, 100), (500, 10), (1000, 100), (1000, 20), (1500, 30)];
        let values = of(&longer, 500, 1500, sum(260.0 / 3.0, 1500));
        assert_eq!(values, [110.0, 120.0, 30.0]);
        assert_eq!(of(&longer, 500, 1500, Together::Mean), [55.0, 60.0, 30.0]);
    }

    #[test]
    fn the_warm_up_that_a_version_logs_does_not_count() {
        let all = [(250, 1), (500, 2), (750, 3), (1000, 4), (1250, 5), (1500, 6)];
        assert_eq!(of(&all, 250, 750, sum(5.0, 750)), [4.0, 5.0, 6.0]);
    }

    #[test]
    fn a_last_step_that_most_jobs_did_not_reach_does_not_count() {
        let all = [(250, 5), (251, 5), (252, 5), (500, 5), (500, 5), (500, 5), (750, 5)];
        assert_eq!(of(&all, 250, 0, sum(15.0, 500)), [15.0, 15.0]);
    }

    /// Lines of fio 3.33 on a machine whose CPUs were busy: each came later than the one before.
    #[test]
    fn a_line_holds_for_the_time_since_the_one_before() {
        let late = [(360, 100), (613, 200), (860, 200), (1220, 100)];
        let values = of(&late, 250, 1220, sum(138.0, 1220));
        assert_eq!(values, [100.0, 156.0, 200.0, 144.0, 100.0]);
        let mean = values.iter().sum::<f64>() / 5.0;
        assert!((mean - 140.0).abs() < 1e-9, "counted lines would say 150");
    }

    #[test]
    fn a_pause_gets_what_the_result_leaves_for_it() {
        let pause = [(250, 100), (1250, 100)];
        // The disk did nothing for three steps ...
        assert_eq!(of(&pause, 250, 1250, sum(40.0, 1250)), [100.0, 0.0, 0.0, 0.0, 100.0]);
        // ... or fio came late, and the line holds for all of them ...
        assert_eq!(of(&pause, 250, 1250, sum(100.0, 1250)), [100.0; 5]);
        // ... or something between. The latency is that of the line.
        assert_eq!(of(&pause, 250, 1250, sum(70.0, 1250)), [100.0, 50.0, 50.0, 50.0, 100.0]);
        assert_eq!(of(&pause, 250, 1250, Together::Mean), [100.0; 5]);
    }

    /// Streams to a disk that was busy for others: 3 s were asked for, the last requests ended after 4.5 s.
    #[test]
    fn a_pass_lasts_until_its_last_request() {
        let two = [(250, 100), (500, 100), (250, 80), (500, 80)];
        assert_eq!(of(&two, 250, 1500, sum(60.0, 1500)), [180.0, 180.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(of(&two, 250, 1500, sum(90.0, 1500)), [180.0, 180.0, 45.0, 45.0, 45.0, 45.0]);
        assert_eq!(of(&two, 250, 1500, Together::Mean), [90.0; 6]);
        // One job had a line at the end, after a pause.
        let one = [(250, 100), (500, 100), (1500, 4), (250, 80), (500, 80)];
        let values = of(&one, 250, 1500, sum(60.0, 1500));
        assert_eq!((values.len(), &values[..2], values[5]), (6, &[180.0, 180.0][..], 4.0));
    }

    /// Latencies that fio 3.33 wrote in microseconds, of two of eight jobs: after a stall, lines follow each other at once.
    #[test]
    fn lines_that_follow_each_other_at_once_are_of_one_job() {
        let stalled = [
            (281, 45_951),
            (515, 51_449),
            (778, 40_686),
            (4333, 135_190),
            (4350, 3_561_488),
            (283, 47_240),
            (516, 46_385),
            (780, 42_380),
            (4334, 112_547),
            (4351, 3_562_183),
        ];
        let values = of(&stalled, 250, 4360, Together::Mean);
        assert_eq!(values.len(), 17);
        assert!(values[..2].iter().all(|value| (45_000.0..52_000.0).contains(value)), "{values:?}");
        assert!(values[5..16].iter().all(|value| (112_000.0..136_000.0).contains(value)));
    }

    #[test]
    fn a_job_that_is_done_adds_nothing() {
        let uneven = [(250, 100), (500, 100), (250, 10), (500, 10), (750, 10), (1000, 10)];
        let together = Together::Sum { total: 60_000.0 };
        assert_eq!(of(&uneven, 250, 1000, together), [110.0, 110.0, 10.0, 10.0]);
        assert_eq!(of(&uneven, 250, 1000, Together::Mean), [55.0, 55.0, 10.0, 10.0]);
    }

    #[test]
    fn lines_of_single_requests_are_no_steps() {
        let requests: Vec<(u64, u64)> = (0..100_000).map(|n| (n / 100, 5)).collect();
        assert_eq!(of(&requests, 250, 1000, Together::Mean), [] as [f64; 0]);
    }

    #[test]
    fn an_absurd_time_does_not_fill_the_memory() {
        for together in [sum(5.0, 250), Together::Mean] {
            assert_eq!(of(&[(250, 5), (u64::MAX, 5)], 250, 0, together), [5.0]);
            assert_eq!(of(&[(u64::MAX, 5)], 250, 0, together), [] as [f64; 0]);
            assert_eq!(of(&[(250, 5)], u64::MAX, 0, together), [5.0]);
            assert_eq!(of(&[(250, 5)], 250, u64::MAX, together), [5.0]);
            assert_eq!(of(&[(250, 5)], 0, 0, together), [] as [f64; 0]);
        }
    }
}
