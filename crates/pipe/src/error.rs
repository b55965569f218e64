//! What can fail when a pipe is asked for something.

use std::fmt;
use std::io;

/// A request to Linux about a pipe that failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The capacity could not be read.
    Capacity(io::Error),
    /// The number of queued bytes could not be read.
    Fill(io::Error),
    /// The descriptor of another process could not be opened.
    Open {
        /// The process.
        pid: i32,
        /// Its descriptor.
        fd: i32,
        /// What Linux said.
        source: io::Error,
    },
    /// The descriptor is not (or no longer) an end of the pipe that was meant.
    NotThatPipe {
        /// The process.
        pid: i32,
        /// Its descriptor.
        fd: i32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capacity(source) => write!(f, "reading the capacity of a pipe: {source}"),
            Self::Fill(source) => write!(f, "counting the bytes in a pipe: {source}"),
            Self::Open { pid, fd, source } => {
                write!(f, "opening descriptor {fd} of process {pid}: {source}")
            }
            Self::NotThatPipe { pid, fd } => {
                write!(f, "descriptor {fd} of process {pid} is no end of that pipe any more")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Capacity(source) | Self::Fill(source) | Self::Open { source, .. } => Some(source),
            Self::NotThatPipe { .. } => None,
        }
    }
}
