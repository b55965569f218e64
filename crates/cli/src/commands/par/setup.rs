//! From arguments to a plan.

use std::ffi::OsString;
use std::fs::File;
use std::io::stdin;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::{Context, Result, anyhow};
use fullbore_feed::par::{
    BlockSize, Command, Joblog, Jobs, Missing, Options, Records, Source, StatusRule, Stop,
};
use fullbore_measure::Bytes;
use fullbore_pipe::Limits;
use fullbore_proc::{Root, available_memory, pipe_limits};
use fullbore_process::was_ignored;
use rustix::fs::{FileType, SeekFrom, fstat, seek};
use rustix::param::page_size;
use signal_hook::consts::signal::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{merge, program};
use crate::args::par::{Jobs as GivenJobs, ParOptions, StatusName};
use crate::args::prove::{Prove, prove};
use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// Blocks grow up to this size.
const MOST_BLOCK: Bytes = Bytes(32 << 20);

/// The window where memory is not short.
const MOST_WINDOW: u64 = 256 << 20;

/// The window of what nobody asked to deal out.
const MOST_AUTO_WINDOW: u64 = 64 << 20;

/// The window where it is.
const LEAST_WINDOW: u64 = 16 << 20;

/// The part of the available memory that the window takes at most.
const WINDOW_SHARE: u64 = 8;

/// Finds the command.
///
/// # Errors
/// As a shell: 127 if there is none, 126 if it cannot be executed.
pub(super) fn command(options: &ParOptions) -> Result<Command> {
    let words = match &options.line {
        Some(line) => vec![OsString::from("sh"), OsString::from("-c"), line.clone()],
        None => options.command.clone(),
    };
    let name = words.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    program::find(words).map_err(|missing| {
        let (cause, hint, exit) = match missing {
            Missing::NotFound => ("command not found", hint_of(&name, options), Exit::NotFound),
            Missing::NotExecutable => ("it cannot be executed", String::new(), Exit::CannotExecute),
        };
        let message = format!("par: {name}: {cause}");
        Failure { message, hint, exit }.into()
    })
}

/// What to try where there is no such command.
fn hint_of(name: &str, options: &ParOptions) -> String {
    if name.contains(' ') {
        return "give a line for the shell with -c 'LINE'".to_owned();
    }
    if options.prove.is_some() && prove(name).is_ok() {
        return format!("write --prove={name}, with =; otherwise {name} is taken for the command");
    }
    String::new()
}

/// What is dealt out: a file, standard input, or the rest of a file on standard input.
pub(super) fn source(options: &ParOptions) -> Result<Source> {
    if let Some(path) = &options.arg_file {
        let named =
            |error: std::io::Error| anyhow!("par: reading: {}: {}", path.display(), plain(&error));
        let file = File::open(path).map_err(named)?;
        let kind = file.metadata().map_err(named)?.file_type();
        if kind.is_dir() {
            return Err(anyhow!("par: reading: {}: Is a directory", path.display()));
        }
        return Ok(if kind.is_file() {
            Source::File(file, 0)
        } else {
            Source::Stream(file.into())
        });
    }
    let input = stdin().as_fd().try_clone_to_owned().context("par: reading standard input")?;
    let stat = fstat(&input).context("par: reading standard input")?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Ok(Source::Stream(input));
    }
    let from = seek(&input, SeekFrom::Current(0)).context("par: reading standard input")?;
    // Who reads on after us finds the end, as after cat.
    seek(&input, SeekFrom::End(0)).context("par: reading standard input")?;
    Ok(Source::File(File::from(input), from))
}

