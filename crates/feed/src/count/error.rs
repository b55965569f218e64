//! Errors that end a count.

use std::fmt;
use std::io;
use std::path::PathBuf;

use fullbore_pipe::OutputError;

use crate::InputError;

/// A count that was not finished. `E` is the error of opening an input.
#[derive(Debug)]
#[non_exhaustive]
pub enum CountError<E> {
    /// An input could not be opened.
    Open(E),
    /// Reading an input failed.
    Input(InputError),
    /// A line does not fit into memory.
    Memory {
        /// Bytes of the line that were read.
        bytes: usize,
    },
    /// The distinct lines do not fit into the memory that Linux grants.
    Groups,
    /// The part on disk could not be written or read.
    Disk {
        /// The folder of its file.
        folder: PathBuf,
        /// Linux's error.
        source: io::Error,
    },
    /// Writing a row failed.
    Output(OutputError),
}

impl<E: fmt::Display> fmt::Display for CountError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Input(error) => error.fmt(f),
            Self::Memory { bytes } => {
                write!(f, "reading: a line of more than {bytes} bytes does not fit into memory")
            }
            Self::Groups => f.write_str("there is not enough memory for the distinct lines"),
            Self::Disk { folder, source } => {
                write!(f, "temporary file: {}: {source}", folder.display())
            }
            Self::Output(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for CountError<E> {}

impl<E> From<InputError> for CountError<E> {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}
