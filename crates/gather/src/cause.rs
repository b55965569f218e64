//! Where the time of a job went.

use fullbore_record::Cause as Blocked;
use serde::{Deserialize, Serialize};

use crate::run::{Run, Stage};

/// What the stage that a job waited for did with a part of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// On a CPU.
    Running,
    /// Waiting for a CPU.
    Cpu,
    /// Waiting for a disk.
    Disk,
    /// Waiting for a network.
    Network,
    /// Waiting for another stage: for data in a pipe or for room in it.
    Stages,
    /// Waiting for something else: a lock, a child process, a terminal, the end of a sleep.
    Other,
    /// Not seen: the stage did not live then, or its shares are unknown.
    Unseen,
}

impl Cause {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Cpu,
        Self::Disk,
        Self::Network,
        Self::Stages,
        Self::Other,
        Self::Unseen,
    ];
}

/// Time by cause, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Causes {
    /// On a CPU.
    pub running_ns: u64,
    /// Waiting for a CPU.
    pub cpu_ns: u64,
    /// Waiting for a disk.
    pub disk_ns: u64,
    /// Waiting for a network.
    pub network_ns: u64,
    /// Waiting for another stage.
    pub stages_ns: u64,
    /// Waiting for something else.
    pub other_ns: u64,
    /// Not seen.
    pub unseen_ns: u64,
}

impl Causes {
    /// The time that went to one cause, in nanoseconds.
    #[must_use]
    pub fn get(&self, cause: Cause) -> u64 {
        match cause {
            Cause::Running => self.running_ns,
            Cause::Cpu => self.cpu_ns,
            Cause::Disk => self.disk_ns,
            Cause::Network => self.network_ns,
            Cause::Stages => self.stages_ns,
            Cause::Other => self.other_ns,
            Cause::Unseen => self.unseen_ns,
        }
    }

    fn at(&mut self, cause: Cause) -> &mut u64 {
        match cause {
            Cause::Running => &mut self.running_ns,
            Cause::Cpu => &mut self.cpu_ns,
            Cause::Disk => &mut self.disk_ns,
            Cause::Network => &mut self.network_ns,
            Cause::Stages => &mut self.stages_ns,
            Cause::Other => &mut self.other_ns,
            Cause::Unseen => &mut self.unseen_ns,
        }
    }

    /// All of it, in nanoseconds.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        Cause::ALL.iter().fold(0, |sum, cause| sum.saturating_add(self.get(*cause)))
    }

    /// The share of one cause in all of it, in percent; 0 when there is no time.
    #[must_use]
    pub fn percent(&self, cause: Cause) -> f64 {
        let total = self.total_ns();
        if total == 0 { 0.0 } else { self.get(cause) as f64 / total as f64 * 100.0 }
    }

    /// The cause that most of what was seen went to.
    #[must_use]
    pub fn main(&self) -> Cause {
        let mut main = Cause::Unseen;
        for cause in Cause::ALL {
            let is_seen = cause != Cause::Unseen;
            if is_seen
                && (main == Cause::Unseen || self.get(cause) > self.get(main))
                && self.get(cause) > 0
            {
                main = cause;
            }
        }
        main
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for cause in Cause::ALL {
            let sum = self.get(cause).saturating_add(other.get(cause));
            *self.at(cause) = sum;
        }
    }

    /// The time of one of `count` equal parts.
    pub(crate) fn divided(mut self, count: u64) -> Self {
        for cause in Cause::ALL {
            *self.at(cause) /= count.max(1);
        }
        self
    }

    /// Where the time of a job went: what the stage did that the job waited for.
    pub(crate) fn of(run: &Run) -> Self {
        let elapsed_ns = run.elapsed_ns.unwrap_or(0);
        let Some(stage) = limiting(run) else {
            return Self { unseen_ns: elapsed_ns, ..Self::default() };
        };
        let mut causes = Self::default();
        let mut left = elapsed_ns;
        let life_ns = stage.life_ns.min(elapsed_ns) as f64;
        for (cause, percent) in shares(stage) {
            let part = part_of(life_ns, percent).min(left);
            left -= part;
            *causes.at(cause) += part;
        }
        causes.unseen_ns += left;
        causes
    }
}

/// The stage that the job waited for: that of the verdict, or the one that waited least for others.
pub(crate) fn limiting(run: &Run) -> Option<&Stage> {
    let named = run.findings.first().and_then(|verdict| verdict.stage);
    let of_verdict = run.stages.iter().find(|stage| named == Some(stage.stage));
    of_verdict.or_else(|| run.stages.iter().max_by_key(|stage| own_ns(stage)))
}

/// The time in which a stage did not wait for other stages, in nanoseconds.
pub(crate) fn own_ns(stage: &Stage) -> u64 {
    let waited = stage.reading_percent.unwrap_or(0.0) + stage.writing_percent.unwrap_or(0.0);
    part_of(stage.life_ns as f64, 100.0 - waited)
}

/// Time of a stage by cause, without what it waited for other stages.
pub(crate) fn own_causes(stage: &Stage) -> Causes {
    let mut causes = Causes::default();
    for (cause, percent) in shares(stage).into_iter().filter(|(cause, _)| *cause != Cause::Stages) {
        *causes.at(cause) += part_of(stage.life_ns as f64, percent);
    }
    causes
}

#[expect(clippy::cast_possible_truncation, reason = "nanoseconds are whole, and a cast saturates")]
fn part_of(whole_ns: f64, percent: f64) -> u64 {
    if percent.is_finite() {
        (whole_ns * percent.clamp(0.0, 100.0) / 100.0).round() as u64
    } else {
        0
    }
}

/// The shares of a stage in percent of its life, by cause.
fn shares(stage: &Stage) -> Vec<(Cause, f64)> {
    let mut shares = vec![
        (Cause::Running, stage.running_percent.unwrap_or(0.0)),
        (Cause::Cpu, stage.runnable_percent.unwrap_or(0.0)),
        (Cause::Stages, stage.reading_percent.unwrap_or(0.0)),
        (Cause::Stages, stage.writing_percent.unwrap_or(0.0)),
    ];
    let mut explained = 0.0;
    for (blocked, percent) in &stage.other_causes {
        let cause = match blocked {
            Blocked::Disk => Cause::Disk,
            Blocked::Network => Cause::Network,
            Blocked::Unknown => Cause::Unseen,
            _ => Cause::Other,
        };
        explained += percent;
        shares.push((cause, *percent));
    }
    let rest = stage.other_percent.unwrap_or(0.0) - explained;
    if rest > 0.0 {
        shares.push((Cause::Unseen, rest));
    }
    shares
}
