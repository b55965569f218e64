//! `fullbore par`.

mod failure;
mod merge;
mod program;
mod setup;

use std::io::{stderr, stdout};

use anyhow::Result;
use fullbore_feed::par::{Ended, Event, Stop, par};
use fullbore_pipeline::die_of;

use self::failure::failure;
use crate::args::par::ParOptions;
use crate::commands::stage::{refuse_closed_input, refuse_closed_output};
use crate::exit::Exit;
use crate::messages::complain;

/// Deals standard input or a file out to copies of a command.
pub(crate) fn run(options: &ParOptions) -> Result<Exit> {
    // Before anything is read: what cannot work must lose nothing.
    let command = setup::command(options)?;
    refuse_closed_output("par")?;
    if options.arg_file.is_none() {
        refuse_closed_input("par")?;
    }
    let plan = setup::plan(options)?;
    let source = setup::source(options)?;
    let stop = Stop::new()?;
    setup::listen(stop.clone())?;
    let name = command.words()[0].to_string_lossy().into_owned();
    let window = plan.window;
    let ended = par(&command, source, stdout(), stderr(), plan, &stop, |event| tell(&name, event));
    match ended {
        Ok(Ended::Done(status) | Ended::Halted(status)) => Ok(Exit::Child(status)),
        Ok(Ended::Stopped(signal)) => {
            die_of(signal);
            Ok(Exit::NotDone)
        }
        Ok(_) => Ok(Exit::ReaderLeft),
        Err(error) => Err(failure(&error, options, window).into()),
    }
}

fn tell(name: &str, event: Event) {
    let Event::Failed { block, status, is_tried_again } = event else { return };
    let how = match status.signal {
        Some(signal) => format!("was killed by signal {signal}"),
        None => format!("failed with status {}", status.code),
    };
    let then = if is_tried_again { "; trying the block again" } else { "" };
    complain(&format!("par: block {block}: {name} {how}{then}"), "");
}
