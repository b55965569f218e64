//! How much waits in a pipe.

use std::os::fd::AsFd;

use fullbore_measure::Bytes;
use rustix::io::ioctl_fionread;

use crate::Error;

/// Bytes queued in the pipe.
///
/// This takes the lock of the pipe for a moment: ask a few times a second, not in a loop.
/// `fill ÷ capacity` is no proof that a pipe is full: sixteen one-byte splices fill a 64 KiB pipe.
///
/// # Errors
/// [`Error::Fill`] when `fd` is no pipe.
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
