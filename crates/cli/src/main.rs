//! The program `fullbore`: reads arguments, calls the libraries and returns an exit status.
#![forbid(unsafe_code)]

// Records which descriptors and signal settings this program inherited, before Rust's runtime changes them.
use fullbore_before_main as _;

mod args;
mod commands;
mod exit;
mod flame_file;
mod live;
mod messages;
mod nearest;
mod report_file;
mod whole_file;

use std::process::ExitCode;

use crate::args::{Arguments, Task};

fn main() -> ExitCode {
    if let Some(done) = commands::sh::called() {
        return done.unwrap_or_else(|error| messages::failure(&error)).into();
    }
    if let Some(exit) = commands::lab::side() {
        return exit.into();
    }
    if let Some(done) = commands::version::verbose() {
        return done.unwrap_or_else(|error| messages::failure(&error)).into();
    }
    let arguments = match Arguments::read() {
        Ok(arguments) => arguments,
        Err(error) => return messages::usage(&error).into(),
    };
    let done = match arguments.task {
        Task::Run(options) => commands::run::run(options),
        Task::Attach(options) => commands::attach::run(options),
        Task::Top(options) => commands::top::run(&options),
        Task::Tune(options) => commands::tune::run(&options),
        Task::Sh(options) => commands::sh::run(&options),
        Task::WhatIf(options) => commands::what_if::run(&options),
        Task::Buffer(options) => commands::buffer::run(&options),
        Task::Par(options) => commands::par::run(&options),
        Task::Count(options) => commands::count::run(&options),
        Task::Morse(task) => commands::morse::run(&task),
        Task::Utf8(task) => commands::utf8::run(&task),
        Task::Json(task) => commands::json::run(&task),
        Task::Gen(options) => commands::generate::run(&options),
        Task::Load(task) => commands::reindexer::load(task),
        Task::Query(task) => commands::reindexer::query(task),
        Task::Gost(task) => commands::gost::run(&task),
        Task::Gather(options) => commands::gather::run(options),
        Task::Flame(task) => commands::flame::run(&task),
        Task::Doctor(options) => commands::doctor::run(&options),
        Task::Lab(options) => commands::lab::run(&options),
        Task::Replay { file } => commands::replay::run(&file),
        Task::LabEngine(options) => commands::lab::engine(&options),
        Task::LabStage(options) => commands::lab::stage(&options),
        Task::Completions { shell } => commands::documents::completions(shell),
        Task::Man { command, directory } => {
            commands::documents::man(&command, directory.as_deref())
        }
    };
    done.unwrap_or_else(|error| messages::failure(&error)).into()
}
