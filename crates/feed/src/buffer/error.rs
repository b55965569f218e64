//! Errors that end the stream early.

use std::fmt;
use std::io;
use std::path::PathBuf;

use fullbore_measure::Bytes;

/// A failure of a buffer, by the side it came from.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Reading the input failed.
    Reading(io::Error),
    /// Writing the output failed; `BrokenPipe` means that its reader left.
    Writing(io::Error),
    /// Writing a copy of the stream to a file failed.
    WritingCopy {
        /// The file.
        path: PathBuf,
        /// How many bytes the file had taken before.
        written: Bytes,
        /// Linux's reason.
        source: io::Error,
    },
    /// No spill file could be created in this folder.
    Spill {
        /// The folder.
        folder: PathBuf,
        /// Linux's reason.
        source: io::Error,
    },
    /// Reading the spill file back failed.
    ReadingSpill(io::Error),
    /// Linux refused to start a thread.
    Thread(io::Error),
    /// Linux refused a descriptor.
    Descriptor(io::Error),
}

impl Error {
    /// Tells whether the output's reader left, which is nobody's failure.
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
            Self::WritingCopy { path, source, .. } => {
                write!(f, "writing {}: {source}", path.display())
            }
            Self::Spill { folder, source } => {
                write!(f, "making a spill file in {}: {source}", folder.display())
            }
            Self::ReadingSpill(source) => write!(f, "reading the spill file: {source}"),
            Self::Thread(source) => write!(f, "starting a thread: {source}"),
            Self::Descriptor(source) => write!(f, "making a descriptor: {source}"),
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
            | Self::Thread(source)
            | Self::Descriptor(source) => Some(source),
        }
    }
}
