//! Reads a stage's input.

use std::fmt;
use std::io::{self, Cursor, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use fullbore_pipe::transfer::wait_until;
use fullbore_pipe::{Limits, fill, is_pipe, widen};
use rustix::event::PollFlags;
use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
use rustix::io::Errno;

/// An input (pipe, file, socket or terminal) that is read in large blocks.
#[derive(Debug)]
pub struct Input {
    fd: OwnedFd,
    name: String,
    read: u64,
    may_grow: bool,
    /// What was read from the descriptor before, and comes first.
    beginning: Cursor<Vec<u8>>,
    /// Whether it is a named pipe that had perhaps no writer yet, in which a read would find the end.
    awaits_writer: bool,
}

/// Input after which a pipe is widened: a small input is over by then.
const GROW_BYTES: u64 = 1 << 20;

impl Input {
    /// Makes an input with the name that messages use for it.
    pub fn new(fd: impl Into<OwnedFd>, name: impl Into<String>) -> Self {
        let fd = fd.into();
        let may_grow = is_pipe(&fd);
        let beginning = Cursor::default();
        Self { fd, name: name.into(), read: 0, may_grow, beginning, awaits_writer: false }
    }

    /// The same, with bytes before what the descriptor, which is no regular file, gives.
    #[must_use]
    pub fn after(self, beginning: Vec<u8>) -> Self {
        Self { beginning: Cursor::new(beginning), ..self }
    }

    /// Opens a file. Of a named pipe, this does not wait for a writer: a poll(2) for input does, and the first
    /// [`read`](Self::read).
    ///
    /// # Errors
    /// Linux's error.
    ///
    /// Source: fifo(7).
    pub fn open(path: &Path) -> io::Result<Self> {
        let awaits_writer = path.metadata().is_ok_and(|file| file.file_type().is_fifo());
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC;
        flags.set(OFlags::NONBLOCK, awaits_writer);
        let fd = open(path, flags, Mode::empty())?;
        if awaits_writer {
            fcntl_setfl(&fd, OFlags::empty())?;
        }
        Ok(Self { awaits_writer, ..Self::new(fd, path.display().to_string()) })
    }

    /// Returns standard input.
    ///
    /// # Errors
    /// When it is closed.
    pub fn standard() -> Result<Self, InputError> {
        let name = "standard input";
        match io::stdin().as_fd().try_clone_to_owned() {
            Ok(fd) => Ok(Self::new(fd, name)),
            Err(source) => Err(InputError { name: name.to_owned(), read: 0, source }),
        }
    }

    /// Returns the same input with its own descriptor; from then on, read from only one of the two.
    pub(crate) fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            fd: self.fd.try_clone()?,
            name: self.name.clone(),
            beginning: self.beginning.clone(),
            ..*self
        })
    }

    /// Returns the name for messages.
    #[cfg(feature = "json")]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns how many bytes were read so far.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// Reads what is available, at least one byte; 0 at the end. Waits where a non-blocking descriptor does not.
    ///
    /// # Errors
    /// Linux's error, with the name of the input and the bytes read before.
    ///
    /// Source: read(2).
    pub fn read(&mut self, block: &mut [u8]) -> Result<usize, InputError> {
        if let Ok(count @ 1..) = self.beginning.read(block) {
            self.read += count as u64;
            return Ok(count);
        }
        if std::mem::take(&mut self.awaits_writer) {
            wait_until(&self.fd, PollFlags::IN).map_err(|errno| self.error(errno))?;
        }
        loop {
            match rustix::io::read(&self.fd, &mut *block) {
                Ok(count) => {
                    self.read += count as u64;
                    self.grow_late();
                    return Ok(count);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    wait_until(&self.fd, PollFlags::IN).map_err(|errno| self.error(errno))?;
                }
                Err(errno) => return Err(self.error(errno)),
            }
        }
    }

    /// Reads at this offset of a file; 0 bytes at the end. Several threads may do so at the same time.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// Source: pread(2).
    #[cfg(feature = "json")]
    pub(crate) fn read_at(&self, block: &mut [u8], offset: u64) -> Result<usize, InputError> {
        let count = rustix::io::retry_on_intr(|| rustix::io::pread(&self.fd, &mut *block, offset));
        count.map_err(|errno| InputError { read: offset, ..self.error(errno) })
    }

    /// Reads until the block is full or the input ends, and returns how many bytes it has.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_all(&mut self, block: &mut [u8]) -> Result<usize, InputError> {
        let mut bytes = 0;
        while bytes < block.len() {
            match self.read(&mut block[bytes..])? {
                0 => break,
                count => bytes += count,
            }
        }
        Ok(bytes)
    }

    /// Tells whether the next read would have to wait, as far as Linux can tell.
    #[must_use]
    pub fn is_dry(&self) -> bool {
        let is_begun = self.beginning.position() == self.beginning.get_ref().len() as u64;
        is_begun && fill(&self.fd).is_ok_and(|bytes| bytes.0 == 0)
    }

    fn grow_late(&mut self) {
        if self.may_grow && self.read >= GROW_BYTES {
            self.may_grow = false;
            widen(&self.fd, Limits::DEFAULT.pipe_max);
        }
    }

    fn error(&self, errno: Errno) -> InputError {
        InputError { name: self.name.clone(), read: self.read, source: errno.into() }
    }
}

impl AsFd for Input {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl io::Read for Input {
    fn read(&mut self, block: &mut [u8]) -> io::Result<usize> {
        Self::read(self, block).map_err(|error| error.source)
    }
}

/// Reading an input failed.
#[derive(Debug)]
pub struct InputError {
    name: String,
    read: u64,
    source: io::Error,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reading: {}: {} (after {} bytes)", self.name, self.source, self.read)
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}
