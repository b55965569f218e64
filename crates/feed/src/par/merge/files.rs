//! Outputs that a command merges, each in a file of its own: `sort -m`.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Stdio;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::par::command::Command;
use crate::par::job::Status;
use crate::par::kept::Kept;

/// `sort` merges so many files at once; of more it writes some to the disk. Other commands get all at once, because
/// they may not understand what they wrote themselves.
const AT_ONCE: usize = 16;

/// Files in memory, each the output of a block or the merger of several in a row.
#[derive(Debug)]
pub(crate) struct Files {
    command: Command,
    /// The files of the last level are outputs; one of a level before is made of `at_once` of the next. In this order
    /// they are in that of the input.
    levels: Vec<Vec<File>>,
    pub(crate) bytes: u64,
    at_once: usize,
}

/// How the merging went.
pub(crate) type Merged = Result<(), Status>;

impl Files {
    pub(crate) fn new(command: Command) -> Self {
        let name = command.words().first().map(Path::new).and_then(Path::file_name);
        let at_once = if name == Some(OsStr::new("sort")) { AT_ONCE } else { usize::MAX };
        Self { command, levels: vec![Vec::new()], bytes: 0, at_once }
    }

    /// Takes the output of the next block.
    pub(crate) fn take(&mut self, output: &mut Kept) -> io::Result<Merged> {
        let mut file = in_memory()?;
        self.bytes += io::copy(output, &mut file)?;
        let mut level = self.levels.len() - 1;
        self.levels[level].push(file);
        while self.levels[level].len() == self.at_once {
            let full = std::mem::take(&mut self.levels[level]);
            let merged = in_memory()?;
            if let Err(status) = self.merge(&full, &merged)? {
                return Ok(Err(status));
            }
            if level == 0 {
                self.levels.insert(0, Vec::new());
            } else {
                level -= 1;
            }
            self.levels[level].push(merged);
        }
        Ok(Ok(()))
    }

    /// Merges everything to `out`.
    pub(crate) fn finish(mut self, out: &File) -> io::Result<Merged> {
        let mut files: Vec<File> = self.levels.drain(..).flatten().collect();
        while files.len() > self.at_once {
            // The smallest are at the end.
            let last = files.split_off(files.len() - self.at_once);
            let merged = in_memory()?;
            if let Err(status) = self.merge(&last, &merged)? {
                return Ok(Err(status));
            }
            files.push(merged);
        }
        self.merge(&files, out)
    }

    fn merge(&self, files: &[File], into: &File) -> io::Result<Merged> {
        // Opened anew by their names, so that the command inherits nothing.
        let folder = format!("/proc/{}/fd", std::process::id());
        let names = files.iter().map(|file| format!("{folder}/{}", file.as_raw_fd()));
        let mut process = self.command.process();
        let status = process.args(names).stdin(Stdio::null()).stdout(into.try_clone()?).status()?;
        let status = Status::of(status);
        Ok(if status.code == 0 { Ok(()) } else { Err(status) })
    }
}

fn in_memory() -> io::Result<File> {
    Ok(File::from(memfd_create("fullbore-par", MemfdFlags::CLOEXEC)?))
}
