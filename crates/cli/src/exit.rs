//! Exit statuses, in one place.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Done, and the answer is no: malformed input.
    No,
    /// Not done: wrong usage or a failure.
    NotDone,
    /// The reader of a filter's output left; the filter ends silently, as `cat` would.
    ReaderLeft,
    /// `run`: what the shell returned.
    Child(u8),
    /// `run`: fullbore failed.
    RunFailed,
    /// `run`: the command was found but cannot be executed.
    CannotExecute,
    /// `run`: the command was not found.
    NotFound,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::NotDone => 2,
            Exit::ReaderLeft => 141,
            Exit::Child(status) => status,
            Exit::RunFailed => 125,
            Exit::CannotExecute => 126,
            Exit::NotFound => 127,
        })
    }
}
