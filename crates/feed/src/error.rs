//! Errors that end a stage early.

use std::fmt;

use fullbore_pipe::OutputError;

use crate::InputError;

/// A stage that did not reach the end of its input.
#[derive(Debug)]
#[non_exhaustive]
pub enum FeedError<E> {
    /// Reading the input failed.
    Input(InputError),
    /// The input is malformed; everything before it was written.
    Codec(E),
    /// Writing the output failed.
    Output(OutputError),
    /// There was not enough memory for the pieces in progress.
    Memory(std::io::Error),
}

impl<E> FeedError<E> {
    /// Tells whether the output's reader left. A stage then ends silently, as `cat` does.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.is_broken_pipe())
    }
}

impl<E: fmt::Display> fmt::Display for FeedError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Codec(error) => error.fmt(f),
            Self::Output(error) => error.fmt(f),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl<E: std::error::Error + 'static> std::error::Error for FeedError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input(error) => error.source(),
            Self::Codec(error) => error.source(),
            Self::Output(error) => error.source(),
            Self::Memory(error) => error.source(),
        }
    }
}

impl<E> From<InputError> for FeedError<E> {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl<E> From<OutputError> for FeedError<E> {
    fn from(error: OutputError) -> Self {
        Self::Output(error)
    }
}
