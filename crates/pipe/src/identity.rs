//! Identifies the pipe behind a descriptor.

use std::os::fd::AsFd;
use std::sync::OnceLock;

use rustix::fs::{FileType, fstat};

/// Identifies a pipe or FIFO: both ends have the same identity, and no two live pipes share one.
///
/// The device of all anonymous pipes (pipefs) counts as 0, so an identity read from the text `pipe:[inode]` in
/// `/proc/PID/fd` equals one read from a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PipeId {
    /// Device of the file system that holds the FIFO; 0 for an anonymous pipe.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
}

impl PipeId {
    /// Identifies the anonymous pipe with this inode number, as in `pipe:[inode]` in `/proc/PID/fd`.
    #[must_use]
    pub fn anonymous(inode: u64) -> Self {
        Self { device: 0, inode }
    }

    /// Identifies the pipe or FIFO with this device and inode number, as stat(2) reports them.
    #[must_use]
    pub fn from_stat(device: u64, inode: u64) -> Self {
        Self { device: if Some(device) == pipefs() { 0 } else { device }, inode }
    }

    /// Identifies the pipe that `fd` is an end of; returns `None` when `fd` is something else.
    ///
    /// Source: fstat(2).
    pub fn of(fd: impl AsFd) -> Option<Self> {
        let stat = fstat(fd).ok()?;
        (FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
            .then(|| Self::from_stat(stat.st_dev, stat.st_ino))
    }
}

/// Returns the device number of the file system that holds all anonymous pipes.
fn pipefs() -> Option<u64> {
    static DEVICE: OnceLock<Option<u64>> = OnceLock::new();
    *DEVICE.get_or_init(|| {
        let (reader, _writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).ok()?;
        fstat(&reader).ok().map(|stat| stat.st_dev)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_have_one_identity_and_it_is_the_one_in_proc() {
        let (reader, writer) = std::io::pipe().unwrap();
        let id = PipeId::of(&reader).unwrap();
        assert_eq!(PipeId::of(&writer), Some(id));
        let link = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        let text = std::fs::read_link(link).unwrap();
        assert_eq!(text.to_str().unwrap(), format!("pipe:[{}]", id.inode));
        assert_eq!(id, PipeId::anonymous(id.inode));
    }

    #[test]
    fn a_file_is_no_pipe() {
        assert_eq!(PipeId::of(std::fs::File::open("/dev/null").unwrap()), None);
    }
}
