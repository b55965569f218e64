//! What the children of this process have used.

use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// Returns the CPU time, in user mode and in the kernel, of all children this process has waited for, and of the descendants
/// they had waited for; `None` when Linux does not tell.
///
/// Source: getrusage(2), RUSAGE_CHILDREN; to a microsecond.
#[must_use]
pub fn children_cpu_time() -> Option<Duration> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
    Some(duration(usage.user_time())? + duration(usage.system_time())?)
}

fn duration(time: TimeVal) -> Option<Duration> {
    let seconds = u64::try_from(time.tv_sec()).ok()?;
    let microseconds = u64::try_from(time.tv_usec()).ok()?;
    Some(Duration::from_secs(seconds) + Duration::from_micros(microseconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_grandchildren_used_is_there_once_their_parents_were_waited_for() {
        let before = children_cpu_time().unwrap();
        let busy = "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'; true";
        assert!(Command::new("sh").args(["-c", busy]).status().unwrap().success());
        let used = children_cpu_time().unwrap().checked_sub(before).unwrap();
        assert!((1..30_000).contains(&used.as_millis()), "{used:?}");
    }
}
