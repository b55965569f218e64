//! Records that cannot be replayed.

use std::fmt;

use fullbore_record::{RunRecord, SCHEMA};

/// Why a record cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// It is of another schema, or names none.
    Schema(String),
    /// fullbore began to watch after the start of the run.
    NotFromTheStart,
    /// It contains no stage that ran.
    NoStages,
    /// It does not say what its stages did over time.
    NoTimeline,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema(found) => {
                write!(f, "the record's schema is '{found}', not '{SCHEMA}'")
            }
            Self::NotFromTheStart => {
                f.write_str("the record does not contain the beginning of the run")
            }
            Self::NoStages => f.write_str("the record contains no stage"),
            Self::NoTimeline => {
                f.write_str("the record has no timeline, so the run cannot be replayed")
            }
        }
    }
}

impl std::error::Error for Error {}

/// Whether a record contains what a replay needs.
pub(crate) fn check(record: &RunRecord) -> Result<(), Error> {
    let timeline = &record.timeline;
    if record.schema != SCHEMA {
        return Err(Error::Schema(record.schema.clone()));
    }
    if record.attached_at_ns.is_some_and(|at_ns| at_ns > 0) {
        return Err(Error::NotFromTheStart);
    }
    if record.stages.is_empty() {
        return Err(Error::NoStages);
    }
    let has_steps = timeline.stages.iter().any(|stage| {
        stage.running.iter().chain(&stage.blocked_other).any(|percent| *percent > 0.0)
    });
    if timeline.step_ns == 0 || !has_steps || record.elapsed_ns == 0 {
        return Err(Error::NoTimeline);
    }
    Ok(())
}
