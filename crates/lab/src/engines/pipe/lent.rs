//! vmsplice(2) as the published programs do it, for comparison: one constant buffer, or two in turn.
#![allow(unsafe_code)]

use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

use super::super::pages::Pages;
use super::super::peers::Report;
use super::super::seat::Seat;
use super::writer::{chunks, report};
use super::{Plan, broken};
use crate::EngineError;

/// One buffer that never changes: right for every reader, and useless for data.
pub(super) fn constant(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    let mut pages = Pages::map(plan.chunk, plan.huge)?;
    pages.bytes_mut().fill(b'y');
    let pages = pages;
    let begun = seat.begin()?;
    let mut calls = 0;
    for (_, count) in chunks(plan) {
        calls += lend_all(plan, 0..count, |range, flags| {
            // SAFETY: nothing writes to the pages after the fill above.
            unsafe { pages.lend(pipe, range, flags) }
        })?;
    }
    Ok(report(plan, begun.end(), calls))
}

/// Two buffers in turn, each written over while the other is in the pipe.
pub(super) fn double(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    // Not halves of one mapping: on one huge page, both sides would count references in the same place.
    let mut buffers = [Pages::map(plan.chunk, plan.huge)?, Pages::map(plan.chunk, plan.huge)?];
    let begun = seat.begin()?;
    let mut calls = 0;
    for ((at, count), turn) in chunks(plan).zip([0, 1].into_iter().cycle()) {
        let pages = &mut buffers[turn];
        plan.fill().fill(&mut pages.bytes_mut()[..count], at);
        calls += lend_all(plan, 0..count, |range, flags| {
            // SAFETY: wrong under readers that hold pages, which is what this experiment shows: the reader checks
            // what it gets and nothing else relies on it.
            unsafe { pages.lend(pipe, range, flags) }
        })?;
    }
    Ok(report(plan, begun.end(), calls))
}

/// Lends a range until all of it is in the pipe; returns how many calls it took.
fn lend_all(
    plan: &Plan,
    mut range: Range<usize>,
    lend: impl Fn(Range<usize>, SpliceFlags) -> Result<usize, Errno>,
) -> Result<u64, EngineError> {
    let flags = if plan.busy { SpliceFlags::NONBLOCK } else { SpliceFlags::empty() };
    let mut calls = 0;
    while !range.is_empty() {
        calls += 1;
        match lend(range.clone(), flags) {
            Ok(count) => range.start += count,
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
