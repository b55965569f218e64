//! Errors of requests to Linux about a pipe.

use std::fmt;
use std::io;

/// Linux refused a request about a pipe.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Linux did not report the capacity.
    Capacity(io::Error),
    /// Linux did not report the number of queued bytes.
    Fill(io::Error),
    /// Another process's descriptor could not be opened.
    Open {
        /// The process.
        pid: i32,
        /// Its descriptor.
        fd: i32,
        /// Linux's reason.
        source: io::Error,
    },
    /// The descriptor is not, or is no longer, an end of the expected pipe.
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
