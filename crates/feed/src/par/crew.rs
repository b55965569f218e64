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

/// Over less time Linux's count of idle time (in hundredths of a second) says little.
const WORTH_A_LOOK: Duration = Duration::from_millis(20);

/// This share of a CPU must be idle for one more copy.
const IDLE_CPU: f64 = 0.4;

/// Decides how many copies may run.
#[derive(Debug)]
pub(super) struct Crew {
    jobs: Jobs,
    wanted: usize,
    last: Option<(Instant, f64)>,
    /// Tells how long all CPUs together have been idle, in seconds.
    idle_seconds: fn() -> Option<f64>,
}

impl Crew {
    pub(super) fn new(jobs: Jobs) -> Self {
        let wanted = match jobs {
            Jobs::UpTo(_) => 1,
            Jobs::Exactly(count) => count.max(1),
        };
        let mut crew = Self { jobs, wanted, last: None, idle_seconds };
        crew.look_again(Instant::now());
        crew
    }

    /// The largest number there may ever be.
    pub(super) fn most(&self) -> usize {
        match self.jobs {
            Jobs::UpTo(most) | Jobs::Exactly(most) => most.max(1),
        }
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
        if let Some(idle) = (self.idle_seconds)() {
            let cpus = (idle - idle_then) / passed.as_secs_f64();
            let more = (cpus + 1.0 - IDLE_CPU).max(0.0) as usize;
            self.wanted = (self.wanted + more).min(self.most());
        }
        self.look_again(now);
        self.wanted
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
