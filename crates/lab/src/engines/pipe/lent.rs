//! vmsplice(2) as the published programs do it, for comparison: one constant buffer, or two in turn.

use std::os::fd::OwnedFd;

use fullbore_apparatus::{TrialPages, Wait};
use rustix::io::Errno;

use super::super::pages;
use super::super::peers::Report;
use super::super::seat::Seat;
use super::plan::{Plan, broken, chunks, report};
use crate::EngineError;

/// One buffer that never changes: right for every reader, and useless for data.
pub(super) fn constant(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    let mut pages = pages::map(plan.chunk, plan.huge)?;
    pages.bytes_mut().fill(b'y');
    let begun = seat.begin()?;
    let mut calls = 0;
    for (_, count) in chunks(plan) {
        calls += lend_all(plan, pipe, &pages, count)?;
    }
    Ok(report(plan, begun.end(), calls))
}

/// Two buffers in turn, each written over while the other is in the pipe. Readers that hold pages get wrong bytes, which is
/// what this experiment shows: the reader checks what it gets and nothing else relies on it.
pub(super) fn double(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    // Not halves of one mapping: on one huge page, both sides would count references in the same place.
    let mut buffers = [pages::map(plan.chunk, plan.huge)?, pages::map(plan.chunk, plan.huge)?];
    let begun = seat.begin()?;
    let mut calls = 0;
    for ((at, count), turn) in chunks(plan).zip([0, 1].into_iter().cycle()) {
        let pages = &mut buffers[turn];
        plan.fill().fill(&mut pages.bytes_mut()[..count], at);
        calls += lend_all(plan, pipe, pages, count)?;
    }
    Ok(report(plan, begun.end(), calls))
}

/// Lends the first `count` bytes until all of them are in the pipe; returns how many calls it took.
fn lend_all(
    plan: &Plan,
    pipe: &OwnedFd,
    pages: &TrialPages,
    count: usize,
) -> Result<u64, EngineError> {
    let wait = if plan.busy { Wait::Never } else { Wait::ForRoom };
    let (mut lent, mut calls) = (0, 0);
    while lent < count {
        calls += 1;
        match pages.lend_without_promise(pipe, lent..count, wait) {
            Ok(more) => lent += more,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if plan.busy => {}
            Err(Errno::PERM | Errno::NOSYS) => {
                return Err(EngineError::Unavailable {
                    what: "vmsplice: refused by a filter of system calls".to_owned(),
                    remedy: "run outside of the container, or allow vmsplice".to_owned(),
                });
            }
            Err(errno) => return Err(broken("vmsplice", errno)),
        }
    }
    Ok(calls)
}
