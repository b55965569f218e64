//! What can end the stream early.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A failure, named by the side it came from.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The input could not be read.
    Reading(io::Error),
    /// The output could not be written; a reader that left is `BrokenPipe`.
    Writing(io::Error),
    /// A file that gets the stream as well could not be written.
    WritingCopy {
        /// The file.
        path: PathBuf,
        /// What Linux said.
        source: io::Error,
    },
    /// No spill file could be made in this folder.
    Spill {
        /// The folder.
        folder: PathBuf,
        /// What Linux said.
        source: io::Error,
    },
    /// The spill file could not be read back.
    ReadingSpill(io::Error),
    /// Linux gave no thread.
    Thread(io::Error),
}

impl Error {
    /// Whether the reader of the output has left, which is no failure of anyone.
    #[must_use]
    pub fn is_reader_gone(&self) -> bool {
        matches!(self, Self::Writing(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reading(source) => write!(f, "reading the input: {source}"),
            Self::Writing(source) => write!(f, "writing the output: {source}"),
            Self::WritingCopy { path, source } => write!(f, "writing {}: {source}", path.display()),
            Self::Spill { folder, source } => {
                write!(f, "making a spill file in {}: {source}", folder.display())
            }
            Self::ReadingSpill(source) => write!(f, "reading the spill file: {source}"),
            Self::Thread(source) => write!(f, "starting a thread: {source}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Reading(source)
            | Self::Writing(source)
            | Self::WritingCopy { source, .. }
            | Self::Spill { source, .. }
            | Self::ReadingSpill(source)
            | Self::Thread(source) => Some(source),
        }
    }
}
