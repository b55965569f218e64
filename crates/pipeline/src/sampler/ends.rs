//! The ends of pipes: which descriptors lead to one, and what a pipe answers when it is asked through one.

use std::os::fd::BorrowedFd;

use fullbore_measure::Bytes;
use fullbore_pipe::{End, Handle, PipeId, capacity, lend};
use fullbore_proc::{Fd, Root, Target};

use crate::sample::{PipeCapacity, PipeEnd};
use crate::topology::Topology;
use crate::topology::pipes::Pipe;

/// Descriptors of these processes that lead to a pipe, as far as they may be seen.
pub(super) fn handles_of(
    processes: impl Iterator<Item = i32>,
    root: &Root,
    pipe: PipeId,
) -> Vec<Handle> {
    let of = |pid: i32| {
        let ends = pipe_ends(&root.fds(pid).unwrap_or_default()).into_iter();
        let ends = ends.filter(move |end| end.pipe == pipe);
        ends.map(move |end| {
            let which = if end.reads { End::Read } else { End::Write };
            Handle { pid, fd: end.fd, pipe, end: which }
        })
    };
    processes.flat_map(of).collect()
}

/// The descriptors that lead to pipes.
pub(crate) fn pipe_ends(fds: &[Fd]) -> Vec<PipeEnd> {
    let ends = fds.iter().filter_map(|fd| {
        let path = match &fd.target {
            Target::Fifo { path, .. } => Some(path.clone()),
            _ => None,
        };
        let pipe = pipe_of(&fd.target)?;
        Some(PipeEnd { fd: fd.number, pipe, path, reads: fd.reads, writes: fd.writes })
    });
    ends.collect()
}

/// The capacities of live pipes that are not known yet.
pub(super) fn capacities(topology: &Topology) -> Vec<PipeCapacity> {
    let new = topology.pipes.iter().map(|(_, pipe)| pipe);
    let new = new.filter(|pipe| pipe.is_alive() && pipe.initial_capacity.is_none());
    new.filter_map(|pipe| {
        let Bytes(bytes) = ask(pipe, |fd| capacity(fd).ok())?;
        Some(PipeCapacity { pipe: pipe.id, bytes })
    })
    .collect()
}

/// Asks a pipe something through the first descriptor that still leads to it.
pub(crate) fn ask<T>(pipe: &Pipe, question: impl Fn(BorrowedFd<'_>) -> Option<T>) -> Option<T> {
    // A read end is asked first: to hold one for a moment delays nothing.
    let mut handles: Vec<Handle> = pipe.handles.iter().map(|held| held.handle).collect();
    handles.sort_by_key(|handle| handle.end);
    handles.into_iter().find_map(|handle| lend(handle, &question).ok().flatten())
}

/// The identity of the pipe a descriptor leads to.
pub(crate) fn pipe_of(target: &Target) -> Option<PipeId> {
    match target {
        Target::Pipe(inode) => Some(PipeId::anonymous(*inode)),
        Target::Fifo { device, inode, .. } => Some(PipeId::from_stat(*device, *inode)),
        Target::OneWay(inode) => Some(socket_pair(*inode)),
        _ => None,
    }
}

/// A pair of sockets that is used as a pipe is one to all code but that which asks it for its capacity: it has none. No
/// file system has this device.
fn socket_pair(receiver: u64) -> PipeId {
    PipeId::from_stat(u64::MAX, receiver)
}
