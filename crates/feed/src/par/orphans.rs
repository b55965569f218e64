//! Ends what the copies started when they are ended.

use std::collections::HashSet;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitOptions, child_subreaper, getpid, kill_process, set_child_subreaper, waitpid,
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
    _adopting: Adopting,
}

impl Orphans {
    /// As long as this lives, processes below this one whose parent ends become its children. Call it before the copies are told
    /// to end.
    pub(super) fn adopt(copies: impl IntoIterator<Item = u32>) -> Self {
        let adopting = Adopting::begin();
        let pids = copies.into_iter().filter_map(|id| Pid::from_raw(id.cast_signed()));
        let mut orphans =
            Self { copies: pids.collect(), seen: HashSet::new(), _adopting: adopting };
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
        let own = session(getpid());
        let mut told = HashSet::new();
        loop {
            self.look();
            let is_left = |pid: &Pid| self.seen.contains(pid) && session(*pid) == own;
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

/// As long as one of these lives, this process becomes the parent of any process below it whose own parent ends.
///
/// Source: prctl(2), PR_SET_CHILD_SUBREAPER.
#[derive(Debug)]
struct Adopting;

/// How many of them live, and whether this process adopted before the first.
static ADOPTING: Mutex<(usize, bool)> = Mutex::new((0, false));

impl Adopting {
    fn begin() -> Self {
        let mut state = ADOPTING.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 == 0 {
            state.1 = child_subreaper().is_ok_and(|set| set.is_some());
            // Without it, what the copies started stays behind.
            let _ = set_child_subreaper(Some(getpid()));
        }
        state.0 += 1;
        Self
    }
}

impl Drop for Adopting {
    fn drop(&mut self) {
        let mut state = ADOPTING.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 -= 1;
        if *state == (0, false) {
            let _ = set_child_subreaper(None);
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

/// The session of a process; `Some(0)` for one that began outside this container, which getsid(2) of rustix cannot say.
///
/// Source: proc_pid_stat(5), `session`.
fn session(of: Pid) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", of.as_raw_pid())).ok()?;
    // The name, in parentheses, may have spaces and parentheses in it; then state, parent and group.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_is_that_of_getsid_where_that_can_say_it() {
        let own = session(getpid()).unwrap();
        if own != 0 {
            assert_eq!(own, rustix::process::getsid(None).unwrap().as_raw_pid());
        }
        assert_eq!(session(Pid::from_raw(i32::MAX).unwrap()), None);
    }

    #[test]
    fn a_process_adopts_only_while_something_is_ended() {
        let adopts = || child_subreaper().unwrap().is_some();
        assert!(!adopts());
        let first = Orphans::adopt([]);
        let second = Orphans::adopt([]);
        assert!(adopts());
        drop(first);
        assert!(adopts());
        second.end(Signal::TERM, Duration::ZERO);
        assert!(!adopts());
    }
}
