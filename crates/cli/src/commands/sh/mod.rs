//! `fullbore sh`: the real shell, and a record of what it did.

mod folder;
mod real;
mod words;

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use fullbore_pipeline::{Command, Error, Nobody, Options, Tuning, run as run_pipeline};
use fullbore_process::{hand_on_closed_descriptors, hand_on_ignored_signals};
use rustix::process::{child_subreaper, set_child_subreaper};

use self::folder::{Folder, complain_once};
use self::real::{Places, Shell, of_link};
use self::words::{Asked, asked};
use crate::args::sh::ShOptions;
use crate::commands::run::{end, job};
use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// Where records go.
const RECORDS: &str = "FULLBORE_RECORDS";
/// The real shell.
const SHELL: &str = "FULLBORE_SHELL";
/// Whether pipes stay as they are.
const NO_TUNE: &str = "FULLBORE_NO_TUNE";

/// Is the shell, if this program was started as one: as `fullbore sh`, or by a link with the name of a shell. Every job of a
/// workflow comes through here, so nothing is done before that one of them does not need.
pub(crate) fn called() -> Option<Result<Exit>> {
    let mut words = std::env::args_os();
    let name = words.next()?;
    let words: Vec<OsString> = words.collect();
    let options = match of_link(&name) {
        // FULLBORE_SHELL says which sh is meant.
        Some(shell) => {
            let shell = Some(shell).filter(|shell| shell != "sh");
            ShOptions { shell, scripts: false, words }
        }
        None => match words.split_first() {
            Some((first, rest)) if first == "sh" => ShOptions::of_words(rest)?,
            _ => return None,
        },
    };
    let is_login = name.as_encoded_bytes().starts_with(b"-");
    Some(run_as(&options, is_login))
}

/// Runs a job and leaves a record of it, or lets the real shell take the place of this program.
pub(crate) fn run(options: &ShOptions) -> Result<Exit> {
    run_as(options, false)
}

/// The same; a shell whose name begins with `-` is a login shell.
fn run_as(options: &ShOptions, is_login: bool) -> Result<Exit> {
    let wanted = options.shell.clone().or_else(|| variable(SHELL));
    let found = Places::of_this_process().find(wanted.as_deref()).ok_or_else(no_shell)?;
    let shell = if is_login { found.for_login() } else { found };
    let line = match asked(&options.words) {
        Asked::Line(place) => Some(place),
        Asked::Script if options.scripts => None,
        _ => return become_shell(&shell, &options.words),
    };
    let Some(path) = variable(RECORDS).map(PathBuf::from) else {
        return become_shell(&shell, &options.words);
    };
    // Nothing can be seen without /proc.
    if !Path::new("/proc/self/fd").exists() {
        return become_shell(&shell, &options.words);
    }
    match Folder::open(&path) {
        Ok(folder) => watch(&shell, options, line, (&path, &folder)),
        Err(error) => {
            complain_once(&path, &error);
            become_shell(&shell, &options.words)
        }
    }
}

fn watch(
    shell: &Shell,
    options: &ShOptions,
    line: Option<usize>,
    (path, folder): (&Path, &Folder),
) -> Result<Exit> {
    let command = Command::Shell {
        shell: shell.program.clone(),
        name: shell.name.clone(),
        words: options.words.clone(),
        line,
    };
    let mut watching = Options::default();
    watching.tuning = if variable(NO_TUNE).is_some() { Tuning::Off } else { Tuning::Auto };
    watching.remember_in = variable("XDG_RUNTIME_DIR").map(PathBuf::from);
    watching.job = job();
    let adopted = child_subreaper();
    match run_pipeline(&command, watching, &mut Nobody) {
        Ok(finished) => {
            // The job has ended: whether there is a record must not change its status.
            if let Err(error) = folder.write(&finished.record) {
                complain_once(path, &error);
            }
            Ok(end(&finished))
        }
        // The shell may have started, and must not run twice.
        Err(Error::Wait(error)) => Err(Failure {
            message: format!("sh: waiting for the shell: {}", plain(&error)),
            hint: String::new(),
            exit: Exit::RunFailed,
        }
        .into()),
        // A limit on memory or processes leaves no room for watching; perhaps it leaves room for the shell.
        Err(_) => {
            // The run has set it, and the shell would keep it.
            let _ = set_child_subreaper(adopted.ok().flatten());
            become_shell(shell, &options.words)
        }
    }
}

/// The shell takes the place of this process, which is then as if it had never been there.
fn become_shell(shell: &Shell, words: &[OsString]) -> Result<Exit> {
    let mut process = std::process::Command::new(&shell.program);
    process.arg0(&shell.name).args(words);
    hand_on_ignored_signals(&mut process);
    hand_on_closed_descriptors();
    let error = process.exec();
    Err(not_executed(shell, &error).into())
}

fn not_executed(shell: &Shell, error: &io::Error) -> Failure {
    Failure {
        message: format!("sh: {}: {}", shell.program.display(), plain(error)),
        hint: "--shell or FULLBORE_SHELL names the real shell, such as bash or /bin/dash"
            .to_owned(),
        exit: match error.kind() {
            ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::CannotExecute,
        },
    }
}

fn no_shell() -> Failure {
    Failure {
        message: "sh: every shell that could be meant is fullbore itself".to_owned(),
        hint: "give the path of the real shell in FULLBORE_SHELL, such as /bin/dash".to_owned(),
        exit: Exit::CannotExecute,
    }
}

/// A variable of the environment that is set and not empty.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
