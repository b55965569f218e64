//! Reads and writes through io_uring, one operation at a time.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use io_uring::{IoUring, opcode, squeue, types};

/// An io_uring instance for pipes, sockets and other streams. On a file it would always read the beginning.
pub struct Uring {
    ring: IoUring,
    /// Set when Linux did not take an entry: the next call would submit it, so there must be none.
    is_spent: bool,
}

impl Uring {
    /// Creates an instance for one operation at a time.
    ///
    /// # Errors
    /// ENOSYS: Linux has none; EPERM: `kernel.io_uring_disabled` or a filter forbids it; ENOMEM: above
    /// `RLIMIT_MEMLOCK`.
    ///
    /// Source: io_uring_setup(2).
    pub fn new() -> io::Result<Self> {
        Ok(Self { ring: IoUring::new(2)?, is_spent: false })
    }

    /// Reads like read(2): waits until there is input and returns how many bytes it read, 0 at the end.
    ///
    /// # Errors
    /// Linux's error from read(2), or from io_uring_enter(2), after which the instance is unusable.
    ///
    /// Source: io_uring_enter(2), `IORING_OP_READ`.
    pub fn read(&mut self, from: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
        let from = types::Fd(from.as_fd().as_raw_fd());
        let entry = opcode::Read::new(from, bytes.as_mut_ptr(), len(bytes)).build();
        // SAFETY: the bytes stay borrowed mutably until the call returns, and the entry gives their length.
        unsafe { self.complete(&entry) }
    }

    /// Writes like write(2): waits until some of the bytes fit and returns how many it wrote.
    ///
    /// # Errors
    /// As [`read`](Self::read); EPIPE when the reader left.
    ///
    /// Source: io_uring_enter(2), `IORING_OP_WRITE`.
    pub fn write(&mut self, to: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        let to = types::Fd(to.as_fd().as_raw_fd());
        let entry = opcode::Write::new(to, bytes.as_ptr(), len(bytes)).build();
        // SAFETY: the bytes stay borrowed until the call returns, and the entry gives their length.
        unsafe { self.complete(&entry) }
    }

    /// Submits one operation and waits for its result. Returns only when Linux has finished with the operation's
    /// memory, or never had it.
    ///
    /// # Safety
    /// The memory that the entry names must be valid for it until this returns.
    unsafe fn complete(&mut self, entry: &squeue::Entry) -> io::Result<usize> {
        if self.is_spent {
            return Err(io::Error::other("a ring of io_uring that has failed"));
        }
        // SAFETY: the memory is valid as long as Linux may use it: see the three ways out of the loop.
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)?;
        loop {
            let waited = self.ring.submit_and_wait(1);
            // This is the result of the entry, because no other is ever in progress.
            if let Some(done) = self.ring.completion().next() {
                let result = done.result();
                return usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
            }
            match waited {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if !self.ring.submission().is_empty() => {
                    // Linux did not take the entry, and no later call will offer it.
                    self.is_spent = true;
                    return Err(error);
                }
                // Linux took the entry and only the waiting failed (no known kernel does that). The memory cannot be
                // returned before the operation completes; any call lets Linux continue with it.
                Err(_) => std::thread::yield_now(),
            }
        }
    }
}

/// Returns the length, limited to what one operation can handle.
fn len(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

impl fmt::Debug for Uring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Uring").field("is_spent", &self.is_spent).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;

    #[test]
    fn an_entry_that_linux_did_not_take_is_never_taken_later() {
        // A disabled ring takes no entries.
        let Ok(off) = IoUring::builder().setup_r_disabled().build(2) else {
            return crate::skip::skipped("no io_uring here, or before Linux 5.10");
        };
        let mut ring = Uring { ring: off, is_spent: false };
        let (out, into) = io::pipe().unwrap();
        rustix::io::write(&into, b"bytes").unwrap();
        let mut first = [0; 5];
        let error = ring.read(&out, &mut first).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::BADFD));
        ring.ring.submitter().register_enable_rings().unwrap();
        let mut second = [0; 5];
        assert!(ring.read(&out, &mut second).is_err());
        assert_eq!((first, second), ([0; 5], [0; 5]), "memory that was given back was written to");
        assert_eq!(fullbore_pipe::fill(&out).unwrap().0, 5, "the bytes are still there");
    }
}
