//! How a run over records ended.

use std::fmt;
use std::sync::Arc;

use fullbore_codec::Place;
use fullbore_codec::json::Cause;
use fullbore_pipe::OutputError;

use super::block::Origin;
use crate::InputError;

/// What a run over records found.
#[derive(Debug)]
pub struct Outcome<S> {
    /// The states of the workers, in no order. They know all records before the error, if there is one, and no others. Only
    /// after a [`RecordError`](super::RecordError) with several workers, a state may also know records after it.
    pub states: Vec<S>,
    /// How many records the task got.
    pub records: u64,
    /// The error that ended the run.
    pub invalid: Option<Invalid>,
    /// How many errors were skipped, before the one that ended the run.
    pub skipped: u64,
    /// The first of these.
    pub first_skipped: Option<Invalid>,
    /// Whether somebody stopped the run ([`Control::stop`](super::Control::stop)). The input may have ended all the same: where
    /// Ctrl-C stops a pipeline, it also ends the program that writes the input.
    pub is_partial: bool,
    /// Where the first record was that did not end on the line on which a block ended, so that one worker had to go on alone.
    pub spans_lines: Option<Spot>,
}

impl<S> Outcome<S> {
    /// Tells whether the task refused a record, so that the states may know records after it.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.invalid.as_ref().is_some_and(|invalid| invalid.kind == Kind::Refused)
    }
}

/// A place in an input, and what is wrong or worth telling there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The name of the input.
    pub input: String,
    /// Where, counted from the beginning of that input.
    pub place: Place,
    /// What is wrong there.
    pub what: String,
    /// Why that matters.
    pub kind: Kind,
}

/// A place whose line and column nobody has looked for yet.
#[derive(Clone, Debug)]
pub struct Spot {
    pub(super) origin: Option<Arc<Origin>>,
    /// Of a file, only the offset is right.
    pub(super) place: Place,
    pub(super) what: String,
    pub(super) kind: Kind,
}

impl Spot {
    /// Finds the line and column. For a regular file, this reads everything before the place once more.
    #[must_use]
    pub fn find(&self) -> Invalid {
        let origin = self.origin.as_ref();
        Invalid {
            input: origin.map_or(String::new(), |origin| origin.name.clone()),
            place: origin.and_then(|origin| origin.place(self.place.offset)).unwrap_or(self.place),
            what: self.what.clone(),
            kind: self.kind,
        }
    }
}

/// What an [`Invalid`] place is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The input is no JSON, or has a name twice where that is an error.
    Json,
    /// The input ends within a record, so there is nothing to go on with.
    Early,
    /// A record is longer than [`max_record`](super::Options::max_record).
    TooLong,
    /// The task refuses a record.
    Refused,
    /// Nothing is wrong, but the record goes on in the next block.
    GoesOn,
}

impl Kind {
    /// Returns what an error of the validator is about.
    pub(super) fn of(cause: Cause) -> Self {
        if cause == Cause::End { Self::Early } else { Self::Json }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.input, self.place, self.what)
    }
}

/// A failure that ended a run over records. `E` is the error of opening an input.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunError<E> {
    /// An input could not be opened.
    Open(E),
    /// Reading an input failed.
    Input(InputError),
    /// Writing the output failed.
    Output(OutputError),
    /// There was not enough memory for a block or record of this many bytes.
    Memory {
        /// Bytes that were asked for.
        bytes: usize,
    },
}

impl<E: fmt::Display> fmt::Display for RunError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Input(error) => error.fmt(f),
            Self::Output(error) => error.fmt(f),
            Self::Memory { bytes } => {
                write!(f, "not enough memory for a record of at least {bytes} bytes")
            }
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for RunError<E> {}

impl<E> From<InputError> for RunError<E> {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl<E> From<OutputError> for RunError<E> {
    fn from(error: OutputError) -> Self {
        Self::Output(error)
    }
}
