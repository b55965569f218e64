//! From a blocked system call to the reason a stage waits.

use fullbore_measure::Bytes;
use fullbore_pipe::{End, Handle, fill, lend};
use fullbore_proc::{Fd, PollEntry, Root, State, Target, Wait};

use crate::pipes::Pipes;
use crate::process::{Process, is_polling};
use crate::record::Cause;
use crate::spawn::pipe_of;
use crate::stage::Reason;

/// Why a blocked thread of `process` waits; `None` when the process turns out to have ended.
pub(crate) fn reason(
    root: &Root,
    process: &mut Process,
    wait: Wait,
    pipes: &Pipes,
    buffer: &mut [u8],
) -> Option<Reason> {
    let other = |cause| Some(Reason::Other(cause));
    match wait {
        Wait::Read(fd) => Some(on(root, process, fd, Direction::Read, pipes)),
        Wait::Write(fd) => Some(on(root, process, fd, Direction::Write, pipes)),
        Wait::Socket(_) => other(Cause::Network),
        Wait::Sleep => other(Cause::Sleep),
        Wait::Lock => other(Cause::Lock),
        Wait::Child => other(Cause::Child),
        Wait::Open => other(Cause::FifoPeer),
        Wait::Sync => other(Cause::Disk),
        Wait::Move { from, to } => Some(moving(root, process, from, to, pipes)),
        wait if is_polling(wait) => {
            let entries = root.polled(process.pid, wait);
            Some(polled(root, process, &entries, pipes))
        }
        _ => {
            process.read_stat(buffer)?;
            match process.state {
                State::DiskSleep => other(Cause::Disk),
                State::Stopped => other(Cause::Stopped),
                _ => other(Cause::Unknown),
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Read,
    Write,
}

/// The reason that a call on one descriptor amounts to.
fn on(
    root: &Root,
    process: &mut Process,
    number: i32,
    direction: Direction,
    pipes: &Pipes,
) -> Reason {
    let known = process.fd(root, number).map(|fd| on_target(fd, direction, pipes));
    if matches!(known, Some(Reason::Reading(_) | Reason::Writing(_))) {
        return known.unwrap_or(Reason::Other(Cause::Unknown));
    }
    // Not a pipe, as far as known: a shell may have led it elsewhere since.
    process.forget_fd(number);
    match process.fd(root, number) {
        Some(fd) => on_target(fd, direction, pipes),
        None => Reason::Other(Cause::Unknown),
    }
}

fn on_target(fd: &Fd, direction: Direction, pipes: &Pipes) -> Reason {
    if let Some(index) = pipe_of(&fd.target).and_then(|id| pipes.find(id)) {
        return match direction {
            Direction::Read => Reason::Reading(index),
            Direction::Write => Reason::Writing(index),
        };
    }
    Reason::Other(match fd.target {
        Target::Socket => Cause::Network,
        Target::Terminal => Cause::Terminal,
        Target::File => Cause::Disk,
        Target::Anonymous | Target::Epoll => Cause::Lock,
        Target::Pipe(_) | Target::Fifo { .. } | Target::Device => Cause::Unknown,
    })
}

/// A thread that polls waits for all of its descriptors at once; the one that holds it back is told
/// from the other side of the pipes.
fn polled(root: &Root, process: &mut Process, entries: &[PollEntry], pipes: &Pipes) -> Reason {
    if entries.is_empty() {
        return Reason::Other(Cause::Sleep);
    }
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for entry in entries {
        if entry.reads {
            reads.push(on(root, process, entry.fd, Direction::Read, pipes));
        }
        if entry.writes {
            writes.push(on(root, process, entry.fd, Direction::Write, pipes));
        }
    }
    either(&reads, &writes, pipes)
}

/// Of several things polled at once, the one to blame.
///
/// Who can neither read nor write has an empty pipe before it and a full one behind it: the full one
/// is to blame, unless its reader starves, too (then it was only just filled).
fn either(reads: &[Reason], writes: &[Reason], pipes: &Pipes) -> Reason {
    let full = writes
        .iter()
        .find(|reason| matches!(reason, Reason::Writing(pipe) if !pipes.list[*pipe].reader_waits));
    let empty = reads
        .iter()
        .find(|reason| matches!(reason, Reason::Reading(pipe) if !pipes.list[*pipe].writer_waits));
    let highest = || reads.iter().chain(writes).max_by_key(|reason| reason.rank());
    full.or(empty).or_else(highest).copied().unwrap_or(Reason::Other(Cause::Sleep))
}

/// splice(2) and its like wait for data first, then for room.
fn moving(root: &Root, process: &mut Process, from: i32, to: i32, pipes: &Pipes) -> Reason {
    let reading = on(root, process, from, Direction::Read, pipes);
    let writing = on(root, process, to, Direction::Write, pipes);
    let Reason::Reading(source) = reading else {
        // From a file or socket: when the reader of a pipe starves, the source is slow.
        return match writing {
            Reason::Writing(target) if !pipes.list[target].reader_waits => writing,
            _ => reading,
        };
    };
    let handle = Handle { pid: process.pid, fd: from, pipe: pipes.list[source].id, end: End::Read };
    match lend(handle, |fd| fill(fd)) {
        Ok(Ok(Bytes(0))) => reading,
        Ok(Ok(_)) => writing,
        _ if pipes.list[source].writer_waits => writing,
        _ => reading,
    }
}
