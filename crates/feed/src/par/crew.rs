//! How many copies run at the same time.

use std::time::{Duration, Instant};

/// How many copies of the command run at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Jobs {
    /// One at first; one more for each CPU that is idle while input waits, up to so many.
    UpTo(usize),
    /// So many, if there is input for them.
    Exactly(usize),
}

impl Jobs {
    /// The largest number that there may ever be.
    #[must_use]
    pub fn most(self) -> usize {
        match self {
            Self::UpTo(most) | Self::Exactly(most) => most.max(1),
        }
    }
}

/// Over less time Linux's count of idle time (in hundredths of a second) says little.
const WORTH_A_LOOK: Duration = Duration::from_millis(20);

/// What was idle so long ago may be busy now.
const STALE: Duration = Duration::from_millis(500);

/// So much of its time must a copy wait for a CPU, on average of the last ones, before there is one less.
const FIGHTING: f64 = 0.5;

/// The weight of the newest copy in that average.
const NEWEST: f64 = 0.25;

/// This share of a CPU must be idle for one more copy.
const IDLE_CPU: f64 = 0.4;

/// Decides how many copies may run.
#[derive(Debug)]
pub(super) struct Crew {
    jobs: Jobs,
    wanted: usize,
    last: Option<(Instant, f64)>,
    /// The share of their time that copies waited for a CPU.
    waited: f64,
    /// Tells how long all CPUs together have been idle, in seconds.
    idle_seconds: fn() -> Option<f64>,
}

impl Crew {
    pub(super) fn new(jobs: Jobs) -> Self {
        let wanted = match jobs {
            Jobs::UpTo(_) => 1,
            Jobs::Exactly(count) => count.max(1),
        };
        let mut crew = Self { jobs, wanted, last: None, waited: 0.0, idle_seconds };
        crew.look_again(Instant::now());
        crew
    }

    /// Lets so many run from the beginning.
    pub(super) fn begin_with(&mut self, copies: usize) {
        self.wanted = copies.clamp(1, self.most());
    }

    /// The largest number there may ever be.
    pub(super) fn most(&self) -> usize {
        self.jobs.most()
    }

    /// How many may run now that `running` run and a block waits.
    pub(super) fn may_run(&mut self, running: usize, now: Instant) -> usize {
        if running < self.wanted || self.wanted >= self.most() {
            return self.wanted;
        }
        let Some((then, idle_then)) = self.last else {
            // Nobody knows how busy the CPUs are.
            self.wanted = self.most();
            return self.wanted;
        };
        let passed = now.duration_since(then);
        if passed < WORTH_A_LOOK {
            return self.wanted;
        }
        if passed > STALE {
            self.look_again(now);
            return self.wanted;
        }
        if let Some(idle) = (self.idle_seconds)() {
            let cpus = (idle - idle_then) / passed.as_secs_f64();
            let more = (1..=self.most()).take_while(|&n| cpus >= n as f64 - 1.0 + IDLE_CPU).count();
            self.wanted = (self.wanted + more).min(self.most());
        }
        self.look_again(now);
        self.wanted
    }

    /// Takes note of the share of its time that a copy waited for a CPU: where they fight for CPUs with others, there
    /// will be one less.
    pub(super) fn note_wait(&mut self, share: f64) {
        self.waited += (share - self.waited) * NEWEST;
        if self.waited > FIGHTING && self.wanted > 1 && matches!(self.jobs, Jobs::UpTo(_)) {
            self.wanted -= 1;
            self.waited = 0.0;
        }
    }

    fn look_again(&mut self, now: Instant) {
        self.last = (self.idle_seconds)().map(|idle| (now, idle));
    }
}

/// Idle time of all CPUs since the machine started. Source: proc_stat(5), the line `cpu`, in hundredths of a second.
fn idle_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let mut fields = text.lines().next()?.split_whitespace().skip(4);
    let idle: f64 = fields.next()?.parse().ok()?;
    let waiting_for_disks: f64 = fields.next()?.parse().ok()?;
    Some((idle + waiting_for_disks) / 100.0)
}

/// The CPU time of the main thread of a process. Source: proc_pid_schedstat(5).
pub(super) fn cpu_time(pid: u32) -> Option<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The share of its time that a process, which may have ended, waited for a CPU. Source: proc_pid_schedstat(5).
pub(super) fn share_of_waiting(pid: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    let mut fields = text.split_whitespace().map_while(|field| field.parse::<f64>().ok());
    let (ran, waited) = (fields.next()?, fields.next()?);
    (ran + waited > 0.0).then(|| waited / (ran + waited))
}

#[cfg(test)]
impl Crew {
    /// For a machine whose CPUs are all idle.
    pub(super) fn with_idle_cpus(most: usize) -> Self {
        let mut crew = Self::new(Jobs::UpTo(most));
        crew.idle_seconds = || Some(1e9);
        crew.last = Some((Instant::now(), 0.0));
        crew
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crew(idle_seconds: fn() -> Option<f64>, most: usize) -> (Crew, Instant) {
        let start = Instant::now();
        let last = idle_seconds().map(|_| (start, 0.0));
        (Crew { jobs: Jobs::UpTo(most), wanted: 1, last, waited: 0.0, idle_seconds }, start)
    }

    #[test]
    fn a_copy_is_added_for_each_idle_cpu() {
        let after = Duration::from_millis(100);
        for (idle, wanted) in [(0.0, 1), (0.03, 1), (0.05, 2), (0.13, 2), (0.15, 3), (9.0, 8)] {
            let (mut crew, start) = crew(|| Some(0.0), 8);
            crew.last = Some((start, -idle));
            assert_eq!(crew.may_run(1, start + after), wanted, "{idle} s of 0.1 s");
        }
    }

    #[test]
    fn a_copy_is_given_up_where_they_wait_for_cpus_most_of_the_time() {
        let (mut crew, _) = crew(|| Some(0.0), 8);
        crew.wanted = 3;
        (0..20).for_each(|_| crew.note_wait(0.45));
        assert_eq!(crew.wanted, 3);
        (0..2).for_each(|_| crew.note_wait(0.9));
        assert_eq!(crew.wanted, 2);
        (0..20).for_each(|_| crew.note_wait(0.9));
        assert_eq!(crew.wanted, 1);
        let mut fixed = Crew::new(Jobs::Exactly(4));
        (0..20).for_each(|_| fixed.note_wait(1.0));
        assert_eq!(fixed.wanted, 4);
    }

    #[test]
    fn nothing_is_added_at_once_or_from_stale_news_or_beyond_the_most() {
        let (mut idle, start) = crew(|| Some(1.0), 2);
        assert_eq!(idle.may_run(1, start + Duration::from_millis(1)), 1);
        assert_eq!(idle.may_run(1, start + Duration::from_secs(9)), 1);
        assert_eq!(idle.may_run(0, start + Duration::from_millis(100)), 1);
        let (mut unknown, start) = crew(|| None, 3);
        assert_eq!(unknown.may_run(1, start), 3);
        assert_eq!(Crew::new(Jobs::Exactly(5)).may_run(9, start), 5);
    }
}
