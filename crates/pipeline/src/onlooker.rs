//! Who looks on while a pipeline runs.

use std::time::Duration;

use fullbore_record::Snapshot;

/// Someone who looks on while the pipeline runs.
pub trait Onlooker {
    /// How often [`Onlooker::show`] is called; `None`: never.
    fn interval(&self) -> Option<Duration>;
    /// Shows the record so far.
    fn show(&mut self, snapshot: &Snapshot);
    /// The run is about to be stopped (Ctrl-Z): leave the terminal as it was.
    fn pause(&mut self);
}

/// An onlooker that does not look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Onlooker for Nobody {
    fn interval(&self) -> Option<Duration> {
        None
    }

    fn show(&mut self, _: &Snapshot) {}

    fn pause(&mut self) {}
}
