//! A pipe read and written through io_uring, one operation at a time.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{IoUring, opcode, squeue, types};

use super::super::peers::failed;
use super::channel::Channel;
use crate::EngineError;

/// A ring of this process and both ends it works on.
pub(super) struct Uring {
    ring: IoUring,
    input: OwnedFd,
    output: OwnedFd,
}

impl Uring {
    /// Over two pipes.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] when Linux has no io_uring, or does not allow it.
    ///
    /// Source: io_uring_setup(2).
    pub(super) fn open(input: OwnedFd, output: OwnedFd) -> Result<Self, EngineError> {
        let ring = IoUring::new(2).map_err(|error| unavailable(&error))?;
        Ok(Self { ring, input, output })
    }

    /// Submits one operation and waits for its result. Not to be used again after an error.
    ///
    /// # Safety
    /// The memory that the entry names must be valid for it until this returns.
    unsafe fn complete(&mut self, entry: &squeue::Entry) -> io::Result<usize> {
        // SAFETY: the entry's memory is valid until the operation is complete, which is waited for below; a call that
        // fails has submitted nothing (io_uring_enter(2) returns the number of those it took, if any).
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)?;
        loop {
            match self.ring.submit_and_wait(1) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(_) => {
                    if let Some(done) = self.ring.completion().next() {
                        let result = done.result();
                        return usize::try_from(result)
                            .map_err(|_| io::Error::from_raw_os_error(-result));
                    }
                }
            }
        }
    }
}

fn unavailable(error: &io::Error) -> EngineError {
    let (what, remedy) = match error.kind() {
        io::ErrorKind::PermissionDenied => (
            "io_uring is not allowed",
            "sysctl kernel.io_uring_disabled=0, or a container that allows it",
        ),
        io::ErrorKind::Unsupported => ("io_uring", "a kernel with CONFIG_IO_URING"),
        io::ErrorKind::OutOfMemory => ("locked memory for io_uring", "ulimit -l unlimited"),
        _ => return failed("io_uring", error),
    };
    EngineError::Unavailable { what: what.to_owned(), remedy: remedy.to_owned() }
}

impl Channel for Uring {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let output = types::Fd(self.output.as_raw_fd());
        let mut rest = message;
        while !rest.is_empty() {
            let len = u32::try_from(rest.len()).map_err(io::Error::other)?;
            let entry = opcode::Write::new(output, rest.as_ptr(), len).build();
            // SAFETY: `rest` is borrowed and readable until the call returns.
            let count = unsafe { self.complete(&entry) }?;
            rest = &rest[count..];
        }
        Ok(())
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        let input = types::Fd(self.input.as_raw_fd());
        let mut filled = 0;
        while filled < message.len() {
            let rest = &mut message[filled..];
            let len = u32::try_from(rest.len()).map_err(io::Error::other)?;
            let entry = opcode::Read::new(input, rest.as_mut_ptr(), len).build();
            // SAFETY: `rest` is borrowed mutably until the call returns.
            match unsafe { self.complete(&entry) }? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => filled += count,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_without_or_with_a_forbidden_io_uring_is_unavailable() {
        for errno in [rustix::io::Errno::PERM, rustix::io::Errno::NOSYS] {
            let error = unavailable(&errno.into());
            assert!(matches!(error, EngineError::Unavailable { .. }), "{error}");
        }
        let error = unavailable(&rustix::io::Errno::INVAL.into());
        assert!(matches!(error, EngineError::Failed(_)), "{error}");
    }

    #[test]
    fn bytes_pass_whole_and_an_end_is_noticed() {
        let (out, into) = io::pipe().unwrap();
        let (far_out, _into) = io::pipe().unwrap();
        let Ok(mut sender) = Uring::open(far_out.into(), into.into()) else {
            eprintln!("skipped: no io_uring here");
            return;
        };
        let (_out, unused) = io::pipe().unwrap();
        let mut receiver = Uring::open(out.into(), unused.into()).unwrap();
        sender.send(&[7; 1000]).unwrap();
        let mut got = [0; 1000];
        receiver.receive(&mut got).unwrap();
        assert_eq!(got, [7; 1000]);
        drop(sender);
        let error = receiver.receive(&mut got).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
