//! Describes the output: whether it is a pipe, its name in messages, and waiting for it.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd};

use rustix::event::PollFlags;
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use crate::transfer::wait_until;

/// Tells whether `fd` is an end of a pipe or FIFO; `false` when Linux does not say.
///
/// Source: fstat(2).
pub fn is_pipe(fd: impl AsFd) -> bool {
    fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
}

/// Writes as much as fits, at least one byte, and waits where a non-blocking descriptor does not.
///
/// Source: write(2).
pub(super) fn write_some(fd: impl AsFd, bytes: &[u8]) -> Result<usize, Errno> {
    loop {
        match rustix::io::write(&fd, bytes) {
            Ok(0) if !bytes.is_empty() => return Err(Errno::IO),
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => wait_until(&fd, PollFlags::OUT)?,
            Err(errno) => return Err(errno),
        }
    }
}

/// Output failed: where it went, how much Linux had taken, and why it took no more.
#[derive(Debug)]
pub struct OutputError {
    name: String,
    written: u64,
    source: io::Error,
}

impl OutputError {
    pub(super) fn new(fd: impl AsFd, written: u64, source: io::Error) -> Self {
        Self { name: name(&fd), written, source }
    }

    /// Returns how many bytes Linux had taken before the failure.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Tells whether the reader left (EPIPE). That is no failure of ours and needs no message.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        self.source.kind() == io::ErrorKind::BrokenPipe
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "writing: {}: {} (after {} bytes)", self.name, self.source, self.written)
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl From<OutputError> for io::Error {
    fn from(error: OutputError) -> Self {
        Self::new(error.source.kind(), error)
    }
}

/// Returns `standard output`, with the path of the file when it is one.
fn name(fd: impl AsFd) -> String {
    let number = fd.as_fd().as_raw_fd();
    let link = std::fs::read_link(format!("/proc/self/fd/{number}")).ok();
    let path = link.filter(|path| path.is_absolute()).map(|path| path.display().to_string());
    match (number, path) {
        (1, Some(path)) => format!("standard output ({path})"),
        (1, None) => "standard output".to_owned(),
        (_, Some(path)) => path,
        (_, None) => format!("descriptor {number}"),
    }
}
