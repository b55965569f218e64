//! Recording a run sample by sample, and replaying it: lines of JSON, one value a line.
//!
//! A recording holds what was read from `/proc` and nothing that was concluded from it, so a replay shows what
//! another version of fullbore would have made of the same run.

use std::collections::BTreeSet;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, Write};

use fullbore_measure::Host;
use fullbore_pipe::{Limits, PipeId};
use serde::{Deserialize, Serialize};

use crate::observed::Observed;
use crate::sample::Sample;
use crate::summarise::{Frame, record};
use crate::topology::pipes::Pipes;
use crate::topology::{Roots, Topology};
use crate::tune::{Answer, Change, Tuner, Tuning};
use crate::wake::WakeUps;
use fullbore_diagnose::diagnose;
use fullbore_record::RunRecord;

/// One line of a recording.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Start(Box<Start>),
    Sample(Box<Sample>),
    /// What became of a change to a pipe.
    Answer(Answer),
    /// A process ended with this status, as a shell reports it.
    Status(i32, i32),
    End(End),
}

/// How a run began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Start {
    pub(crate) command: String,
    pub(crate) roots: Roots,
    /// Pipes that lead outside, by device and inode.
    pub(crate) outside: Vec<(u64, u64)>,
    pub(crate) host: Host,
    pub(crate) tuning: Tuning,
    pub(crate) started_unix_ns: u64,
    pub(crate) gaps: Vec<String>,
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct End {
    pub(crate) elapsed_ns: u64,
    pub(crate) exit_status: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_ns: Option<u64>,
    pub(crate) observer_cpu_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) idle_cpu_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "is_none")]
    pub(crate) wake_ups: WakeUps,
    /// Gaps that are known at the end only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) gaps: Vec<String>,
}

fn is_none(wake_ups: &WakeUps) -> bool {
    *wake_ups == WakeUps::default()
}

/// Writes a recording, if one is wanted. A failure to write ends the recording, not the run.
#[derive(Debug)]
pub(crate) struct Recorder {
    to: Option<BufWriter<File>>,
}

impl Recorder {
    pub(crate) fn begin(to: Option<File>, start: Start) -> Self {
        let mut recorder = Self { to: to.map(BufWriter::new) };
        recorder.write(|| Line::Start(Box::new(start)));
        recorder
    }

    pub(crate) fn sample(&mut self, sample: Sample) {
        self.write(|| Line::Sample(Box::new(sample)));
    }

    pub(crate) fn answer(&mut self, answer: &Answer) {
        self.write(|| Line::Answer(answer.clone()));
    }

    pub(crate) fn status(&mut self, pid: i32, status: i32) {
        self.write(|| Line::Status(pid, status));
    }

    pub(crate) fn end(&mut self, end: &End) {
        self.write(|| Line::End(end.clone()));
        if let Some(to) = &mut self.to {
            // The run is over; what could not be written makes the recording one that a replay refuses.
            let _ = to.flush();
        }
    }

    fn write(&mut self, line: impl FnOnce() -> Line) {
        let Some(to) = &mut self.to else { return };
        let written = serde_json::to_writer(&mut *to, &line()).map_err(io::Error::from);
        if written.and_then(|()| to.write_all(b"\n")).is_err() {
            self.to = None;
        }
    }
}

/// A recording that cannot be replayed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReplayError {
    /// It could not be read.
    Read(io::Error),
    /// A line, counted from 1, is not one of a recording.
    Line {
        /// Its number.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// It does not begin with the start of a run, or does not end with its end.
    Incomplete,
    /// The changes to pipes that were answered are not those that this version asks for.
    OtherChanges {
        /// The line at which they part.
        line: usize,
    },
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(source) => write!(f, "the recording cannot be read: {source}"),
            Self::Line { line, source } => write!(f, "line {line}: {source}"),
            Self::Incomplete => f.write_str("the recording lacks its beginning or its end"),
            Self::OtherChanges { line } => write!(
                f,
                "line {line}: this version asks for other changes to pipes than were made in the recorded run"
            ),
        }
    }
}