/// Everything else.
pub(super) fn plan(options: &ParOptions) -> Result<Options> {
    let most = if options.auto { MOST_AUTO_WINDOW } else { MOST_WINDOW };
    let jobs = jobs(options);
    // What is proved takes a quarter of it.
    let most = match options.prove {
        Some(Prove::First(bytes)) => most.max(bytes.0 * 4),
        _ => most,
    };
    let window = options.window.unwrap_or_else(|| default_window(most));
    let block = match (options.records, options.block) {
        (Some(records), _) => BlockSize::Records(records),
        (None, Some(bytes)) => {
            if bytes > window {
                let message = format!("par: --block {bytes} is larger than --window {window}");
                let hint = "blocks wait in the window; give a larger one".to_owned();
                return Err(Failure { message, hint, exit: Exit::NotDone }.into());
            }
            BlockSize::Bytes(bytes)
        }
        (None, None) => {
            // Each copy has a block; some more are being read, or wait.
            let parts = (jobs.most() as u64 + 4).max(8);
            BlockSize::Fitting(Bytes(MOST_BLOCK.0.min(window.0 / parts).max(1)))
        }
    };
    let records = records(options);
    let known = merge::plan(options, &records)?;
    let status = match options.status {
        StatusName::Auto => known.status,
        StatusName::Last => StatusRule::Last,
        StatusName::All => StatusRule::All,
        StatusName::Any => StatusRule::Any,
        StatusName::Max => StatusRule::Max,
    };
    let limits = pipe_limits(&Root::system());
    Ok(Options {
        records,
        block,
        header_lines: known.header_lines,
        jobs,
        window,
        is_unordered: options.unordered,
        merge: known.merge,
        status,
        halt: options.halt.0,
        retries: options.retries,
        joblog: joblog(options)?,
        proved: proved(options)?,
        caution: None,
        pipe_limits: Limits::from_settings(
            limits.max_bytes,
            limits.user_pages_soft,
            page_size() as u64,
        ),
    })
}

fn records(options: &ParOptions) -> Records {
    let recend = options.recend.clone().map(|mark| mark.0);
    let recstart = options.recstart.clone().map(|mark| mark.0);
    match (recend, recstart) {
        (Some(end), Some(start)) => Records::Between(end, start),
        (Some(end), None) => match *end.as_slice() {
            [byte] => Records::EndByte(byte),
            _ => Records::End(end),
        },
        (None, Some(start)) => Records::Start(start),
        (None, None) => {
            Records::EndByte(options.delimiter.unwrap_or(if options.null { 0 } else { b'\n' }))
        }
    }
}

fn jobs(options: &ParOptions) -> Jobs {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    match options.jobs {
        None => Jobs::UpTo(cpus),
        Some(GivenJobs::Exactly(count)) => Jobs::Exactly(count),
        Some(GivenJobs::Percent(percent)) => {
            #[expect(clippy::cast_possible_truncation, reason = "a number of processes")]
            let count = (cpus as f64 * percent / 100.0).round() as usize;
            Jobs::Exactly(count.max(1))
        }
    }
}

fn joblog(options: &ParOptions) -> Result<Option<Joblog>> {
    let Some(path) = &options.joblog else { return Ok(None) };
    let named =
        |error: std::io::Error| anyhow!("par: writing: {}: {}", path.display(), plain(&error));
    let file = File::create(path).map_err(named)?;
    Joblog::begin(file).map(Some).map_err(named)
}

/// What `par` itself proves.
fn proved(options: &ParOptions) -> Result<Option<Bytes>> {
    match options.prove {
        Some(Prove::First(bytes)) => Ok(Some(bytes)),
        Some(Prove::All) if !options.auto => {
            let message = "par: --prove=all: outputs that wait must fit into memory".to_owned();
            let hint = "give a size up to 256M".to_owned();
            Err(Failure { message, hint, exit: Exit::NotDone }.into())
        }
        _ => Ok(None),
    }
}

/// This many bytes, or an eighth of the available memory where that is less.
fn default_window(most: u64) -> Bytes {
    let available = available_memory(&Root::system(), Path::new("/sys/fs/cgroup"));
    let share = available.map_or(most, |bytes| bytes / WINDOW_SHARE);
    Bytes(share.clamp(LEAST_WINDOW, most.max(LEAST_WINDOW)))
}

/// Hands signals that end the program to the copies first. Those that are ignored (nohup) stay so.
pub(super) fn listen(stop: Stop) -> Result<()> {
    let wanted = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !was_ignored(*signal));
    let mut signals = Signals::new(wanted).context("par: listening for signals")?;
    let listen = move || signals.forever().for_each(|signal| stop.stop(signal));
    if was_ignored(SIGCHLD) {
        // Linux would throw the exit statuses of the copies away.
        let nothing = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(SIGCHLD, nothing).context("par: listening for signals")?;
    }
    let thread = thread::Builder::new().name("signals".to_owned());
    thread.spawn(listen).context("par: starting a thread")?;
    Ok(())
}
