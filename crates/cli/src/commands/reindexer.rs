//! `fullbore load` and `fullbore query`: the Python side takes the place of this process.
//!
//! It has the engine (pyreindexer) and does the work; `python/src/fullbore/reindexer/` is its source.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::ValueEnum;
use fullbore_process::{hand_on_closed_descriptors, hand_on_ignored_signals};

use crate::args::reindexer::{LoadOptions, LoadTask, QueryOptions, QueryTask};
use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// Names the interpreter, where it is not `python3`.
const PYTHON: &str = "FULLBORE_PYTHON";

/// Where the Python side finds this program.
const BINARY: &str = "FULLBORE";

/// `python -m fullbore.reindexer`, but never with a module from the current folder, and with a message if it is not there.
const START: &str = "\
import sys
if sys.path[:1] == ['']: del sys.path[0]
try: import fullbore.reindexer
except ImportError as error:
    if not (error.name or '').startswith('fullbore'): raise
    words = sys.argv[1] + ': the Python package fullbore is not installed for ' + sys.executable
    sys.stderr.write('fullbore: ' + words + '\\nhint: ' + sys.executable + \" -m pip install 'fullbore[reindexer]'\\n\")
    sys.exit(2)
import runpy
runpy.run_module('fullbore.reindexer', run_name='__main__', alter_sys=True)
";

/// Loads a stream into a database.
pub(crate) fn load(task: LoadTask) -> Result<Exit> {
    let LoadTask::Reindexer(options) = task;
    become_python("load", load_words(options))
}

/// Queries a database.
pub(crate) fn query(task: QueryTask) -> Result<Exit> {
    let QueryTask::Reindexer(options) = task;
    become_python("query", query_words(options))
}

fn load_words(options: LoadOptions) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut option = |name: &str, value: &OsStr| {
        let mut word = OsString::from(format!("--{name}="));
        word.push(value);
        words.push(word);
    };
    if let Some(path) = &options.pk {
        option("pk", path);
    }
    for indexes in &options.index {
        option("index", indexes);
    }
    if let Some(file) = &options.rejects {
        option("rejects", file.as_os_str());
    }
    option("batch", OsStr::new(&options.batch.to_string()));
    if let Some(jobs) = options.jobs {
        option("jobs", OsStr::new(&jobs.to_string()));
    }
    option("progress", &name_of(options.progress));
    if options.quiet {
        words.push("--quiet".into());
    }
    words.extend(["--".into(), options.database, options.namespace]);
    words
}

fn query_words(options: QueryOptions) -> Vec<OsString> {
    let mut format = OsString::from("--output=");
    format.push(name_of(options.output));
    vec![format, "--".into(), options.database, options.sql]
}

fn name_of(value: impl ValueEnum) -> OsString {
    value.to_possible_value().map(|value| value.get_name().into()).unwrap_or_default()
}

/// Python takes the place of this process: signals, standard input and output are its own then.
fn become_python(command: &str, words: Vec<OsString>) -> Result<Exit> {
    let program = env::current_exe().with_context(|| format!("{command}: finding this program"))?;
    let python = interpreter(&program);
    let mut process = Command::new(&python);
    process.args(["-c", START, command]).args(words).env(BINARY, program);
    hand_on_ignored_signals(&mut process);
    hand_on_closed_descriptors();
    let error = process.exec();
    let hint = match error.kind() {
        ErrorKind::NotFound => {
            "install Python, or give the path of its interpreter in FULLBORE_PYTHON"
        }
        _ => "",
    };
    Err(Failure {
        message: format!("{command}: {}: {}", python.display(), plain(&error)),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    }
    .into())
}

/// The interpreter: that of `$FULLBORE_PYTHON`, or the one that this program was installed with, or the first in `PATH`.
fn interpreter(program: &Path) -> PathBuf {
    if let Some(named) = env::var_os(PYTHON).filter(|named| !named.is_empty()) {
        return named.into();
    }
    let beside = program.with_file_name("python3");
    if beside.is_file() { beside } else { "python3".into() }
}
