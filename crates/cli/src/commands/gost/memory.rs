//! Checks before the first byte whether the memory suffices, because a thread that gets none aborts the process.

use std::fs;
use std::num::NonZeroUsize;
use std::thread::available_parallelism;

use fullbore_feed::memory_for_chunks;
use fullbore_measure::Bytes;
use fullbore_pipe::Scratch;
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};

use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// Address space that each thread takes in addition to its work: its stack, and glibc's arena for it.
const THREAD_BYTES: u64 = (2 << 20) + (64 << 20);
/// Address space for everything small, and for a second ring while one replaces another.
const SPARE_BYTES: u64 = 16 << 20;
/// Address space of a stage on one thread: a ring of 16 MiB and its blocks.
const ONE_THREAD_BYTES: u64 = 24 << 20;

/// Allocates memory for a message; too little memory is a failure, not an abort.
pub(super) fn for_message(name: &str, bytes: usize) -> Result<Scratch, Failure> {
    Scratch::try_new(bytes).map_err(|error| too_little(name, bytes as u64, &plain(&error), HINT))
}

const HINT: &str = "ulimit -v shows the limit";

/// Fails if the limits of this process leave too little memory for a stage on one thread.
pub(super) fn check_stage(name: &str) -> Result<(), Failure> {
    let needed = ONE_THREAD_BYTES + SPARE_BYTES;
    match room() {
        Some(room) if room < needed => Err(too_little(name, needed, &only(room), HINT)),
        _ => Ok(()),
    }
}

/// The number of jobs for chunks of these sizes: the wanted number, otherwise one per CPU as far as the memory suffices.
pub(super) fn jobs(
    name: &str,
    wanted: Option<NonZeroUsize>,
    (input_bytes, output_bytes): (usize, usize),
) -> Result<usize, Failure> {
    let needs = |jobs: usize| {
        let threads = if jobs > 1 { jobs as u64 * THREAD_BYTES } else { 0 };
        memory_for_chunks(input_bytes, output_bytes, jobs).0 + threads + SPARE_BYTES
    };
    let most = wanted.or_else(|| available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let Some(room) = room() else { return Ok(most) };
    let fitting = (1..=most).rev().find(|jobs| needs(*jobs) <= room);
    match (fitting, wanted) {
        (Some(jobs), None) => Ok(jobs),
        (Some(jobs), Some(_)) if jobs == most => Ok(jobs),
        (Some(jobs), Some(_)) => {
            let hint = format!("-j {jobs} fits; ulimit -v shows the limit");
            Err(too_little(name, needs(most), &only(room), &hint))
        }
        (None, _) => Err(too_little(name, needs(1), &only(room), HINT)),
    }
}

/// The failure if the memory nevertheless runs out in the middle.
pub(super) fn ended(name: &str, jobs: usize, error: &std::io::Error) -> Failure {
    Failure {
        message: format!("{name}: -j {jobs}: {}", plain(error)),
        hint: "fewer jobs (-j) need less memory; the output is incomplete".to_owned(),
        exit: Exit::NotDone,
    }
}

fn only(room: u64) -> String {
    format!("the limit of this process leaves {}", Bytes(room))
}

fn too_little(name: &str, needed: u64, cause: &str, hint: &str) -> Failure {
    Failure {
        message: format!("{name}: memory: {} of addresses are needed: {cause}", Bytes(needed)),
        hint: hint.to_owned(),
        exit: Exit::NotDone,
    }
}

/// The address space that the limits of this process leave, in bytes; `None` without limits.
///
/// Source: getrlimit(2), `RLIMIT_AS` and `RLIMIT_DATA`; proc(5), `/proc/self/statm`.
fn room() -> Option<u64> {
    let limits = [Resource::As, Resource::Data].map(|limit| getrlimit(limit).current);
    let limit = limits.into_iter().flatten().min()?;
    let taken = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = taken.split_whitespace().next()?.parse().ok()?;
    Some(limit.saturating_sub(pages * page_size() as u64))
}
