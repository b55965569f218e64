//! The side that writes.

use std::os::fd::OwnedFd;

use fullbore_measure::Bytes;
use fullbore_pipe::{Options, PipeWriter, Strategy, probe};
use rustix::io::Errno;

use super::super::builtin::wrong;
use super::super::pages;
use super::super::peers::Report;
use super::super::seat::Seat;
use super::lent;
use super::plan::{Plan, broken, chunks, never_wait, report, resize};
use crate::EngineError;

/// Writes the whole stream, in the way that the plan names.
pub(super) fn run(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    if plan.busy {
        never_wait(pipe)?;
    }
    match plan.writer.as_str() {
        "write" => copy(plan, pipe, seat),
        "ring" => with_writer(plan, pipe, seat, Strategy::Ring),
        "fresh" => with_writer(plan, pipe, seat, Strategy::Fresh),
        "double" => lent::double(plan, pipe, seat),
        _ => lent::constant(plan, pipe, seat),
    }
}

/// write(2) of one block.
fn copy(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    let mut pages = pages::map(plan.chunk, plan.huge)?;
    let begun = seat.begin()?;
    let mut calls = 0;
    for (at, count) in chunks(plan) {
        let block = &mut pages.bytes_mut()[..count];
        plan.fill().fill(block, at);
        let mut rest = &*block;
        while !rest.is_empty() {
            calls += 1;
            match rustix::io::write(pipe, rest) {
                Ok(count) => rest = &rest[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if plan.busy => {}
                Err(errno) => return Err(broken("write", errno)),
            }
        }
    }
    Ok(report(plan, begun.end(), calls))
}

/// fullbore's own writer.
fn with_writer(
    plan: &Plan,
    pipe: &OwnedFd,
    seat: &Seat,
    strategy: Strategy,
) -> Result<Report, EngineError> {
    let options = Options::default().strategy(strategy).chunk(Bytes(plan.chunk as u64));
    let mut writer = PipeWriter::new(pipe, options);
    if writer.strategy() != strategy {
        let remedy = if plan.huge { "see docs/safety.md" } else { "huge = true" };
        return Err(EngineError::Unavailable {
            what: format!("writer {strategy}: this process can only {}", probe()),
            remedy: remedy.to_owned(),
        });
    }
    // The writer has widened the pipe.
    resize(pipe, plan.pipe)?;
    let begun = seat.begin()?;
    let mut at = 0;
    while at < plan.total {
        let room = writer.room(4096).map_err(|e| wrong(e.to_string()))?;
        let left = usize::try_from(plan.total - at).unwrap_or(usize::MAX);
        let count = (room.len() & !4095).min(left);
        plan.fill().fill(&mut room[..count], at);
        writer.commit(count).map_err(|e| wrong(e.to_string()))?;
        at += count as u64;
    }
    writer.flush_all().map_err(|e| wrong(e.to_string()))?;
    let used = begun.end();
    if writer.strategy() != strategy {
        let fell_to = writer.strategy();
        return Err(wrong(format!("pipe: {strategy} fell back to {fell_to} on the way")));
    }
    Ok(report(plan, used, 0))
}
