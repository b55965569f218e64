//! Reads and changes the capacity of a pipe.

use std::fmt;
use std::os::fd::AsFd;

use fullbore_measure::Bytes;
use rustix::io::Errno;
use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

use crate::error::Error;

/// Returns the pipe's capacity: how many bytes it holds when every write fills whole pages. A new pipe has 64 KiB; the
/// capacity is always a power of two of at least one page (4 KiB).
///
/// # Errors
/// [`Error::Capacity`] when `fd` is not a pipe (EBADF).
///
/// Source: fcntl(2), F_GETPIPE_SZ; pipe(7), "Pipe capacity".
pub fn capacity(fd: impl AsFd) -> Result<Bytes, Error> {
    match fcntl_getpipe_size(fd) {
        Ok(bytes) => Ok(Bytes(bytes as u64)),
        Err(errno) => Err(Error::Capacity(errno.into())),
    }
}

/// Why Linux refused to change a pipe's capacity. This is a value rather than an error because callers can go on
/// without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// The size exceeds `pipe-max-size`, or the user's pipes together exceed `pipe-user-pages-soft` (EPERM).
    OverLimit,
    /// The pipe holds more than would fit, or serves notifications (EBUSY).
    Busy,
    /// The size is outside Linux's range (EINVAL), or memory is short (ENOMEM).
    Impossible,
    /// Linux gave another reason, as an error number.
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

/// Sets the pipe's capacity and returns what Linux granted: `wanted`, rounded up to a power of two and to at least one
/// page. Linux allows privileged users up to 2 GiB and other users up to [`Limits`].
///
/// # Errors
/// [`Refused::OverLimit`] above the limits of an unprivileged user; [`Refused::Busy`] when the pipe holds more (counted
/// in pages, not bytes) than would fit; [`Refused::Impossible`] above 2 GiB or without memory. The capacity then stays
/// as it was.
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

/// Raises the capacity of the pipe behind `fd` to at least `wanted` bytes, rounded up as in [`set_capacity`]. The
/// change lasts until [`Widened::put_back`]. A larger pipe needs fewer context switches between its two sides; an
/// unprivileged user may ask for up to [`Limits::pipe_max`].
///
/// Returns `None` and leaves the pipe as it was when `fd` is not a pipe, already holds as much, or Linux refuses.
/// Callers can ignore that: a small pipe is slower but just as correct.
///
/// Source: fcntl(2), F_SETPIPE_SZ.
pub fn widen(fd: impl AsFd, wanted: Bytes) -> Option<Widened> {
    let before = capacity(&fd).ok()?;
    if before >= wanted {
        return None;
    }
    let after = set_capacity(&fd, wanted).ok()?;
    Some(Widened { before, after })
}

/// Records that a pipe was widened, from which capacity and to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widened {
    before: Bytes,
    after: Bytes,
}

impl Widened {
    /// Returns by how many bytes the capacity grew.
    #[must_use]
    pub fn gained(self) -> Bytes {
        Bytes(self.after.0.saturating_sub(self.before.0))
    }

    /// Restores the old capacity, unless someone else has changed it since or the pipe holds more than would fit.
    pub fn put_back(self, fd: impl AsFd) {
        if capacity(&fd).is_ok_and(|now| now == self.after) {
            // Refused as busy when the pipe holds more than would fit. The capacity then ends with the pipe.
            let _ = set_capacity(&fd, self.before);
        }
    }
}

/// Linux's limits on the pipes of an unprivileged user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest capacity of one pipe (`/proc/sys/fs/pipe-max-size`).
    pub pipe_max: Bytes,
    /// Total capacity of the user's pipes above which Linux refuses growth and gives new pipes two pages
    /// (`pipe-user-pages-soft`). `None` means no limit.
    pub user_soft: Option<Bytes>,
}

impl Limits {
    /// The defaults that Linux documents: 1 MiB a pipe, 64 MiB a user.
    ///
    /// Source: pipe(7), "/proc files".
    pub const DEFAULT: Self = Self { pipe_max: Bytes(1 << 20), user_soft: Some(Bytes(64 << 20)) };

    /// Reads the limits from the contents of the files in `/proc/sys/fs`, in their own units: bytes for
    /// `pipe-max-size`, pages for `pipe-user-pages-soft` (0 means no limit). A `None` argument stands for Linux's
    /// default.
    ///
    /// Source: pipe(7), "/proc files".
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
        let page = rustix::param::page_size();
        writer.write_all(&vec![0; 2 * page]).unwrap();
        assert_eq!(set_capacity(&writer, Bytes(page as u64)), Err(Refused::Busy));
    }

    #[test]
    fn a_size_out_of_range_is_refused_not_truncated() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let before = capacity(&writer).unwrap();
        assert!(set_capacity(&writer, Bytes(u64::MAX)).is_err());
        assert_eq!(capacity(&writer).unwrap(), before);
    }

    #[test]
    fn a_file_has_no_capacity() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(matches!(capacity(&file), Err(Error::Capacity(_))));
    }

    #[test]
    fn a_widened_pipe_gets_its_capacity_back() {
        let (reader, _writer) = std::io::pipe().unwrap();
        // 16 pages, which are larger on some machines.
        let before = capacity(&reader).unwrap();
        let wide = Bytes(4 * before.0);
        let widened = widen(&reader, wide).unwrap();
        assert_eq!(capacity(&reader).unwrap(), wide);
        assert_eq!(widened.gained(), Bytes(3 * before.0));
        widened.put_back(&reader);
        assert_eq!(capacity(&reader).unwrap(), before);
        assert!(widen(&reader, before).is_none());
    }

    #[test]
    fn a_capacity_changed_by_someone_else_is_left_alone() {
        let (reader, writer) = std::io::pipe().unwrap();
        let before = capacity(&reader).unwrap();
        let widened = widen(&reader, Bytes(4 * before.0)).unwrap();
        set_capacity(&writer, Bytes(2 * before.0)).unwrap();
        widened.put_back(&reader);
        assert_eq!(capacity(&reader).unwrap(), Bytes(2 * before.0));
    }
}
