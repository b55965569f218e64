//! Settings that all code of this process shares.

use std::io;
use std::num::NonZeroU64;

use rustix::process::{Pid, Resource, getrlimit, set_child_subreaper, setrlimit};
use rustix::thread::set_current_timer_slack;

/// Makes this process, instead of init, the parent of every descendant whose own parent ends.
///
/// The setting lasts until the process ends; children do not inherit it. From then on the process must wait for
/// children that it did not start, or they stay zombies.
///
/// # Errors
/// EPERM where a filter forbids prctl(2); nothing has changed then.
///
/// Source: prctl(2), `PR_SET_CHILD_SUBREAPER`.
pub fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Pid::from_raw(1))?)
}

/// Raises the number of files this process may have open to `wanted`, or as near as its hard limit allows; `None` asks
/// for the hard limit. A limit that is already as high stays.
///
/// Children started afterwards inherit the new limit. A program that starts others for its user should therefore raise
/// it after that: select(2) fails on descriptors from 1024 up.
///
/// # Errors
/// Linux's error from setrlimit(2), such as EPERM where a filter forbids it; the old limit stays then.
///
/// Source: setrlimit(2), `RLIMIT_NOFILE`.
pub fn raise_file_limit(wanted: Option<u64>) -> io::Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    // No number means no limit.
    let reachable = match (wanted, limit.maximum) {
        (Some(wanted), Some(hard)) => Some(wanted.min(hard)),
        (Some(wanted), None) => Some(wanted),
        (None, hard) => hard,
    };
    let is_enough = match (limit.current, reachable) {
        (None, _) => true,
        (Some(current), Some(reachable)) => current >= reachable,
        (Some(_), None) => false,
    };
    if is_enough {
        return Ok(());
    }
    limit.current = reachable;
    Ok(setrlimit(Resource::Nofile, limit)?)
}

/// Makes the calling thread's timers expire within 1 ns instead of the usual 50 µs.
///
/// With the usual slack Linux lets timers expire together, so a thread that samples others would wake exactly when they
/// do. Threads and processes that the calling thread starts afterwards inherit the setting.
///
/// # Errors
/// Linux's error from prctl(2), such as EPERM where a filter forbids it; the old slack stays then.
///
/// Source: prctl(2), `PR_SET_TIMERSLACK`.
pub fn wake_on_time() -> io::Result<()> {
    Ok(set_current_timer_slack(NonZeroU64::new(1))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_limit_rises_no_further_than_wanted_and_never_falls() {
        let soft = || getrlimit(Resource::Nofile).current;
        let hard = getrlimit(Resource::Nofile).maximum;
        let before = soft().unwrap();
        raise_file_limit(Some(before - 1)).unwrap();
        assert_eq!(soft(), Some(before));
        raise_file_limit(Some(before + 1)).unwrap();
        let one_more = before + 1;
        assert_eq!(soft(), Some(hard.map_or(one_more, |hard| hard.min(one_more))));
        raise_file_limit(None).unwrap();
        assert_eq!(soft(), hard);
    }

    #[test]
    fn a_thread_that_wakes_on_time_has_a_slack_of_one_nanosecond() {
        std::thread::spawn(|| {
            wake_on_time().unwrap();
            let slack = std::fs::read_to_string("/proc/thread-self/timerslack_ns");
            // Some kernels hide this file of a thread from its own process.
            let slack = slack
                .unwrap_or_else(|_| rustix::thread::current_timer_slack().unwrap().to_string());
            assert_eq!(slack.trim(), "1");
        })
        .join()
        .unwrap();
    }
}
