//! How much of a CPU a process has had: whoever has had none since has done nothing since.

use fullbore_proc::Root;

/// CPU time of a process, as precisely as it can be read cheaply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Of the first thread, in nanoseconds.
    first_thread_ns: u64,
    /// Of all threads, in clock ticks; 0 for one that has a single thread.
    ticks: u64,
    has_threads: bool,
}

impl Mark {
    /// Reads it; `before` is what was read last, which tells whether there are threads to ask for: a process that has done
    /// nothing has not begun any.
    pub(super) fn read(root: &Root, pid: i32, before: Option<Self>) -> Option<Self> {
        let first_thread_ns = root.schedstat(pid, pid).map_or(0, |times| times.running_ns);
        let is_same = |one: &Self| !one.has_threads && one.first_thread_ns == first_thread_ns;
        if let Some(before) = before.filter(is_same).filter(|_| first_thread_ns > 0) {
            return Some(before);
        }
        let stat = root.stat(pid)?;
        let has_threads = stat.threads > 1;
        let ticks = if has_threads || first_thread_ns == 0 { stat.cpu_ticks } else { 0 };
        Some(Self { first_thread_ns, ticks, has_threads })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn work() {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(30) {}
    }

    #[test]
    fn who_works_has_another_mark_and_who_sleeps_has_not() {
        let root = Root::system();
        let own = std::process::id().cast_signed();
        let before = Mark::read(&root, own, None).expect("this process lives");
        assert!(before.has_threads, "a test runs in a thread of its own");
        work();
        assert_ne!(Mark::read(&root, own, Some(before)), Some(before));

        let mut sleep = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = sleep.id().cast_signed();
        // It sleeps as soon as it waits for its timer.
        while root.stat(pid).is_none_or(|stat| stat.state != fullbore_proc::State::Sleeping) {
            std::thread::yield_now();
        }
        let mut last = Mark::read(&root, pid, None);
        while Mark::read(&root, pid, last) != last {
            last = Mark::read(&root, pid, last);
        }
        assert!(last.is_some_and(|mark| !mark.has_threads));
        sleep.kill().unwrap();
        sleep.wait().unwrap();
        assert_eq!(Mark::read(&root, pid, last), None, "it has ended");
    }
}
