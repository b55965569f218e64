//! Changing one pipe because somebody says so.

use std::fmt;

use fullbore_measure::Bytes;
use fullbore_pipe::{Limits, PipeId, capacity, is_room_for, set_capacity};

use crate::sampler::ask;
use crate::topology::pipes::Pipe;

/// What a change must leave of the pages that all pipes of the user may take: a quarter, as in a run.
const LEFT_FREE: u64 = 4;

/// A pipe whose capacity was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Adjusted {
    /// Number of the pipe in the record.
    pub pipe: u32,
    /// Which pipe that is.
    pub id: PipeId,
    /// The capacity it had.
    pub from: Bytes,
    /// The capacity it has.
    pub to: Bytes,
}

/// Why a pipe keeps its capacity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AdjustError {
    /// The pipeline has no pipe of this number.
    NoPipe(u32),
    /// Nobody holds an end of it that can be opened.
    Gone(u32),
    /// Linux refuses, in these words.
    Refused(u32, String),
    /// The user's pipes would leave less than a quarter of what they may take to other programs.
    Crowded(u32),
}

impl fmt::Display for AdjustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPipe(pipe) => write!(f, "pipe {pipe}: the pipeline has no such pipe"),
            Self::Gone(pipe) => {
                write!(f, "pipe {pipe}: no process holds an end that could be opened")
            }
            Self::Refused(pipe, why) => write!(f, "pipe {pipe}: Linux refuses: {why}"),
            Self::Crowded(pipe) => write!(
                f,
                "pipe {pipe}: less than a quarter of what all pipes of this user may take would be left \
                 (see /proc/sys/fs/pipe-user-pages-soft)"
            ),
        }
    }
}

impl std::error::Error for AdjustError {}

/// Gives a pipe a capacity; Linux rounds it up to a power of two of pages.
///
/// # Errors
/// When it keeps the old one.
pub(crate) fn adjust(
    number: u32,
    pipe: &Pipe,
    to: Bytes,
    limits: Limits,
) -> Result<Adjusted, AdjustError> {
    let from = ask(pipe, |fd| capacity(fd).ok()).ok_or(AdjustError::Gone(number))?;
    if let Some(soft) = limits.user_soft.filter(|_| to > from)
        && !is_room_for(Bytes((to.0 - from.0).saturating_add(soft.0 / LEFT_FREE)), limits)
    {
        return Err(AdjustError::Crowded(number));
    }
    match ask(pipe, |fd| Some(set_capacity(fd, to))) {
        Some(Ok(to)) => Ok(Adjusted { pipe: number, id: pipe.id, from, to }),
        Some(Err(refused)) => Err(AdjustError::Refused(number, refused.to_string())),
        None => Err(AdjustError::Gone(number)),
    }
}
