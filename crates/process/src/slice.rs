#![expect(unsafe_code, reason = "neither rustix nor nix has sched_setattr(2)")]
//! How soon a thread that wakes gets a CPU.

use std::io;
use std::time::Duration;

use libc::sched_attr;

/// `SCHED_FLAG_KEEP_POLICY` of linux/sched.h.
const KEEP_POLICY: u64 = 0x08;
/// As long as the structure of the first version, which every Linux with these calls accepts.
const SIZE: u32 = 48;

/// Lets the calling thread run at most `length` before others may, and in return lets it run sooner when it wakes on a
/// busy CPU. Linux takes 0.1 to 100 ms.
///
/// A thread that seldom wakes and runs briefly then hardly ever waits for a CPU; its share of the CPUs stays what it was.
/// Linux before 6.12 has one length for all threads and ignores the wish. Threads and processes that the calling thread
/// starts afterwards inherit it. A thread with a real-time or deadline policy keeps what it has.
///
/// # Errors
/// Linux's error from sched_getattr(2) or sched_setattr(2), such as EPERM where a filter forbids them; nothing has changed
/// then.
///
/// Source: sched_setattr(2); `Documentation/scheduler/sched-eevdf.rst` of Linux.
pub fn run_in_short_slices(length: Duration) -> io::Result<()> {
    let mut attributes = current()?;
    if ![libc::SCHED_OTHER, libc::SCHED_BATCH].contains(&attributes.sched_policy.cast_signed()) {
        return Ok(());
    }
    attributes.sched_flags |= KEEP_POLICY;
    attributes.sched_runtime = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    // SAFETY: Linux reads `size` bytes of the structure, and it is that large.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Lets the calling thread run only while nothing else wants its CPU (SCHED_IDLE), for good: without privileges Linux does
/// not give another policy back.
///
/// # Errors
/// Linux's error from sched_getattr(2) or sched_setattr(2), such as EPERM where a filter forbids them; nothing has changed
/// then.
///
/// Source: sched(7), "SCHED_IDLE".
pub fn run_only_when_idle() -> io::Result<()> {
    let mut attributes = current()?;
    attributes.sched_policy = libc::SCHED_IDLE.cast_unsigned();
    attributes.sched_runtime = 0;
    // SAFETY: Linux reads `size` bytes of the structure, and it is that large.
    let answer = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The policy of the calling thread with all that belongs to it.
fn current() -> io::Result<sched_attr> {
    let mut attributes = sched_attr {
        size: SIZE,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: Linux writes at most the size it is told, and the structure is that large.
    let answer = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) };
    if answer == 0 { Ok(attributes) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_structure_has_the_size_of_the_first_version() {
        assert_eq!(size_of::<sched_attr>(), SIZE as usize);
    }

    #[test]
    fn a_thread_that_runs_only_when_idle_says_so_and_others_do_not() {
        let of_it = std::thread::spawn(|| {
            run_only_when_idle().unwrap();
            current().unwrap().sched_policy
        });
        assert_eq!(of_it.join().unwrap(), libc::SCHED_IDLE.cast_unsigned());
        assert_ne!(current().unwrap().sched_policy, libc::SCHED_IDLE.cast_unsigned());
    }

    /// Linux 6.12 and later keep the length; a thread of its own, because it stays.
    #[test]
    fn a_short_slice_changes_the_length_and_nothing_else() {
        let (before, after) = std::thread::spawn(|| {
            // Nicer than usual, which a call that forgets to keep it would undo.
            rustix::process::nice(3).unwrap();
            let before = current().unwrap();
            run_in_short_slices(Duration::from_micros(200)).unwrap();
            (before, current().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!(after.sched_nice, before.sched_nice);
        assert_ne!(before.sched_nice, 0);
        assert_eq!(after.sched_policy, before.sched_policy);
        if before.sched_runtime == 0 {
            let why = "Linux before 6.12 has no slice of a thread's own";
            assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: {why}");
            eprintln!("skipped: {why}");
            return;
        }
        assert_eq!(after.sched_runtime, 200_000);
    }
}
