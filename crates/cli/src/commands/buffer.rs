//! `fullbore buffer`.

mod display;
mod failure;
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
use crate::args::buffer::BufferOptions;
use crate::exit::Exit;
use crate::messages::{complain, plain, say};

/// What the main thread waits for.
enum Message {
    Buffer(Event),
    Signal(i32),
}

/// Copies standard input to standard output through a queue.
pub(crate) fn run(options: &BufferOptions) -> Result<Exit> {
    let (sender, messages) = channel();
    let for_signals = sender.clone();
    setup::listen(options.on_interrupt, move |signal| {
        for_signals.send(Message::Signal(signal)).is_ok()
    })?;
    let mut display = Display::new(options, setup::size(options));
    let buffer = setup::start(options, move |event| {
        // Nobody listens any more when the end was reported.
        let _ = sender.send(Message::Buffer(event));
    })?;
    let interval = display.is_wanted().then_some(options.interval);
    let mut interrupts = 0;
    let ended = loop {
        match next(&messages, interval) {
            None => display.show(&buffer),
            Some(Message::Buffer(Event::Ended(result))) => break result,
            Some(Message::Buffer(Event::SpillRefused(error))) => complain(
                &format!("buffer: writing the spill file: {}", plain(&error)),
                "nothing is lost; the producer waits until the consumer has made room",
            ),
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
    display.finish(&buffer);
    end(ended, options, &buffer, interrupts > 0)
}

/// The next message; `None` when it is time to show something.
fn next(messages: &Receiver<Message>, interval: Option<Duration>) -> Option<Message> {
    match interval {
        // The signals' thread holds a sender for good: it cannot be disconnected.
        None => messages.recv().ok(),
        Some(interval) => messages.recv_timeout(interval).ok(),
    }
}

fn end(
    ended: Result<(), Error>,
    options: &BufferOptions,
    buffer: &Buffer,
    was_interrupted: bool,
) -> Result<Exit> {
    match ended {
        Err(error) if error.is_reader_gone() => return Ok(Exit::ReaderLeft),
        Err(error) => return Err(failure(&error, &buffer.look()).into()),
        Ok(()) => {}
    }
    if let (Some(hash), Some(digest)) = (options.hash, buffer.digest()) {
        say(&format!("{} {digest}  {}\n", hash.name(), name_or_dash(options)));
    }
    if was_interrupted {
        die_of(SIGINT);
    }
    Ok(Exit::Done)
}

fn name_or_dash(options: &BufferOptions) -> &str {
    if options.name.is_empty() { "-" } else { &options.name }
}