impl std::error::Error for ReplayError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(source) => Some(source),
            Self::Line { source, .. } => Some(source),
            Self::Incomplete | Self::OtherChanges { .. } => None,
        }
    }
}

/// Makes a record of a run from its recorded samples, as [`crate::run`] would have made it.
///
/// # Errors
/// When the recording cannot be read, is damaged or incomplete, or when this version would have made other
/// changes to pipes, so that what was recorded after them says nothing.
pub fn replay(recording: impl BufRead) -> Result<RunRecord, ReplayError> {
    let mut lines = recording.lines().enumerate().map(|(place, line)| {
        let text = line.map_err(ReplayError::Read)?;
        let line = place + 1;
        let parsed = serde_json::from_str::<Line>(&text);
        Ok((line, parsed.map_err(|source| ReplayError::Line { line, source })?))
    });
    let Some((_, Line::Start(start))) = lines.next().transpose()? else {
        return Err(ReplayError::Incomplete);
    };
    let mut replay = Replay::begin(&start);
    for line in lines {
        let (line, content) = line?;
        match content {
            Line::Sample(sample) => replay.sample(&sample, line)?,
            Line::Answer(answer) => replay.answer(&answer, line)?,
            Line::Status(pid, status) => replay.observed.topology.note_status(pid, status),
            Line::End(end) => return Ok(replay.finish(&start, end)),
            Line::Start(_) => return Err(ReplayError::Incomplete),
        }
    }
    Err(ReplayError::Incomplete)
}

/// A run that is being replayed.
struct Replay {
    observed: Observed,
    /// Changes that wait for their answer, the next one last.
    changes: Vec<Change>,
    now_ns: u64,
}

impl Replay {
    fn begin(start: &Start) -> Self {
        let outside: BTreeSet<PipeId> = start
            .outside
            .iter()
            .map(|(device, inode)| PipeId { device: *device, inode: *inode })
            .collect();
        let host = &start.host;
        let limits =
            Limits::from_settings(host.pipe_max_bytes, host.pipe_user_pages_soft, host.page_bytes);
        let topology = Topology::new(start.roots.clone(), Pipes::new(outside));
        let tuner = Tuner::new(start.tuning, limits);
        let mut observed = Observed::new(topology, host.cpus, tuner);
        observed.gaps.extend(start.gaps.iter().cloned());
        Self { observed, changes: Vec::new(), now_ns: 0 }
    }

    fn sample(&mut self, sample: &Sample, line: usize) -> Result<(), ReplayError> {
        if !self.changes.is_empty() {
            return Err(ReplayError::OtherChanges { line });
        }
        self.observed.take_in_census(&sample.census);
        self.changes = self.observed.take_in_look(&sample.look);
        self.now_ns = sample.look.at_ns;
        Ok(())
    }

    fn answer(&mut self, answer: &Answer, line: usize) -> Result<(), ReplayError> {
        let change = self.changes.pop().ok_or(ReplayError::OtherChanges { line })?;
        self.changes.extend(self.observed.take_in_answer(change, answer, self.now_ns));
        Ok(())
    }

    fn finish(mut self, start: &Start, end: End) -> RunRecord {
        self.observed.finish();
        self.observed.gaps.extend(end.gaps);
        let frame = Frame {
            command: &start.command,
            started_unix_ns: start.started_unix_ns,
            elapsed_ns: end.elapsed_ns,
            exit_status: Some(end.exit_status),
            job: None,
            cpu_ns: end.cpu_ns,
            observer_cpu_ns: end.observer_cpu_ns,
            idle_cpu_ns: end.idle_cpu_ns,
            wake_ups: end.wake_ups,
            host: &start.host,
        };
        let (mut record, _) = record(&self.observed, &frame);
        record.findings = diagnose(&record);
        record
    }
}
