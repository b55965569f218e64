#![expect(unsafe_code, reason = "rustix has no safe form of ioctl(PIDFD_GET_INFO)")]
//! Refers to a process by a handle that stays correct when Linux reuses the process's number, and reads its exit status
//! after the fact.

use std::os::fd::{AsFd, OwnedFd};

use rustix::ioctl::{Opcode, Updater, opcode};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// A file descriptor that refers to a process.
#[derive(Debug)]
pub struct Pidfd(OwnedFd);

/// `struct pidfd_info` of linux/pidfd.h in its first version: 64 bytes, which every later Linux accepts.
#[repr(C)]
#[derive(Default)]
struct Info {
    mask: u64,
    cgroup: u64,
    ids: [u32; 11],
    exit_code: i32,
}

const GET_INFO: Opcode = opcode::read_write::<Info>(0xFF, 11);
const MASK_EXIT: u64 = 1 << 3;

impl Pidfd {
    /// Opens a handle to a process; returns `None` when it is gone or Linux is too old (before 5.3).
    #[must_use]
    pub fn open(pid: i32) -> Option<Self> {
        let pid = Pid::from_raw(pid)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(Self)
    }

    /// Returns the exit status as wait(2) encodes it; `None` while the process lives or waits to be reaped, and on
    /// Linux before 6.15.
    ///
    /// Unlike wait(2), this works for any process, and leaves the status for the parent.
    ///
    /// Source: linux/pidfd.h, PIDFD_INFO_EXIT.
    #[must_use]
    pub fn wait_status(&self) -> Option<i32> {
        let mut info = Info { mask: MASK_EXIT, ..Info::default() };
        // SAFETY: GET_INFO is the opcode for exactly this structure (its size is part of the opcode).
        let request = unsafe { Updater::<GET_INFO, Info>::new(&mut info) };
        // SAFETY: Linux writes at most the size named in the opcode, and `info` is that large.
        unsafe { rustix::ioctl::ioctl(self.0.as_fd(), request) }.ok()?;
        (info.mask & MASK_EXIT != 0).then_some(info.exit_code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Tells whether this is Linux 6.15 or later.
    fn tells_statuses() -> bool {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let numbers: Vec<u32> =
            release.split(['.', '-']).map_while(|number| number.parse().ok()).take(2).collect();
        numbers >= vec![6, 15]
    }

    #[test]
    fn the_structure_has_the_size_linux_knows() {
        assert_eq!(size_of::<Info>(), 64);
    }

    #[test]
    fn a_live_process_has_no_status_and_a_reaped_one_has_its_own() {
        let mut child = Command::new("sh")
            .args(["-c", "read line; exit 7"])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let hold = Pidfd::open(child.id().cast_signed()).unwrap();
        assert_eq!(hold.wait_status(), None);
        drop(child.stdin.take());
        child.wait().unwrap();
        let expected = tells_statuses().then_some(0x0700);
        assert_eq!(hold.wait_status(), expected, "before Linux 6.15 it is unknown, never wrong");
    }
}
