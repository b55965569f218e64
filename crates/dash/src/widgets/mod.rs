//! The parts of the view, each a ratatui widget that draws in whatever area it is given.

mod activity_bar;
mod cells;
mod header;
mod pipe_gauge;
mod stage_line;
mod verdict;

pub(crate) use header::Header;
pub(crate) use stage_line::{StageLine, Titles};
pub(crate) use verdict::VerdictLines;
