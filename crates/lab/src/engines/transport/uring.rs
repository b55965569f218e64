//! A pipe read and written through io_uring, one operation at a time.

use std::io;
use std::os::fd::OwnedFd;

use fullbore_apparatus::passing;

use super::super::peers::failed;
use super::channel::Channel;
use crate::EngineError;

/// A ring of this process and both ends it works on.
#[derive(Debug)]
pub(super) struct Uring {
    ring: passing::Uring,
    input: OwnedFd,
    output: OwnedFd,
}

impl Uring {
    /// Over two pipes.
    ///
    /// # Errors
    /// [`EngineError::Unavailable`] when Linux has no io_uring, or does not allow it.
    pub(super) fn open(input: OwnedFd, output: OwnedFd) -> Result<Self, EngineError> {
        let ring = passing::Uring::new().map_err(|error| unavailable(&error))?;
        Ok(Self { ring, input, output })
    }
}

fn unavailable(error: &io::Error) -> EngineError {
    let (what, remedy) = match error.kind() {
        io::ErrorKind::PermissionDenied => (
            "io_uring is not allowed",
            "sysctl kernel.io_uring_disabled=0, or a container that allows it",
        ),
        io::ErrorKind::Unsupported => {
            ("io_uring", "a kernel with CONFIG_IO_URING, and x86-64, AArch64 or RISC-V")
        }
        io::ErrorKind::OutOfMemory => ("locked memory for io_uring", "ulimit -l unlimited"),
        _ => return failed("io_uring", error),
    };
    EngineError::Unavailable { what: what.to_owned(), remedy: remedy.to_owned() }
}

impl Channel for Uring {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let mut rest = message;
        while !rest.is_empty() {
            let count = self.ring.write(&self.output, rest)?;
            rest = &rest[count..];
        }
        Ok(())
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < message.len() {
            match self.ring.read(&self.input, &mut message[filled..])? {
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
            assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: no io_uring here");
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
