//! Explains why a fact about a process is not available, and tells an ended process from a hidden one.

use std::fmt;
use std::io;

use rustix::io::Errno;

/// Why Linux does not give a fact about a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Unavailable {
    /// The process or thread has ended, or the descriptor was closed.
    Gone,
    /// Linux refuses: the process belongs to another user or changed its owner, or hidepid, Yama or a sandbox hides it.
    ///
    /// A process in the middle of execve(2) briefly gives this answer, too.
    NotPermitted,
    /// This kernel was built without the fact, or does not count it.
    NotBuiltIn,
    /// The text does not have the form that the manual describes.
    NotUnderstood,
    /// Another error, by its number in errno(3).
    Failed(i32),
}

impl Unavailable {
    /// Classifies the error of a system call on a file of a process.
    ///
    /// A missing file counts as [`Self::Gone`]; only the folder it should be in can tell more.
    pub(crate) fn from_error(error: &io::Error) -> Self {
        let Some(number) = error.raw_os_error() else {
            // A process that has ended has no memory left to read.
            let is_end = error.kind() == io::ErrorKind::UnexpectedEof;
            return if is_end { Self::Gone } else { Self::NotUnderstood };
        };
        match Errno::from_raw_os_error(number) {
            Errno::SRCH | Errno::NOENT => Self::Gone,
            Errno::ACCESS | Errno::PERM => Self::NotPermitted,
            Errno::NOSYS | Errno::OPNOTSUPP => Self::NotBuiltIn,
            _ => Self::Failed(number),
        }
    }
}

impl fmt::Display for Unavailable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => formatter.write_str("it has ended"),
            Self::NotPermitted => formatter.write_str("not permitted"),
            Self::NotBuiltIn => formatter.write_str("this kernel does not provide it"),
            Self::NotUnderstood => formatter.write_str("its form is unknown"),
            Self::Failed(number) => io::Error::from_raw_os_error(*number).fmt(formatter),
        }
    }
}

impl std::error::Error for Unavailable {}

/// A kind of fact about a process that a kernel, an owner or a sandbox may withhold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fact {
    /// State, parent, threads and CPU time in ticks: `stat`.
    State,
    /// Exact times on a CPU and waiting for one: `schedstat`.
    Times,
    /// The call in which a thread waits: `syscall`.
    Wait,
    /// Bytes and calls: `io`.
    Io,
    /// Processes that a thread started: `children`.
    Children,
    /// What the descriptors lead to: `fd`.
    Descriptors,
}

impl Fact {
    /// All kinds of facts.
    pub const ALL: [Self; 6] =
        [Self::State, Self::Times, Self::Wait, Self::Io, Self::Children, Self::Descriptors];

    /// Returns the name of the file or folder that shows the fact, in the folder of a process or of a thread.
    #[must_use]
    pub fn file(self) -> &'static str {
        match self {
            Self::State => "stat",
            Self::Times => "schedstat",
            Self::Wait => "syscall",
            Self::Io => "io",
            Self::Children => "children",
            Self::Descriptors => "fd",
        }
    }
}
