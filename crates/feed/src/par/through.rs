//! A command that reads all outputs one after the other.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Stdio};

use super::command::Command;
use super::ended::{Ended, Error};
use super::job::Status;

/// The exit status of a process whose reader left.
const SIGPIPE_STATUS: u8 = 141;

/// The command at the end, while it runs.
#[derive(Debug)]
pub(super) struct Through {
    child: Child,
    pipe: Option<OwnedFd>,
}

impl Through {
    pub(super) fn start(command: &Command, output: BorrowedFd<'_>) -> io::Result<Self> {
        let (reader, writer) = io::pipe()?;
        let output = output.try_clone_to_owned()?;
        let mut process = command.process();
        let child = process.stdin(Stdio::from(reader)).stdout(Stdio::from(output)).spawn()?;
        Ok(Self { child, pipe: Some(writer.into()) })
    }

    /// Calls `deal` with the pipe to the command, and closes it.
    pub(super) fn dealt<R>(&mut self, deal: impl FnOnce(BorrowedFd<'_>) -> R) -> Option<R> {
        let pipe = self.pipe.take()?;
        Some(deal(pipe.as_fd()))
    }

    /// Waits for the command, and says how everything ended.
    pub(super) fn end(mut self, dealt: Option<Result<Ended, Error>>) -> Result<Ended, Error> {
        let status = Status::of(self.child.wait().map_err(Error::Preparing)?).code;
        match dealt {
            _ if status == SIGPIPE_STATUS => Ok(Ended::ReaderLeft),
            // It read no more: head has its lines.
            Some(Ok(Ended::ReaderLeft | Ended::Done(0))) | None => Ok(Ended::Done(status)),
            Some(ended) => ended,
        }
    }
}
