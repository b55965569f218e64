//! Messages for a stream that ended early.

use std::io;

use fullbore_feed::buffer::{Error, Status};

use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// The message: which side and file failed, why, and how much was written.
pub(crate) fn failure(error: &Error, status: &Status) -> Failure {
    let (what, source) = match error {
        Error::Reading(source) => (side("reading standard input", 0), source),
        Error::Writing(source) => (side("writing standard output", 1), source),
        Error::WritingCopy { path, source, .. } => (format!("writing: {}", path.display()), source),
        Error::Spill { folder, source } => (format!("spill: {}", folder.display()), source),
        Error::ReadingSpill(source) => ("reading the spill file".to_owned(), source),
        Error::Thread(source) => ("starting a thread".to_owned(), source),
        Error::Descriptor(source) => ("making a descriptor".to_owned(), source),
        other => return in_words(format!("buffer: {other}"), ""),
    };
    let how_far = match error {
        Error::Spill { .. } | Error::Thread(_) | Error::Descriptor(_) => String::new(),
        Error::WritingCopy { written, .. } => {
            format!(" ({} bytes written to it, {} to standard output)", written.0, status.written.0)
        }
        _ => format!(" ({} bytes written)", status.written.0),
    };
    in_words(format!("buffer: {what}: {}{how_far}", plain(source)), hint(source))
}

fn in_words(message: String, hint: &str) -> Failure {
    Failure { message, hint: hint.to_owned(), exit: Exit::NotDone }
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull => "free some space on that disk",
        io::ErrorKind::IsADirectory => "give the path of a file",
        _ => "",
    }
}

/// The side, with the name of its file if it has one.
fn side(what: &str, fd: u32) -> String {
    match std::fs::read_link(format!("/proc/self/fd/{fd}")) {
        Ok(path) if path.is_absolute() => format!("{what}: {}", path.display()),
        _ => what.to_owned(),
    }
}
