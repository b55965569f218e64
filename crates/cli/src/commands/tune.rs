//! `fullbore tune`.

use std::fs;
use std::io::{self, Write, stdout};
use std::path::PathBuf;

use anyhow::{Context, Result};
use fullbore_measure::{Bytes, visible};
use fullbore_pipeline::{AdjustError, Adjusted, Visit};
use fullbore_record::{PipeRecord, Snapshot};
use serde::{Deserialize, Serialize};

use super::stage::refuse_closed_output;
use crate::args::top::AdjustOptions;
use crate::exit::Exit;
use crate::messages::{Failure, complain};

/// Lists the pipes of a pipeline, changes them, or gives them back what they had.
pub(crate) fn run(options: &AdjustOptions) -> Result<Exit> {
    refuse_closed_output("tune")?;
    let mut visit = Visit::begin(options.pid).map_err(|error| Failure {
        message: format!("tune: {error}"),
        hint: "`fullbore top` lists pipelines and their processes".to_owned(),
        exit: Exit::NotDone,
    })?;
    let snapshot = visit.snapshot();
    let pipes: Vec<u32> = snapshot.record.pipes.iter().map(|pipe| pipe.pipe).collect();
    let mut noted = Noted::read();
    let changes: Vec<(u32, Bytes)> = match (&options.all, options.undo) {
        (Some(size), _) => pipes.into_iter().map(|pipe| (pipe, *size)).collect(),
        (None, true) => pipes
            .into_iter()
            .filter_map(|pipe| Some((pipe, noted.capacity_of(visit.pipe_id(pipe)?.inode)?)))
            .collect(),
        (None, false) => options.changes.clone(),
    };
    if changes.is_empty() && !options.undo && options.all.is_none() {
        return print(&list(options.pid, &snapshot));
    }
    if changes.is_empty() {
        let why = if options.undo {
            "no pipe of this pipeline was changed by fullbore tune"
        } else {
            "this pipeline has no pipe that may be changed"
        };
        complain(&format!("tune: {}: {why}", options.pid), "");
        return Ok(Exit::No);
    }
    let mut exit = Exit::Done;
    let mut text = String::new();
    for (pipe, size) in changes {
        match visit.adjust(pipe, size) {
            Ok(done) => {
                noted.note(&done, options.undo);
                text.push_str(&said(&done, &snapshot));
            }
            Err(error) => {
                complain(&format!("tune: {error}"), &hint(&error, options.pid));
                let is_usage = matches!(error, AdjustError::NoPipe(_));
                exit = if is_usage { Exit::NotDone } else { Exit::No };
            }
        }
    }
    if !options.undo && !text.is_empty() {
        text.push_str(&undoing(options.pid, noted.write()));
    } else if options.undo {
        let _ = noted.write();
    }
    Ok(if print(&text)? == Exit::Done { exit } else { Exit::ReaderLeft })
}

fn print(text: &str) -> Result<Exit> {
    match stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::ReaderLeft),
        written => Ok(written.map(|()| Exit::Done).context("tune: writing standard output")?),
    }
}

fn hint(error: &AdjustError, pid: i32) -> String {
    match error {
        AdjustError::NoPipe(_) => format!("`fullbore tune {pid}` lists them"),
        AdjustError::Refused(..) | AdjustError::Crowded(_) => {
            "`fullbore doctor` shows the limits of this machine; root may exceed them".to_owned()
        }
        _ => String::new(),
    }
}

/// `pipe 2 (zstd → ssh): 64 KiB → 1 MiB`.
fn said(done: &Adjusted, snapshot: &Snapshot) -> String {
    let pipe = snapshot.record.pipes.iter().find(|pipe| pipe.pipe == done.pipe);
    let stages = pipe.map(|pipe| format!(" ({})", stages(pipe, snapshot))).unwrap_or_default();
    let change = if done.from == done.to {
        format!("holds {} already", done.to)
    } else {
        format!("holds {} now, {} before", done.to, done.from)
    };
    format!("pipe {}{stages} {change}\n", done.pipe)
}

fn undoing(pid: i32, written: io::Result<()>) -> String {
    match written {
        Ok(()) => format!("undo: fullbore tune {pid} --undo\n"),
        // The capacities are on the screen.
        Err(_) => "undo: give each pipe the capacity it had, as above\n".to_owned(),
    }
}

fn stages(pipe: &PipeRecord, snapshot: &Snapshot) -> String {
    let name = |number: &u32| {
        let stages = &snapshot.record.stages;
        let stage = stages.iter().find(|stage| stage.stage == *number);
        stage.map_or_else(|| number.to_string(), |stage| visible(&stage.title()).into_owned())
    };
    let names = |numbers: &[u32], is_outside: bool| {
        let outside = is_outside.then(|| "outside".to_owned());
        let names: Vec<String> = numbers.iter().map(name).chain(outside).collect();
        if names.is_empty() { "nobody".to_owned() } else { names.join(", ") }
    };
    format!(
        "{} → {}",
        names(&pipe.writers, pipe.outside_writer),
        names(&pipe.readers, pipe.outside_reader)
    )
}

fn list(pid: i32, snapshot: &Snapshot) -> String {
    let pipes = &snapshot.record.pipes;
    if pipes.is_empty() {
        return format!("process {pid} shares no pipe with another process\n");
    }
    let line = |(place, pipe): (usize, &PipeRecord)| {
        let bytes = |bytes: Option<u64>| bytes.map_or("?".to_owned(), |b| Bytes(b).to_string());
        let fill = snapshot.pipe_fill_bytes.get(place).copied().flatten();
        let (fill, capacity) = (bytes(fill), bytes(pipe.capacity_bytes));
        format!("pipe {}: {fill} of {capacity}  {}\n", pipe.pipe, stages(pipe, snapshot))
    };
    pipes.iter().enumerate().map(line).collect()
}

/// The capacities that pipes had before they were changed, by inode, in a file of this user's runtime directory.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Noted {
    pipes: Vec<(u64, u64)>,
}

/// Pipes are noted until so many newer ones are.
const NOTED_MAX: usize = 1000;

impl Noted {
    fn file() -> Option<PathBuf> {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let folder = folder.filter(|folder| folder.is_absolute()).unwrap_or_else(|| {
            std::env::temp_dir().join(format!("fullbore-{}", rustix::process::getuid().as_raw()))
        });
        Some(folder.join("fullbore-tune.json"))
    }

    fn read() -> Self {
        let text = Self::file().and_then(|file| fs::read_to_string(file).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn capacity_of(&self, inode: u64) -> Option<Bytes> {
        let found = self.pipes.iter().find(|(pipe, _)| *pipe == inode);
        found.map(|(_, bytes)| Bytes(*bytes))
    }

    fn note(&mut self, done: &Adjusted, is_undone: bool) {
        if is_undone {
            self.pipes.retain(|(pipe, _)| *pipe != done.id.inode);
        } else if self.capacity_of(done.id.inode).is_none() && done.from != done.to {
            self.pipes.push((done.id.inode, done.from.0));
        }
        let surplus = self.pipes.len().saturating_sub(NOTED_MAX);
        self.pipes.drain(..surplus);
    }

    fn write(&self) -> io::Result<()> {
        let Some(file) = Self::file() else { return Ok(()) };
        if let Some(folder) = file.parent() {
            use std::os::unix::fs::DirBuilderExt;
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let mut kept = tempfile::NamedTempFile::new_in(file.parent().unwrap_or(&file))?;
        serde_json::to_writer(&mut kept, self)?;
        kept.persist(&file)?;
        Ok(())
    }
}
