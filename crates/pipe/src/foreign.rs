//! Borrows ends of other processes' pipes for a moment and never keeps them.
//!
//! A descriptor opened through `/proc/PID/fd/N` makes us a reader or writer of the user's pipe. While it is open, the
//! pipe's reader sees no end of file, and a writer whose reader left gets no SIGPIPE. So no function here returns such
//! a descriptor: [`lend`] opens it, passes it to a closure and closes it.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, open, statat};
use rustix::io::Errno;

use crate::error::Error;
use crate::identity::PipeId;

/// One of the two ends of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The end from which data is read.
    Read,
    /// The end to which data is written.
    Write,
}

/// Identifies a pipe's end by a descriptor of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    /// The process's number.
    pub pid: i32,
    /// The descriptor's number in that process.
    pub fd: i32,
    /// The pipe the descriptor must lead to; [`lend`] refuses any other.
    pub pipe: PipeId,
    /// The end the descriptor must be.
    pub end: End,
}

/// Opens another process's descriptor, lends it to `ask`, closes it, and returns what `ask` returned.
///
/// `ask` should return within microseconds, because the pipe has one more reader or writer while it runs. `lend` opens
/// the same end as the other process holds, non-blocking, and only after checking its identity, so that it never opens
/// any other file. The caller needs PTRACE_MODE_READ on the process and permission to open a named FIFO.
///
/// # Errors
/// [`Error::NotThatPipe`] when the process is gone or the descriptor now leads elsewhere; [`Error::Open`] when Linux
/// denies access (EACCES, EPERM) or no descriptor is left (EMFILE).
///
/// Source: proc_pid_fd(5); fifo(7).
pub fn lend<T>(handle: Handle, ask: impl FnOnce(BorrowedFd<'_>) -> T) -> Result<T, Error> {
    let Handle { pid, fd, pipe, end } = handle;
    let path = format!("/proc/{pid}/fd/{fd}");
    let not_that_pipe = Error::NotThatPipe { pid, fd };
    match statat(CWD, &path, AtFlags::empty()) {
        Ok(stat)
            if FileType::from_raw_mode(stat.st_mode) == FileType::Fifo
                && stat.st_ino == pipe.inode => {}
        Err(Errno::ACCESS | Errno::PERM) => {
            return Err(Error::Open { pid, fd, source: Errno::ACCESS.into() });
        }
        _ => return Err(not_that_pipe),
    }
    let access = match end {
        End::Read => OFlags::RDONLY,
        End::Write => OFlags::WRONLY,
    };
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    match open(&path, flags, Mode::empty()) {
        Ok(opened) if PipeId::of(&opened) == Some(pipe) => Ok(ask(opened.as_fd())),
        Ok(_) | Err(Errno::NOENT | Errno::SRCH | Errno::NXIO) => Err(not_that_pipe),
        Err(errno) => Err(Error::Open { pid, fd, source: errno.into() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{capacity, fill, set_capacity};
    use fullbore_measure::Bytes;
    use std::io::{Read, Write};
    use std::os::fd::AsRawFd;

    fn own_pid() -> i32 {
        std::process::id().cast_signed()
    }

    fn handle(fd: &impl AsFd, end: End) -> Handle {
        let fd = fd.as_fd();
        Handle { pid: own_pid(), fd: fd.as_raw_fd(), pipe: PipeId::of(fd).unwrap(), end }
    }

    #[test]
    fn a_lent_end_reports_its_capacity_and_fill() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"abc").unwrap();
        let asked = lend(handle(&reader, End::Read), |fd| {
            assert_eq!(fill(fd).unwrap(), Bytes(3));
            set_capacity(fd, Bytes(1 << 18))
        });
        assert_eq!(asked.unwrap(), Ok(Bytes(1 << 18)));
        assert_eq!(capacity(&writer).unwrap(), Bytes(1 << 18));
    }

    #[test]
    fn lending_a_write_end_does_not_keep_the_end_of_file_away() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        lend(handle(&writer, End::Write), |fd| capacity(fd).unwrap()).unwrap();
        drop(writer);
        assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0);
    }

    #[test]
    fn lending_a_read_end_does_not_keep_sigpipe_away() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        lend(handle(&reader, End::Read), |fd| capacity(fd).unwrap()).unwrap();
        drop(reader);
        assert_eq!(writer.write(b"x").unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_descriptor_that_is_something_else_by_now_is_not_touched() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let (other, _other_writer) = std::io::pipe().unwrap();
        let wrong = Handle { fd: other.as_raw_fd(), ..handle(&reader, End::Read) };
        assert!(matches!(lend(wrong, |_| ()), Err(Error::NotThatPipe { .. })));
        let file = std::fs::File::open("/dev/null").unwrap();
        let wrong = Handle { fd: file.as_raw_fd(), ..handle(&reader, End::Read) };
        assert!(matches!(lend(wrong, |_| ()), Err(Error::NotThatPipe { .. })));
    }

    #[test]
    fn a_process_that_is_gone_is_no_pipe() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let gone = Handle { pid: i32::MAX, ..handle(&reader, End::Read) };
        assert!(matches!(lend(gone, |_| ()), Err(Error::NotThatPipe { .. })));
    }
}
