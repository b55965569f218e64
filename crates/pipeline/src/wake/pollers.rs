//! Threads that keep idle CPUs awake.

use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use fullbore_process::run_only_when_idle;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// A poller lets its CPU fall idle this often, for as short a time as Linux knows: only a CPU that becomes idle takes over
/// a thread that waits for another CPU.
const AWAKE: Duration = Duration::from_millis(1);
const DOZE: Duration = Duration::from_nanos(1);
/// A poller looks at its order and at the clock after so many turns of its loop.
const TURNS: u32 = 64;

/// One thread for each CPU, which runs only while nothing else wants that CPU. They end when this is dropped: each within a
/// fraction of a millisecond, once its CPU has nothing else to do.
#[derive(Debug)]
pub(crate) struct Pollers {
    order: Arc<AtomicBool>,
    cpu_ns: Vec<Arc<AtomicU64>>,
}

impl Pollers {
    /// Keeps these CPUs awake. Where Linux refuses a thread, or that it gives way to everything else, that CPU may sleep.
    pub(crate) fn start(cpus: &[usize]) -> Self {
        let order = Arc::new(AtomicBool::new(true));
        let mut counts = Vec::new();
        for &cpu in cpus {
            let (order, count) = (Arc::clone(&order), Arc::new(AtomicU64::new(0)));
            counts.push(Arc::clone(&count));
            let name = format!("awake/{cpu}");
            let _ = Builder::new().name(name).spawn(move || keep_awake(cpu, &order, &count));
        }
        Self { order, cpu_ns: counts }
    }

    /// CPU time used so far.
    pub(crate) fn cpu_ns(&self) -> u64 {
        self.cpu_ns.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }
}

impl Drop for Pollers {
    /// Waits for none of them: one whose CPU is busy now ends when it gets it again, and does nothing until then.
    fn drop(&mut self) {
        self.order.store(false, Ordering::Relaxed);
    }
}

fn keep_awake(cpu: usize, order: &AtomicBool, cpu_ns: &AtomicU64) {
    if pin_to(cpu).is_err() || run_only_when_idle().is_err() {
        return;
    }
    while order.load(Ordering::Relaxed) {
        let begin = Instant::now();
        while order.load(Ordering::Relaxed) && begin.elapsed() < AWAKE {
            (0..TURNS).for_each(|_| spin_loop());
        }
        let used = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
        cpu_ns.store(u64::try_from(used.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        sleep(DOZE);
    }
}

/// Lets the calling thread run on this CPU only.
pub(crate) fn pin_to(cpu: usize) -> rustix::io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::sched_getcpu;

    fn threads_named(begin: &str) -> usize {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
        let names = tasks.filter_map(|task| std::fs::read_to_string(task.join("comm")).ok());
        names.filter(|name| name.starts_with(begin)).count()
    }

    fn wait_until(is_so: impl Fn() -> bool, what: &str) {
        let begin = Instant::now();
        while !is_so() {
            assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
            std::thread::yield_now();
        }
    }

    #[test]
    fn pollers_use_cpu_time_until_they_are_dropped() {
        let pollers = Pollers::start(&[sched_getcpu()]);
        wait_until(|| pollers.cpu_ns() > 0, "no poller ran");
        assert_eq!(threads_named("awake/"), 1);
        drop(pollers);
        wait_until(|| threads_named("awake/") == 0, "a poller goes on");
    }
}
