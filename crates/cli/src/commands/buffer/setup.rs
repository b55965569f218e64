//! Starts a buffer from its arguments.

use std::io::{stdin, stdout};
use std::os::fd::AsFd;
use std::thread;

use anyhow::{Context, Result};
use fullbore_feed::buffer::{Buffer, Event, LEAST_LIMIT, Options, Status, Watermarks};
use fullbore_measure::Bytes;
use fullbore_pipe::Limits;
use fullbore_proc::{Root, pipe_limits};
use fullbore_process::was_ignored;
use rustix::fs::{FileType, SeekFrom, fstat, seek};
use rustix::param::page_size;
use signal_hook::consts::signal::{SIGINT, SIGUSR1};
use signal_hook::iterator::Signals;

use super::failure::failure;
use super::files;
use crate::args::buffer::{BufferOptions, OnInterrupt};
use crate::commands::stage::{refuse_closed_input, refuse_closed_output};

/// Starts the buffer between standard input and standard output.
pub(crate) fn start(
    options: &BufferOptions,
    on_event: impl Fn(Event) + Send + Sync + 'static,
) -> Result<Buffer> {
    refuse_closed_input("buffer")?;
    refuse_closed_output("buffer")?;
    let copies = files::open(&options.output)?;
    let wanted = Options {
        limit: options.memory.unwrap_or_else(default_memory),
        watermarks: Watermarks { start_percent: options.start, stop_percent: options.stop },
        rate: options.rate_limit,
        hash: options.hash.map(crate::args::buffer::HashName::hash),
        copies,
        spill: options.spill.clone(),
        pipe_limits: limits(),
    };
    let input = stdin().as_fd().try_clone_to_owned().context("buffer: reading standard input")?;
    let output =
        stdout().as_fd().try_clone_to_owned().context("buffer: writing standard output")?;
    Buffer::start(input, output, wanted, on_event)
        .map_err(|error| failure(&error, &Status::default()).into())
}

/// A quarter of the available memory, at most 1 GiB.
fn default_memory() -> Bytes {
    const MOST: u64 = 1 << 30;
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    Bytes(number.map_or(LEAST_LIMIT.0 << 10, |kib| (kib << 10) / 4).clamp(LEAST_LIMIT.0, MOST))
}

fn limits() -> Limits {
    let known = pipe_limits(&Root::system());
    Limits::from_settings(known.max_bytes, known.user_pages_soft, page_size() as u64)
}

/// The size of the stream: as given by the user, or the rest of a file on standard input.
pub(crate) fn size(options: &BufferOptions) -> Option<Bytes> {
    if options.size.is_some() {
        return options.size;
    }
    let stat = fstat(stdin()).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return None;
    }
    let here = seek(stdin(), SeekFrom::Current(0)).ok()?;
    Some(Bytes(u64::try_from(stat.st_size).ok()?.saturating_sub(here)))
}

/// Calls `on_signal` for each signal that has a meaning, until it returns `false`.
pub(crate) fn listen(
    on_interrupt: OnInterrupt,
    on_signal: impl Fn(i32) -> bool + Send + 'static,
) -> Result<()> {
    let mut wanted = vec![SIGUSR1];
    // Without a handler, Ctrl-C kills buffer as it kills cat. If the signal is ignored (nohup, &), it stays ignored.
    if on_interrupt == OnInterrupt::Drain && !was_ignored(SIGINT) {
        wanted.push(SIGINT);
    }
    let mut signals = Signals::new(wanted).context("buffer: listening for signals")?;
    let listen = move || {
        for signal in signals.forever() {
            if !on_signal(signal) {
                break;
            }
        }
    };
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(listen)
        .context("buffer: starting a thread")?;
    Ok(())
}
