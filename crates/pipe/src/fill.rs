//! Reads how many bytes are queued in a pipe.

use std::os::fd::AsFd;

use fullbore_measure::Bytes;
use rustix::io::ioctl_fionread;

use crate::error::Error;

/// Returns how many bytes are queued in the pipe, from 0 to its [`capacity`](crate::capacity()).
///
/// Each call briefly takes the pipe's lock, so call it a few times a second, not in a loop. A pipe can be full although
/// `fill < capacity`: sixteen one-byte splices fill a 64 KiB pipe.
///
/// # Errors
/// [`Error::Fill`] when `fd` is not a pipe (ENOTTY), or is one whose bytes Linux does not count.
///
/// Source: pipe(7), FIONREAD.
pub fn fill(fd: impl AsFd) -> Result<Bytes, Error> {
    match ioctl_fionread(fd) {
        Ok(bytes) => Ok(Bytes(bytes)),
        Err(errno) => Err(Error::Fill(errno.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn queued_bytes_are_counted() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        assert_eq!(fill(&reader).unwrap(), Bytes(0));
        writer.write_all(b"twelve bytes").unwrap();
        assert_eq!(fill(&reader).unwrap(), Bytes(12));
    }
}
