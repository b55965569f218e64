//! Reading and writing through io_uring, one operation at a time.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use io_uring::{IoUring, opcode, squeue, types};

/// A ring of this process. For pipes, sockets and other streams; of a file it would always read the beginning.
pub struct Uring {
    ring: IoUring,
    /// An entry was not taken, and would be with the next call: there is none.
    is_spent: bool,
}

impl Uring {
    /// A ring for one operation at a time.
    ///
    /// # Errors
    /// ENOSYS: Linux has none; EPERM: `kernel.io_uring_disabled` or a filter forbids it; ENOMEM: above `RLIMIT_MEMLOCK`.
    ///
    /// Source: io_uring_setup(2).
    pub fn new() -> io::Result<Self> {
        Ok(Self { ring: IoUring::new(2)?, is_spent: false })
    }

    /// read(2): waits until there is something; returns how many bytes, 0 at the end.
    ///
    /// # Errors
    /// What read(2) says, or io_uring_enter(2): the ring is of no use then.
    ///
    /// Source: io_uring_enter(2), `IORING_OP_READ`.
    pub fn read(&mut self, from: impl AsFd, bytes: &mut [u8]) -> io::Result<usize> {
        let from = types::Fd(from.as_fd().as_raw_fd());
        let entry = opcode::Read::new(from, bytes.as_mut_ptr(), len(bytes)).build();
        // SAFETY: the bytes are borrowed mutably until the call returns, and as many as the entry says.
        unsafe { self.complete(&entry) }
    }

    /// write(2): waits until there is room for some of the bytes; returns for how many.
    ///
    /// # Errors
    /// As [`read`](Self::read); EPIPE when the reader left.
    ///
    /// Source: io_uring_enter(2), `IORING_OP_WRITE`.
    pub fn write(&mut self, to: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
        let to = types::Fd(to.as_fd().as_raw_fd());
        let entry = opcode::Write::new(to, bytes.as_ptr(), len(bytes)).build();
        // SAFETY: the bytes are borrowed until the call returns, and as many as the entry says.
        unsafe { self.complete(&entry) }
    }

    /// Submits one operation and waits for its result: returns only when Linux has done with its memory, or never had it.
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
            // It is the result of this entry: no other is ever on the way.
            if let Some(done) = self.ring.completion().next() {
                let result = done.result();
                return usize::try_from(result).map_err(|_| io::Error::from_raw_os_error(-result));
            }
            match waited {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if !self.ring.submission().is_empty() => {
                    // Linux did not take the entry, and is never asked again.
                    self.is_spent = true;
                    return Err(error);
                }
                // It was taken, and only the waiting failed (no known kernel does that): the memory cannot be given back
                // before the operation is complete. Any call lets Linux go on with it.
                Err(_) => std::thread::yield_now(),
            }
        }
    }
}

/// As much as one operation can be asked for.
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
        // A ring that is switched off takes none.
        let Ok(off) = IoUring::builder().setup_r_disabled().build(2) else {
            eprintln!("skipped: no io_uring here, or before Linux 5.10");
            return;
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
        assert_eq!(crate::fill(&out).unwrap().0, 5, "the bytes are still there");
    }
}
