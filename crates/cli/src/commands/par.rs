//! `fullbore par`.

mod answer;
mod auto;
mod both_ways;
mod failure;
mod fused;
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
    if options.auto {
        return auto::run(options);
    }
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
    let mut telling = Telling { name, more: 0, told: 0 };
    let tell = |event| telling.tell(event);
    let ended = par(&command, source, stdout(), stderr(), plan, &stop, tell);
    telling.end();
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

/// Names the copies that failed: the first few each in a line of its own.
struct Telling {
    name: String,
    more: u64,
    told: u64,
}

/// So many copies have a line of their own.
const MOST_TOLD: u64 = 10;

impl Telling {
    fn tell(&mut self, event: Event) {
        let (block, status, is_tried_again) = match event {
            Event::Failed { block, status, is_tried_again } => (block, status, is_tried_again),
            Event::Differs(at) => {
                let name = &self.name;
                let message = format!(
                    "par: {name}: dealt out, the output is not that of one run, from byte {} on",
                    at + 1
                );
                complain(&message, "one copy goes on with everything");
                return;
            }
            _ => return,
        };
        if self.told == MOST_TOLD {
            self.more += 1;
            return;
        }
        self.told += 1;
        let then = if is_tried_again { "; trying the block again" } else { "" };
        complain(&format!("par: block {block}: {} {status}{then}", self.name), "");
    }

    fn end(&self) {
        if self.more > 0 {
            let more = self.more;
            complain(
                &format!("par: {more} more copies of {} were killed or failed", self.name),
                "",
            );
        }
    }
}
