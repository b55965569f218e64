//! `fullbore buffer`.

mod digest;
mod display;
mod failure;
mod files;
mod setup;
mod state;

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use anyhow::Result;
use fullbore_feed::buffer::{Buffer, Error, Event};
use fullbore_pipeline::die_of;
use signal_hook::consts::signal::{SIGINT, SIGUSR1};

use self::display::Display;
use self::failure::failure;
use self::state::End;
use crate::args::buffer::BufferOptions;
use crate::exit::Exit;
use crate::messages::{Failure, say};

/// An event for the main thread.
enum Message {
    Buffer(Event),
    Signal(i32),
}

/// Copies standard input to standard output through a queue.
pub(crate) fn run(options: &BufferOptions) -> Result<Exit> {
    if let Some((mistake, hint)) = options.mistake() {
        let message = format!("buffer: {mistake}");
        return Err(Failure { message, hint: hint.to_owned(), exit: Exit::NotDone }.into());
    }
    let (sender, messages) = channel();
    let for_signals = sender.clone();
    setup::listen(options.on_interrupt, move |signal| {
        for_signals.send(Message::Signal(signal)).is_ok()
    })?;
    let mut display = Display::new(options, setup::size(options));
    let buffer = setup::start(options, move |event| {
        // After the end was reported, nobody listens any more.
        let _ = sender.send(Message::Buffer(event));
    })?;
    let interval = display.is_wanted().then_some(options.interval);
    let mut interrupts = 0;
    let ended = loop {
        match next(&messages, interval) {
            None => display.show(&buffer),
            Some(Message::Buffer(Event::Ended(result))) => break result,
            Some(Message::Buffer(Event::SpillRefused(error))) => display.spill_refused(&error),
            Some(Message::Signal(SIGUSR1)) => display.print(&buffer),
            Some(Message::Signal(signal)) => {
                interrupts += 1;
                buffer.stop_reading();
                if interrupts > 1 {
                    die_of(signal);
                }
            }
            Some(Message::Buffer(_)) => {}
        }
    };
    end(ended, options, &buffer, &display, interrupts > 0)
}

/// The next message; `None` if it is time to show the state.
fn next(messages: &Receiver<Message>, interval: Option<Duration>) -> Option<Message> {
    match interval {
        // The signal thread keeps a sender forever, so the channel stays connected.
        None => messages.recv().ok(),
        Some(interval) => messages.recv_timeout(interval).ok(),
    }
}

fn end(
    ended: Result<(), Error>,
    options: &BufferOptions,
    buffer: &Buffer,
    display: &Display,
    was_interrupted: bool,
) -> Result<Exit> {
    let failed = match ended {
        Err(error) if error.is_reader_gone() => {
            display.finish(buffer, &End::default());
            return Ok(Exit::ReaderLeft);
        }
        Err(error) => Some(failure(&error, &buffer.status())),
        Ok(()) => None,
    };
    let error = failed.as_ref().map(|failure| failure.message.clone());
    let digest = match options.hash {
        Some(hash) if failed.is_none() => buffer.digest().map(|hex| (hash.name(), hex)),
        _ => None,
    };
    let end = End { digest, error };
    display.finish(buffer, &end);
    if let Some(failure) = failed {
        // A line of JSON has reported it.
        return if options.json { Ok(failure.exit) } else { Err(failure.into()) };
    }
    if let (false, Some(hash), Some((_, hex))) = (options.json, options.hash, &end.digest) {
        say(&digest::line(hash, hex, &options.name));
    }
    if was_interrupted {
        die_of(SIGINT);
    }
    Ok(Exit::Done)
}
