//! What both sides of the engine know and share: the parameters, the pipe, and the report.

use std::os::fd::{AsFd, OwnedFd};

use fullbore_measure::Bytes;
use fullbore_pipe::set_capacity;
use rustix::io::Errno;

use super::super::builtin::{size, wrong};
use super::super::clock::Usage;
use super::super::peers::{Report, failed};
use super::super::sequence::{Fill, PAGE_BYTES};
use crate::{EngineError, Parameters};

/// The parameters, as both sides use them.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) writer: String,
    pub(super) reader: String,
    pub(super) fill: Fill,
    pub(super) chunk: usize,
    pub(super) pipe: Bytes,
    pub(super) huge: bool,
    pub(super) busy: bool,
    pub(super) total: u64,
}

impl Plan {
    pub(super) fn new(parameters: &Parameters) -> Result<Self, EngineError> {
        let plan = Self {
            writer: parameters.text("writer")?.to_owned(),
            reader: parameters.text("reader")?.to_owned(),
            fill: Fill::named(parameters.text("fill")?),
            chunk: size(parameters.number("chunk")?)?,
            pipe: Bytes(parameters.number("pipe")?),
            huge: parameters.flag("huge")?,
            busy: parameters.flag("busy")?,
            total: parameters.number("total")?,
        };
        let page = PAGE_BYTES as u64;
        for (name, bytes) in [("chunk", plan.chunk as u64), ("total", plan.total)] {
            if !bytes.is_multiple_of(page) {
                return Err(wrong(format!("pipe: {name} = {bytes}: must be a multiple of {page}")));
            }
        }
        let waits_by_itself = matches!(plan.writer.as_str(), "ring" | "fresh");
        if plan.busy && waits_by_itself {
            let writer = &plan.writer;
            return Err(wrong(format!(
                "pipe: busy: {writer} waits; use write, double or constant"
            )));
        }
        Ok(plan)
    }

    /// A constant buffer is never filled anew.
    pub(super) fn fill(&self) -> Fill {
        if self.writer == "constant" { Fill::Nothing } else { self.fill }
    }
}

/// A pipe of at least this capacity: its read end and its write end.
///
/// # Errors
/// The capacity is above what this user may have.
pub(crate) fn new_pipe(capacity: Bytes) -> Result<(OwnedFd, OwnedFd), EngineError> {
    let (out, into) = std::io::pipe().map_err(|e| failed("pipe", &e))?;
    resize(&into, capacity)?;
    Ok((out.into(), into.into()))
}

pub(super) fn resize(pipe: impl AsFd, capacity: Bytes) -> Result<(), EngineError> {
    match set_capacity(pipe, capacity) {
        Ok(_) => Ok(()),
        Err(refused) => Err(EngineError::Unavailable {
            what: format!("a pipe of {} bytes: {refused}", capacity.0),
            remedy: "sysctl fs.pipe-max-size, fs.pipe-user-pages-soft".to_owned(),
        }),
    }
}

/// The error of a call that moves bytes.
pub(super) fn broken(call: &str, errno: Errno) -> EngineError {
    failed(call, &errno.into())
}

/// Makes an end of the pipe return at once instead of waiting.
pub(super) fn never_wait(pipe: impl AsFd) -> Result<(), EngineError> {
    rustix::io::ioctl_fionbio(pipe, true).map_err(|errno| broken("ioctl FIONBIO", errno))
}

/// Where each chunk of the stream begins, and its length.
pub(super) fn chunks(plan: &Plan) -> impl Iterator<Item = (u64, usize)> {
    let (total, chunk) = (plan.total, plan.chunk);
    let starts = (0..total).step_by(chunk);
    starts.map(move |at| (at, usize::try_from(total - at).map_or(chunk, |left| left.min(chunk))))
}

/// What the writer says at the end; no calls: they are not counted.
pub(super) fn report(plan: &Plan, usage: Usage, calls: u64) -> Report {
    let operations = (calls > 0).then_some(calls);
    Report { usage, bytes: Some(plan.total), operations, ..Report::default() }
}
