//! The side that reads.

use std::collections::VecDeque;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;

use fullbore_measure::Bytes;
use fullbore_pipe::{capacity, set_capacity};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

use super::super::builtin::wrong;
use super::super::pages;
use super::super::peers::{Report, failed};
use super::super::seat::Seat;
use super::super::sequence::{Checked, Fill};
use super::plan::{Plan, broken, never_wait};
use crate::EngineError;

/// Pipes that the queueing reader holds.
const QUEUE_PIPES: usize = 16;
const QUEUE_PIPE: Bytes = Bytes(1 << 20);
/// The file in memory is written over after this many bytes.
const LAP_BYTES: u64 = 256 << 20;

/// Reads the whole stream, in the way that the plan names.
pub(super) fn run(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    if plan.busy {
        never_wait(pipe)?;
    }
    match plan.reader.as_str() {
        "read" => copy(plan, pipe, seat),
        "splice-null" => discard(plan, pipe, seat),
        "splice-file" => to_file(plan, pipe, seat),
        _ => queue(plan, pipe, seat),
    }
}

/// read(2).
fn copy(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    let mut pages = pages::map(plan.chunk, plan.huge)?;
    let mut checked = Checked::new(plan.fill(), 0);
    let begun = seat.begin()?;
    let mut calls = 0;
    while checked.bytes < plan.total {
        let block = pages.bytes_mut();
        let count = persist(plan, "read", &mut calls, || rustix::io::read(pipe, &mut *block))?;
        checked.take(&pages.bytes()[..count]);
    }
    let usage = begun.end();
    Ok(report(usage, checked.bytes, calls, checked.answer()))
}

/// splice(2) to `/dev/null`.
fn discard(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    let nowhere = File::options().write(true).open("/dev/null");
    let nowhere = nowhere.map_err(|e| failed("/dev/null", &e))?;
    let begun = seat.begin()?;
    let (mut moved, mut calls) = (0, 0);
    while moved < plan.total {
        moved += splice(plan, &mut calls, pipe, &nowhere, None, plan.chunk)? as u64;
    }
    Ok(report(begun.end(), moved, calls, None))
}

/// splice(2) into a file in memory, in laps.
fn to_file(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    let file = rustix::fs::memfd_create("fullbore-lab", MemfdFlags::CLOEXEC);
    let file = File::from(file.map_err(|errno| broken("memfd_create", errno))?);
    let begun = seat.begin()?;
    let (mut moved, mut calls) = (0, 0);
    while moved < plan.total {
        let at = moved % LAP_BYTES;
        let most = usize::try_from(LAP_BYTES - at).map_or(plan.chunk, |left| left.min(plan.chunk));
        moved += splice(plan, &mut calls, pipe, &file, Some(at), most)? as u64;
    }
    let usage = begun.end();
    let answer = check_file(plan.fill(), &file, moved).map_err(|e| failed("the file", &e))?;
    Ok(report(usage, moved, calls, answer))
}

/// Looks at what the file holds at the end: the bytes of the last lap, which begin at its start.
fn check_file(fill: Fill, file: &File, moved: u64) -> std::io::Result<Option<String>> {
    let lap_start = (moved - 1) / LAP_BYTES * LAP_BYTES;
    let mut checked = Checked::new(fill, lap_start);
    let mut block = vec![0; 1 << 20];
    while checked.bytes < moved {
        let count = file.read_at(&mut block, checked.bytes - lap_start)?;
        let left = usize::try_from(moved - checked.bytes).unwrap_or(usize::MAX);
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        checked.take(&block[..count.min(left)]);
    }
    Ok(checked.answer())
}

/// splice(2) into pipes of this process, each read when all the others are full: what a relay does.
fn queue(plan: &Plan, pipe: &OwnedFd, seat: &Seat) -> Result<Report, EngineError> {
    let mut empty = Vec::new();
    for _ in 0..QUEUE_PIPES {
        let ends = std::io::pipe().map_err(|e| failed("pipe", &e))?;
        // Over the limit of the user, it stays as small as it is.
        let _ = set_capacity(&ends.1, QUEUE_PIPE);
        let most = capacity(&ends.1).map_or(4096, |bytes| bytes.0);
        empty.push((ends, usize::try_from(most).unwrap_or(4096)));
    }
    let mut block = vec![0; 1 << 20];
    let mut checked = Checked::new(plan.fill(), 0);
    let mut full = VecDeque::new();
    let begun = seat.begin()?;
    let (mut moved, mut calls) = (0, 0);
    while checked.bytes < plan.total {
        let next = if moved < plan.total { empty.pop() } else { None };
        if let Some((ends, most)) = next {
            let count = splice(plan, &mut calls, pipe, &ends.1, None, most)?;
            moved += count as u64;
            full.push_back((ends, most, count));
        } else if let Some((ends, most, mut left)) = full.pop_front() {
            while left > 0 {
                let count =
                    rustix::io::read(&ends.0, &mut block).map_err(|errno| broken("read", errno))?;
                checked.take(&block[..count]);
                left -= count;
            }
            empty.push((ends, most));
        }
    }
    let usage = begun.end();
    Ok(report(usage, checked.bytes, calls, checked.answer()))
}

fn splice(
    plan: &Plan,
    calls: &mut u64,
    from: &OwnedFd,
    to: impl AsFd,
    at: Option<u64>,
    most: usize,
) -> Result<usize, EngineError> {
    let flags = if plan.busy { SpliceFlags::NONBLOCK } else { SpliceFlags::empty() };
    persist(plan, "splice", calls, || {
        let mut at = at;
        rustix::pipe::splice(from, None, &to, at.as_mut(), most, flags)
    })
}

/// Repeats a call until it moves something.
fn persist(
    plan: &Plan,
    name: &str,
    calls: &mut u64,
    mut call: impl FnMut() -> Result<usize, Errno>,
) -> Result<usize, EngineError> {
    loop {
        *calls += 1;
        match call() {
            Ok(0) => return Err(wrong("the pipe ended early")),
            Ok(count) => return Ok(count),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if plan.busy => {}
            Err(errno) => return Err(broken(name, errno)),
        }
    }
}

fn report(
    usage: super::super::clock::Usage,
    bytes: u64,
    calls: u64,
    answer: Option<String>,
) -> Report {
    Report { usage, bytes: Some(bytes), operations: Some(calls), answer, ..Report::default() }
}
