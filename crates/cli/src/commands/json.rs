//! `fullbore json`.

mod check;
mod each;
mod filter;
mod group;
mod keys;
mod paths;
mod records;
mod seen;
mod select;
mod sheet;
mod watch;

use anyhow::Result;

use crate::args::json::JsonTask;
use crate::exit::Exit;

/// Does one of the tasks.
pub(crate) fn run(task: &JsonTask) -> Result<Exit> {
    match task {
        JsonTask::Check(options) => check::run(options),
        JsonTask::Select(options) => select::run(options),
        JsonTask::Each(options) => each::run(options),
        JsonTask::Group(options) => group::run(options),
        JsonTask::Keys(options) => keys::run(options),
        JsonTask::Where(options) => filter::run(options),
    }
}
