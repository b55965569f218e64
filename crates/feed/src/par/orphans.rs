//! Ends what the copies started when they are ended.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getsid, kill_process, set_child_subreaper, waitpid,
};

/// Between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(5);

/// After SIGKILL, so long is waited for the end.
const LAST: Duration = Duration::from_secs(1);

/// Takes over the children of processes that end from now on.
#[derive(Debug)]
pub(super) struct Orphans {
    /// Processes that are no orphans.
    others: HashSet<Pid>,
}

impl Orphans {
    /// From now on, whoever loses its parent becomes a child of this process.
    ///
    /// Source: prctl(2), PR_SET_CHILD_SUBREAPER.
    pub(super) fn adopt() -> Self {
        let others = children();
        // Without it, what the copies started stays behind.
        let _ = set_child_subreaper(Some(getpid()));
        Self { others }
    }

    /// Ends them: with a signal, and with SIGKILL those that are still there after `grace`. Those in another session
    /// (daemons) stay.
    pub(super) fn end(self, signal: Signal, grace: Duration) {
        let deadline = Instant::now() + grace;
        let session = getsid(None);
        let mut told = HashSet::new();
        loop {
            let is_ours = |pid: &Pid| !self.others.contains(pid) && getsid(Some(*pid)) == session;
            let left: Vec<Pid> = children().into_iter().filter(is_ours).collect();
            if left.is_empty() {
                return;
            }
            let late = Instant::now().checked_duration_since(deadline);
            let is_late = late.is_some();
            // Those of another user (sudo) do not listen.
            if late.is_some_and(|late| late >= LAST) {
                return;
            }
            for pid in left {
                // It may end at this moment; then the next look does not find it.
                if is_late || told.insert(pid) {
                    let _ = kill_process(pid, if is_late { Signal::KILL } else { signal });
                }
                let _ = waitpid(Some(pid), WaitOptions::NOHANG);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// The children of this process; none where Linux does not list them.
///
/// Source: proc_pid_task(5), `children`.
fn children() -> HashSet<Pid> {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    let pids = |list: String| -> Vec<Pid> {
        let numbers = list.split_whitespace().filter_map(|word| word.parse().ok());
        numbers.filter_map(Pid::from_raw).collect()
    };
    lists.flat_map(pids).collect()
}
