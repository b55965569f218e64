//! How often the threads of a process went to sleep and were woken again.

use crate::sample::{LeftCpu, ProcessLook};

/// What is known of it for one process, or summed up for a stage.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wakes {
    /// How often its threads got a CPU.
    pub(crate) slices: u64,
    /// How many of these times they had waited for something before, rather than lost their CPU to another thread.
    pub(crate) wake_ups: f64,
}

impl Wakes {
    /// What a sample adds to a process. Every thread counts how often it got a CPU, which is read at every sample; why the
    /// first thread left its CPU is read rarely, and its ratio stands for all threads.
    pub(crate) fn of(seen: &ProcessLook, left_cpu: Option<LeftCpu>) -> Self {
        let slices: u64 = seen.tasks.iter().map(|task| task.slices).sum();
        let share = match left_cpu {
            Some(LeftCpu { to_wait, to_another }) if to_wait + to_another > 0 => {
                to_wait as f64 / (to_wait + to_another) as f64
            }
            _ => 1.0,
        };
        Self { slices, wake_ups: slices as f64 * share }
    }

    pub(crate) fn add(&mut self, more: Self) {
        self.slices += more.slices;
        self.wake_ups += more.wake_ups;
    }

    /// A process went to another stage, with all it had counted.
    pub(crate) fn leave(&mut self, of_process: Self) {
        self.slices = self.slices.saturating_sub(of_process.slices);
        self.wake_ups = (self.wake_ups - of_process.wake_ups).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Doing, TaskLook};

    #[test]
    fn a_thread_that_lost_its_cpu_was_not_woken() {
        let task = |slices| TaskLook {
            tid: 1,
            running_ns: 0,
            waiting_ns: 0,
            slices,
            doing: Doing::Running,
        };
        let seen = ProcessLook { tasks: vec![task(30), task(10)], ..ProcessLook::default() };
        let left = Some(LeftCpu { to_wait: 75, to_another: 25 });
        let wakes = Wakes::of(&seen, left);
        assert_eq!((wakes.slices, wakes.wake_ups), (40, 30.0));
        assert_eq!(Wakes::of(&seen, None).wake_ups, 40.0, "nothing is known of the reasons");
    }
}
