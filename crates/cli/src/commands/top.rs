//! `fullbore top`.

mod screen;
mod which;

use std::io::{self, IsTerminal, Write, stdin, stdout};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use fullbore_dash::Palette;
use fullbore_pipeline::Survey;
use fullbore_report::text;

use self::which::narrowed;
use super::run::style_of;
use super::stage::refuse_closed_output;
use crate::args::top::TopOptions;
use crate::exit::Exit;

/// Shows every pipeline, on the whole screen or as text.
pub(crate) fn run(options: &TopOptions) -> Result<Exit> {
    let prints = options.batch || options.json || options.once || options.iterations.is_some();
    let variable = |name: &str| std::env::var_os(name);
    let palette =
        Palette::suiting(variable("TERM").as_deref(), variable("NO_COLOR").as_deref()).ok();
    match palette {
        Some(palette) if !prints && stdout().is_terminal() && stdin().is_terminal() => {
            screen::run(options, palette)
        }
        _ => print(options),
    }
}

/// Prints what is seen, again and again.
fn print(options: &TopOptions) -> Result<Exit> {
    refuse_closed_output("top")?;
    let mut survey = Survey::new(options.delay.min(Duration::from_secs(1)));
    let times = if options.once { Some(1) } else { options.iterations };
    let mut printed = 0;
    while times.is_none_or(|times| printed < times) {
        watch(&mut survey, Instant::now() + options.delay);
        let overview = narrowed(survey.overview(), options);
        let text = if options.json {
            serde_json::to_string(&overview)? + "\n"
        } else {
            let gap = if printed > 0 { "\n" } else { "" };
            gap.to_owned() + &text::overview(&overview, options.which.idle, style_of(&stdout()))
        };
        match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::ReaderLeft),
            written => written.context("top: writing standard output")?,
        }
        printed += 1;
    }
    Ok(Exit::Done)
}

fn watch(survey: &mut Survey, until: Instant) {
    while Instant::now() < until {
        let due = survey.step().min(until);
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    survey.take_stock();
}
