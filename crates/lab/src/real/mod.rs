//! The executor that starts processes: each trial is a process group of its own, ended when its time is over.

mod output;
mod peaks;
mod process;

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use crate::executor::{Executor, Missing, Program, Purpose, Trial};
use crate::suite::{AnswerFrom, Need, Sink, TimeFrom};
use crate::{EngineError, Job, Side, TrialResult};

use self::output::{Drain, last_line, text_of};
use self::process::{Ended, Watch, wait};

pub use self::process::versions;
pub(crate) use self::process::{is_installed, said_version};

/// Time after which a setup line or a check of a need is given up.
const SETUP_LIMIT: Duration = Duration::from_secs(600);

/// Time after which a check of a need is given up.
const CHECK_LIMIT: Duration = Duration::from_secs(20);

/// Starts real processes.
#[derive(Debug)]
pub struct Real {
    fullbore: PathBuf,
    folder: PathBuf,
    stop: Arc<AtomicBool>,
    began: Instant,
}

impl Real {
    /// An executor that runs built-in engines as `fullbore lab-engine JOB` in `folder`, and ends a trial when `stop`
    /// becomes true.
    #[must_use]
    pub fn new(fullbore: &Path, folder: &Path, stop: Arc<AtomicBool>) -> Self {
        let (fullbore, folder) = (fullbore.to_owned(), folder.to_owned());
        Self { fullbore, folder, stop, began: Instant::now() }
    }

    fn shell(&self, line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        self.placed(command)
    }

    /// In the scratch folder, in a process group of its own, without input.
    fn placed(&self, mut command: Command) -> Command {
        command.current_dir(&self.folder).process_group(0).stdin(Stdio::null());
        command.env("LC_ALL", "C");
        command
    }

    fn built_in(&self, job: &Job, limit: Duration) -> Result<TrialResult, EngineError> {
        let failed = |what: &str, error: &dyn std::fmt::Display| {
            EngineError::Failed(format!("{what}: {error}"))
        };
        let job = serde_json::to_string(job).map_err(|error| failed("writing the job", &error))?;
        let mut command = Command::new(&self.fullbore);
        command.arg("lab-engine").arg(job);
        let mut command = self.placed(command);
        let file = || tempfile::tempfile().map_err(|error| failed("a temporary file", &error));
        let (out, errors) = (file()?, file()?);
        hand(&mut command, &out, &errors).map_err(|error| failed("a temporary file", &error))?;
        let ended = wait(&mut command, limit, &self.stop, Watch::End)
            .map_err(|error| failed("starting fullbore lab-engine", &error))?;
        match serde_json::from_str::<Result<TrialResult, EngineError>>(text_of(&out).trim()) {
            Ok(Ok(sample)) if ended.is_success() => Ok(with_process(sample, &ended)),
            Ok(Err(error)) => Err(error),
            _ => Err(EngineError::Failed(ended.story(&last_line(&errors)))),
        }
    }

    fn program(
        &self,
        command: Command,
        trial: &Trial,
        limit: Duration,
    ) -> Result<TrialResult, EngineError> {
        let mut command = self.placed(command);
        let failed = |error: std::io::Error| EngineError::Failed(process::plain(&error));
        let errors = tempfile::tempfile().map_err(failed)?;
        command.stderr(errors.try_clone().map_err(failed)?);
        let from = match trial.purpose {
            Purpose::Check(from) => Some(from),
            Purpose::Time => None,
        };
        let drain = match (from, trial.sink) {
            (Some(AnswerFrom::Digest), _) => Drain::digest(&mut command),
            (Some(AnswerFrom::Count), _) => Drain::count(&mut command),
            (Some(AnswerFrom::Text), _) => Drain::text(&mut command),
            (None, _) if trial.time_from == TimeFrom::Output => Drain::text(&mut command),
            (None, Sink::Pipe) => Drain::discard(&mut command),
            (None, Sink::Null) => Drain::nothing(&mut command),
        }
        .map_err(failed)?;
        let watch = if from.is_some() { Watch::Peaks } else { Watch::End };
        let ended = wait(&mut command, limit, &self.stop, watch).map_err(failed)?;
        drop(command); // it holds the write end of the output
        let mut answer = drain.finish();
        if !ended.is_success() {
            return Err(EngineError::Failed(ended.story(&last_line(&errors))));
        }
        let mut elapsed_ns = ended.elapsed_ns;
        if trial.time_from == TimeFrom::Output && trial.purpose == Purpose::Time {
            let said = answer.take().unwrap_or_default();
            elapsed_ns = seconds_in(&said).ok_or_else(|| {
                EngineError::Failed(format!(
                    "it did not say how many seconds it took, but '{said}'"
                ))
            })?;
        }
        Ok(TrialResult {
            elapsed_ns,
            bytes: trial.bytes,
            operations: trial.operations,
            answer,
            counters: ended.counters.clone(),
            sides: ended.sides(),
            ..TrialResult::default()
        })
    }
}

