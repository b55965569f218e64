//! Notes every copy in the columns of GNU parallel's --joblog.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::time::UNIX_EPOCH;

use super::command::Command;
use super::job::Job;

/// A log of all copies, one line each, in the order in which they end.
#[derive(Debug)]
pub struct Joblog {
    file: File,
}

impl Joblog {
    /// Begins a log with the line of its columns.
    ///
    /// # Errors
    /// Linux's error from writing.
    pub fn begin(mut file: File) -> io::Result<Self> {
        let columns = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n";
        file.write_all(columns.as_bytes())?;
        Ok(Self { file })
    }

    pub(super) fn note(&mut self, command: &Command, job: &Job) -> io::Result<()> {
        let Some(status) = job.status else { return Ok(()) };
        let (started_at, took) = job.times();
        let started = started_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let (exit, signal) = match status.signal {
            Some(signal) => (0, signal),
            None => (status.code, 0),
        };
        let mut line = format!(
            "{}\t:\t{:.3}\t{:.3}\t{}\t{}\t{exit}\t{signal}\t",
            job.position.block,
            started.as_secs_f64(),
            took.as_secs_f64(),
            job.bytes,
            job.out.received(),
        )
        .into_bytes();
        let words = command.words_at(job.position);
        line.extend(words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>().join(&b' '));
        // One line each, whatever the words contain.
        line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        line.push(b'\n');
        self.file.write_all(&line)
    }
}
