//! How much a pipe can hold.

use std::fmt;
use std::os::fd::AsFd;

use fullbore_measure::Bytes;
use rustix::io::Errno;
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

use crate::Error;

/// How many bytes the pipe can hold when its writes fill whole pages.
///
/// # Errors
/// [`Error::Capacity`] when `fd` is no pipe.
///
/// Source: fcntl(2), F_GETPIPE_SZ.
pub fn capacity(fd: impl AsFd) -> Result<Bytes, Error> {
    match fcntl_getpipe_size(fd) {
        Ok(bytes) => Ok(Bytes(bytes as u64)),
        Err(errno) => Err(Error::Capacity(errno.into())),
    }
}

/// Why Linux would not change the capacity of a pipe: a value, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// Above `pipe-max-size`, or the user's pipes together are above `pipe-user-pages-soft` (EPERM).
    OverLimit,
    /// More is queued than would fit, or the pipe is used for notifications (EBUSY).
    Busy,
    /// The size is out of Linux's range (EINVAL), or memory is short (ENOMEM).
    Impossible,
    /// Another answer of Linux, as an error number.
    Other(i32),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverLimit => write!(
                f,
                "over the limit of this user (see /proc/sys/fs/pipe-max-size and pipe-user-pages-soft)"
            ),
            Self::Busy => write!(f, "more is queued in it than would fit"),
            Self::Impossible => write!(f, "the size is out of range, or memory is short"),
            Self::Other(errno) => write!(f, "{}", std::io::Error::from_raw_os_error(*errno)),
        }
    }
}

/// Sets how many bytes the pipe can hold; returns what Linux granted (rounded up to a power-of-two number of pages).
///
/// # Errors
/// [`Refused::OverLimit`] above the limits of an unprivileged user; [`Refused::Busy`] when more is
/// queued (counted in pages, not bytes) than would fit.
///
/// Source: fcntl(2), F_SETPIPE_SZ.
pub fn set_capacity(fd: impl AsFd, wanted: Bytes) -> Result<Bytes, Refused> {
    let size = usize::try_from(wanted.0).map_err(|_| Refused::Impossible)?;
    match fcntl_setpipe_size(&fd, size) {
        Ok(granted) => Ok(Bytes(granted as u64)),
        Err(Errno::PERM) => Err(Refused::OverLimit),
        Err(Errno::BUSY) => Err(Refused::Busy),
        Err(Errno::INVAL | Errno::NOMEM) => Err(Refused::Impossible),
        Err(errno) => Err(Refused::Other(errno.raw_os_error())),
    }
}

/// Grows a pipe of this stage's own input or output to 1 MiB for good, as far as that is allowed: fewer switches between
/// its two sides. Growing is refused over the user's limit; then the pipe stays as it is.
pub fn grow(fd: impl AsFd) {
    let _ = crate::widen(fd, WIDE);
}

/// Linux's default limit for a pipe of an unprivileged user (pipe(7), `pipe-max-size`).
const WIDE: Bytes = Bytes(1 << 20);

/// What Linux allows an unprivileged user to do with pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest capacity of one pipe (`/proc/sys/fs/pipe-max-size`).
    pub pipe_max: Bytes,
    /// Capacity all pipes of the user may have together before growing is refused and new pipes get
    /// two pages (`pipe-user-pages-soft`); `None`: no such limit.
    pub user_soft: Option<Bytes>,
}

impl Limits {
    /// What Linux documents as its defaults: 1 MiB a pipe, 64 MiB a user.
    ///
    /// Source: pipe(7), "/proc files".
    pub const DEFAULT: Self = Self { pipe_max: Bytes(1 << 20), user_soft: Some(Bytes(64 << 20)) };
}

impl Limits {
    /// From what `/proc/sys/fs` says, in its units (0 pages: no limit); Linux's default for what is unknown.
    #[must_use]
    pub fn from_settings(
        pipe_max_bytes: Option<u64>,
        user_pages_soft: Option<u64>,
        page_bytes: u64,
    ) -> Self {
        Self {
            pipe_max: pipe_max_bytes.map_or(Self::DEFAULT.pipe_max, Bytes),
            user_soft: match user_pages_soft {
                Some(0) => None,
                Some(pages) => Some(Bytes(pages.saturating_mul(page_bytes))),
                None => Self::DEFAULT.user_soft,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_new_capacity_is_rounded_up_and_reported() {
        let (reader, writer) = std::io::pipe().unwrap();
        assert_eq!(set_capacity(&writer, Bytes(100_000)), Ok(Bytes(131_072)));
        assert_eq!(capacity(&reader).unwrap(), Bytes(131_072));
    }

    #[test]
    fn a_full_pipe_cannot_shrink_and_says_busy() {
        let (_reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(&[0; 20_000]).unwrap();
        assert_eq!(set_capacity(&writer, Bytes(4096)), Err(Refused::Busy));
    }

    #[test]
    fn a_size_out_of_range_is_refused_not_truncated() {
        let (_reader, writer) = std::io::pipe().unwrap();
        assert!(set_capacity(&writer, Bytes(u64::MAX)).is_err());
        assert_eq!(capacity(&writer).unwrap(), Bytes(65_536));
    }

    #[test]
    fn a_file_has_no_capacity() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(matches!(capacity(&file), Err(Error::Capacity(_))));
    }
}
