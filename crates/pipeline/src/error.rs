//! What can keep a pipeline from being started.

use std::ffi::OsString;
use std::fmt;
use std::io;

use fullbore_perf::Refused;

/// The pipeline was not started, or its end could not be learned.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The shell or the command could not be started.
    Start {
        /// What was to be started.
        program: OsString,
        /// What Linux said.
        source: io::Error,
    },
    /// Every switch was to be counted, and Linux refuses.
    Exact(Refused),
    /// Signals could not be taken over.
    Signals(io::Error),
    /// A thread could not be started.
    Thread(io::Error),
    /// The end of the pipeline could not be waited for.
    Wait(io::Error),
    /// There is nothing to watch.
    Attach(AttachError),
}

/// Why a process has no pipeline that could be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttachError {
    /// There is no process with this number, or it has ended.
    NoProcess(i32),
    /// It is a thread of the kernel.
    Kernel(i32),
    /// It is this process.
    Own,
}

impl fmt::Display for AttachError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoProcess(pid) => write!(f, "{pid}: there is no such process (any more)"),
            Self::Kernel(pid) => write!(f, "{pid}: this is a thread of the kernel"),
            Self::Own => f.write_str("this is fullbore itself"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { program, source } => {
                write!(f, "{}: {}", program.display(), plain(source))
            }
            Self::Exact(source) => write!(f, "counting every switch: {source}"),
            Self::Signals(source) => write!(f, "taking over signals: {}", plain(source)),
            Self::Thread(source) => write!(f, "starting a thread: {}", plain(source)),
            Self::Attach(source) => source.fmt(f),
            Self::Wait(source) => write!(f, "waiting for the pipeline: {}", plain(source)),
        }
    }
}

/// The words of an error without Rust's "(os error 2)".
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Exact(source) => Some(source),
            Self::Attach(_) => None,
            Self::Start { source, .. }
            | Self::Signals(source)
            | Self::Thread(source)
            | Self::Wait(source) => Some(source),
        }
    }
}
