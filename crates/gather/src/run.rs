//! What a workflow needs to know of a run: a part of its record.

use std::collections::BTreeMap;
use std::fmt;

use fullbore_record::{Cause, FindingKind, SCHEMA};
use serde::Deserialize;
use serde_json::error::Category;

/// Schemas of run records begin so; the version follows.
const SCHEMAS: [&str; 2] = [SCHEMA, "fullbore.run/1"];

/// One run of a pipeline: a job of the workflow.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Run {
    /// The file it was read from, as it is shown.
    pub file: String,
    /// The line given to the shell, or the words of the command.
    pub command: String,
    /// Start, in nanoseconds since 1970-01-01 UTC by the clock of its machine; 0 when unknown.
    pub started_unix_ns: u64,
    /// From start to end; `None` when unknown.
    pub elapsed_ns: Option<u64>,
    /// Whether it was watched only from some moment on (`fullbore attach`).
    pub is_part: bool,
    /// Variables of the workflow manager or scheduler, by name.
    pub variables: BTreeMap<String, String>,
    /// Exit status as a shell would report it; `None` when it could not be learned.
    pub exit_status: Option<i32>,
    /// Name of the machine; empty when unknown.
    pub host: String,
    /// The CPUs that it could use; 0 when unknown.
    pub cpus: u32,
    /// Its stages.
    pub stages: Vec<Stage>,
    /// What held it back; the first one is the verdict.
    pub findings: Vec<Verdict>,
    /// Bytes that it read from outside, as far as they are known: what its stages read that read from no pipe of the run.
    pub input_bytes: Option<u64>,
}

/// A stage of a run. Shares are percent of its life; what could not be observed is `None`.
#[derive(Clone, Debug, Default, Deserialize)]
#[non_exhaustive]
#[serde(default)]
pub struct Stage {
    /// Its number.
    pub stage: u32,
    /// What it runs.
    pub command: String,
    /// How long it lived, in nanoseconds.
    pub life_ns: u64,
    /// CPU time of all its processes, in nanoseconds.
    pub cpu_ns: u64,
    /// On a CPU.
    pub running_percent: Option<f64>,
    /// Waiting for a CPU.
    pub runnable_percent: Option<f64>,
    /// Blocked reading a pipe.
    #[serde(rename = "blocked_reading_percent")]
    pub reading_percent: Option<f64>,
    /// Blocked writing a pipe.
    #[serde(rename = "blocked_writing_percent")]
    pub writing_percent: Option<f64>,
    /// Blocked on anything else.
    #[serde(rename = "blocked_other_percent")]
    pub other_percent: Option<f64>,
    /// The same by cause.
    #[serde(rename = "blocked_other_causes")]
    pub other_causes: BTreeMap<Cause, f64>,
    /// Bytes that it read.
    pub read_bytes: Option<u64>,
}

/// What held a run back.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct Verdict {
    /// What kind of finding it is.
    pub kind: FindingKind,
    /// The stage it is about.
    #[serde(default)]
    pub stage: Option<u32>,
    /// One sentence.
    #[serde(default)]
    pub message: String,
}

/// Why a file is no record of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NotARecord {
    /// It is empty.
    Empty,
    /// It ends in the middle.
    CutOff,
    /// It is no JSON.
    NoJson,
    /// It is JSON of another schema, or of none.
    Schema(Option<String>),
    /// It says that it is a record, but a field has a value of the wrong kind, or is missing: this one.
    Field(String),
}

impl fmt::Display for NotARecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("empty"),
            Self::CutOff => formatter.write_str("cut off"),
            Self::NoJson => formatter.write_str("no JSON"),
            Self::Schema(Some(name)) => write!(formatter, "of the schema {name}"),
            Self::Schema(None) => formatter.write_str("of no schema"),
            Self::Field(what) => write!(formatter, "a wrong field ({what})"),
        }
    }
}

impl std::error::Error for NotARecord {}

/// The part of a record that is read; all else is skipped.
#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Read {
    schema: Option<String>,
    command: String,
    started_unix_ns: Option<u64>,
    attached_at_ns: Option<u64>,
    job: Option<Variables>,
    exit_status: Option<i32>,
    elapsed_ns: Option<u64>,
    host: Machine,
    stages: Vec<Stage>,
    pipes: Vec<Pipe>,
    findings: Vec<Verdict>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Variables {
    variables: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Machine {
    name: String,
    cpus: u32,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Pipe {
    readers: Vec<u32>,
    outside_writer: bool,
}

/// Reads the record of a run (`fullbore.run/2` or `/1`) from the bytes of a file, which is shown as `file`.
///
/// # Errors
/// Why the bytes are no record: see [`NotARecord`].
pub fn read(text: &[u8], file: &str) -> Result<Run, NotARecord> {
    if text.iter().all(u8::is_ascii_whitespace) {
        return Err(NotARecord::Empty);
    }
    let record: Read = serde_json::from_slice(text).map_err(|error| why(text, &error))?;
    match record.schema.as_deref() {
        Some(schema) if SCHEMAS.contains(&schema) => Ok(run_of(record, file)),
        _ => Err(NotARecord::Schema(record.schema)),
    }
}

fn why(text: &[u8], error: &serde_json::Error) -> NotARecord {
    /// The one field every version of the record has.
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        schema: Option<String>,
    }
    match error.classify() {
        Category::Eof => NotARecord::CutOff,
        Category::Data => match serde_json::from_slice::<Named>(text) {
            Ok(Named { schema: Some(schema) }) if SCHEMAS.contains(&schema.as_str()) => {
                let text = error.to_string();
                NotARecord::Field(text.split(" at line").next().unwrap_or_default().to_owned())
            }
            Ok(named) => NotARecord::Schema(named.schema),
            Err(error) if error.classify() == Category::Eof => NotARecord::CutOff,
            Err(error) if error.classify() == Category::Data => NotARecord::Schema(None),
            Err(_) => NotARecord::NoJson,
        },
        _ => NotARecord::NoJson,
    }
}

fn run_of(record: Read, file: &str) -> Run {
    let input_bytes = input_bytes(&record);
    Run {
        file: file.to_owned(),
        command: record.command,
        started_unix_ns: record.started_unix_ns.unwrap_or(0),
        elapsed_ns: record.elapsed_ns,
        is_part: record.attached_at_ns.is_some(),
        variables: record.job.map(|job| job.variables).unwrap_or_default(),
        exit_status: record.exit_status,
        host: record.host.name,
        cpus: record.host.cpus,
        input_bytes,
        findings: record.findings,
        stages: record.stages,
    }
}

/// What came into the run from files and from outside; `None` when a stage that reads from there hides it.
fn input_bytes(record: &Read) -> Option<u64> {
    let inner = |stage: u32| {
        let mut pipes = record.pipes.iter().filter(|pipe| !pipe.outside_writer);
        pipes.any(|pipe| pipe.readers.contains(&stage))
    };
    let mut sources = record.stages.iter().filter(|stage| !inner(stage.stage)).peekable();
    sources.peek()?;
    sources.try_fold(0_u64, |sum, stage| Some(sum.saturating_add(stage.read_bytes?)))
}