/// The last word that is a number of seconds, in nanoseconds.
#[expect(clippy::cast_possible_truncation, reason = "whole nanoseconds, and a cast saturates")]
fn seconds_in(text: &str) -> Option<u64> {
    let seconds = text.split_whitespace().rev().find_map(|word| word.parse::<f64>().ok())?;
    (seconds > 0.0).then_some((seconds * 1e9) as u64)
}

/// Output and messages go to files that nobody else sees: a full pipe could block the trial.
fn hand(command: &mut Command, out: &File, errors: &File) -> std::io::Result<()> {
    command.stdout(out.try_clone()?).stderr(errors.try_clone()?);
    Ok(())
}

/// An engine that says nothing about its sides is one.
fn with_process(mut sample: TrialResult, ended: &Ended) -> TrialResult {
    if sample.sides.is_empty() {
        let side =
            Side { name: "engine".to_owned(), cpu_ns: ended.cpu_ns, peak_memory_bytes: None };
        sample.sides.push(side);
    }
    sample
}

impl Executor for Real {
    fn missing(&mut self, need: &Need) -> Option<Missing> {
        let missing =
            |what: String, remedy: &str| Some(Missing { what, remedy: remedy.to_owned() });
        match need {
            Need::Program { name, install } if !process::is_installed(name) => {
                missing(format!("{name} is not installed"), install)
            }
            Need::Root if !rustix::process::geteuid().is_root() => {
                missing("the rights of root".to_owned(), "run it with sudo")
            }
            Need::Cpus(wanted) => {
                let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
                (cpus < *wanted).then(|| Missing {
                    what: format!("{wanted} CPUs; there are {cpus}"),
                    remedy: "use a larger machine".to_owned(),
                })
            }
            Need::Check { line, what, install } => {
                let mut command = self.shell(line);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                let ended = wait(&mut command, CHECK_LIMIT, &self.stop, Watch::End);
                let is_met = ended.is_ok_and(|ended| ended.is_success());
                if is_met { None } else { missing(what.clone(), install) }
            }
            Need::Program { .. } | Need::Root => None,
        }
    }

    fn prepare(&mut self, line: &str) -> Result<(), String> {
        let mut command = self.shell(line);
        let errors = tempfile::tempfile().map_err(|error| process::plain(&error))?;
        command.stdout(Stdio::null());
        command.stderr(errors.try_clone().map_err(|error| process::plain(&error))?);
        let ended = wait(&mut command, SETUP_LIMIT, &self.stop, Watch::End);
        let ended = ended.map_err(|error| process::plain(&error))?;
        if ended.is_success() {
            Ok(())
        } else {
            Err(format!("{line}: {}", ended.story(&last_line(&errors))))
        }
    }

    fn run(&mut self, trial: &Trial) -> Result<TrialResult, EngineError> {
        let limit = Duration::from_nanos(trial.limit_ns);
        match &trial.program {
            // Counters cost time: only the trial whose time does not count has them.
            Program::Builtin(job) if trial.purpose != Purpose::Time => {
                self.built_in(&job.counting(), limit)
            }
            Program::Builtin(job) => self.built_in(job, limit),
            Program::Line(line) => self.program(self.shell(line), trial, limit),
            Program::Words(words) => {
                let Some((program, arguments)) = words.split_first() else {
                    return Err(EngineError::Failed("there is no program to run".to_owned()));
                };
                let mut command = Command::new(program);
                command.args(arguments);
                self.program(command, trial, limit)
            }
        }
    }

    fn now_ns(&mut self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
