//! Everything that can happen to the view.

use fullbore_record::Snapshot;

use crate::TerminalSize;

/// What changes the [`State`](crate::State).
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The pipeline was looked at.
    Snapshot(&'a Snapshot),
    /// The terminal has this size (sent whether or not it changed).
    Resize(TerminalSize),
    /// The terminal belongs to someone else for a while (Ctrl-Z).
    Suspend,
    /// The terminal is ours again.
    Resume,
}
