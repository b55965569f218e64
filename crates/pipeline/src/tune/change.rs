//! What the tuner asks for, and what became of it.

use fullbore_measure::Bytes;
use fullbore_pipe::Limits;
use serde::{Deserialize, Serialize};

use crate::topology::pipes::PipeKey;
use crate::tune::trial::Trial;

/// What may be done to pipes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tuning {
    /// Nothing.
    Off,
    /// Grow a pipe when both its sides starve in turn; put it back when that did not help.
    #[default]
    Auto,
    /// Give every pipe this capacity as soon as it is seen.
    Fixed(Bytes),
}

/// A change the tuner wants.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) pipe: PipeKey,
    pub(crate) to: Bytes,
    pub(crate) why: Why,
    /// Only if the user's pipes may take this much more.
    pub(crate) room: Option<Room>,
}

/// How much more all pipes of the user, those of other programs included, must be able to take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) more: Bytes,
    pub(crate) limits: Limits,
}

/// Why the tuner wants a change.
#[derive(Clone, Debug)]
pub(crate) enum Why {
    /// To see whether it helps. The capacity now is `now_at`; a pipe on trial was smaller before.
    Grow { trial: Trial, now_at: Bytes },
    /// Growing did not help.
    PutBack { trial: Trial, grown: Bytes, reason: String },
    /// The user asked for this size.
    Fix { from: Bytes },
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The capacity is this now.
    Granted(Bytes),
    /// Linux said no, in these words.
    Refused(String),
    /// The user's pipes have not the room that the change was to leave.
    Crowded,
    /// Nobody holds the pipe any more.
    Gone,
    /// The other side of the pipe cannot be seen, so its size could not be put back.
    Unseen,
}
