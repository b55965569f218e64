//! Ends what the copies started when they are ended.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, getsid, kill_process, set_child_subreaper, waitpid,
};

/// Between two looks at what is left.
const PAUSE: Duration = Duration::from_millis(5);

/// After SIGKILL, so long is waited for the end.
const LAST: Duration = Duration::from_secs(1);

/// Takes over the processes that copies started and do not end themselves.
///
/// Only what was seen below a copy is ended: this process may have children that are none of this job's business. What a
/// copy starts between the last look and its own end stays, as it would in a shell.
#[derive(Debug)]
pub(super) struct Orphans {
    copies: Vec<Pid>,
    /// Everything that was seen below them.
    seen: HashSet<Pid>,
}

impl Orphans {
    /// From now on, whoever loses its parent becomes a child of this process. Call it before the copies are told to end.
    ///
    /// Source: prctl(2), PR_SET_CHILD_SUBREAPER.
    pub(super) fn adopt(copies: impl IntoIterator<Item = u32>) -> Self {
        // Without it, what the copies started stays behind.
        let _ = set_child_subreaper(Some(getpid()));
        let pids = copies.into_iter().filter_map(|id| Pid::from_raw(id.cast_signed()));
        let mut orphans = Self { copies: pids.collect(), seen: HashSet::new() };
        orphans.look();
        orphans
    }

    /// Looks at what the copies, and what they started, have started since.
    pub(super) fn look(&mut self) {
        let mut next: Vec<Pid> = self.copies.iter().chain(&self.seen).copied().collect();
        while let Some(parent) = next.pop() {
            next.extend(children(parent).into_iter().filter(|child| self.seen.insert(*child)));
        }
    }

    /// Ends them once the copies are gone: with a signal, and with SIGKILL those that are still there after `grace`. Those in
    /// another session (daemons) stay.
    pub(super) fn end(mut self, signal: Signal, grace: Duration) {
        // Their numbers may be given to others now.
        self.copies.clear();
        let deadline = Instant::now() + grace;
        let session = getsid(None);
        let mut told = HashSet::new();
        loop {
            self.look();
            let is_left = |pid: &Pid| self.seen.contains(pid) && getsid(Some(*pid)) == session;
            let left: Vec<Pid> = children(getpid()).into_iter().filter(is_left).collect();
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
                if matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(Some(_))) {
                    self.seen.remove(&pid);
                }
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// The children of a process; none where Linux does not list them.
///
/// Source: proc_pid_task(5), `children`.
fn children(of: Pid) -> HashSet<Pid> {
    let threads =
        fs::read_dir(format!("/proc/{}/task", of.as_raw_pid())).into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let pids = |list: String| -> Vec<Pid> {
        let numbers = list.split_whitespace().filter_map(|word| word.parse().ok());
        numbers.filter_map(Pid::from_raw).collect()
    };
    lists.flat_map(pids).collect()
}
