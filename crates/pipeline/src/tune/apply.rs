//! Making changes to pipes of other processes: the only place that does.

use fullbore_measure::Bytes;
use fullbore_pipe::{Handle, is_room_for, lend, set_capacity};

use crate::sampler::{Sampler, ask};
use crate::topology::Topology;
use crate::topology::pipes::Pipe;
use crate::tune::change::{Answer, Change, Room, Tuning};

/// Makes a change.
pub(crate) fn apply(
    change: &Change,
    tuning: Tuning,
    topology: &Topology,
    sampler: &Sampler,
) -> Answer {
    let Some(pipe) = topology.pipes.get(change.pipe) else { return Answer::Gone };
    let is_fixed = matches!(tuning, Tuning::Fixed(_));
    // A pipe of others must be put back in the end, which takes a descriptor that outlives the run.
    if is_fixed
        && pipe.is_outside
        && sampler.outside_handles(topology.roots.own, pipe.id).is_empty()
    {
        return Answer::Unseen;
    }
    if let Some(Room { more, limits }) = change.room
        && !is_room_for(more, limits)
    {
        return Answer::Crowded;
    }
    match ask(pipe, |fd| Some(set_capacity(fd, change.to))) {
        Some(Ok(granted)) => Answer::Granted(granted),
        Some(Err(refused)) => Answer::Refused(refused.to_string()),
        None => Answer::Gone,
    }
}

/// Gives the pipes that outlive the run the capacity they had; `false` if more is in one of them than fits into that.
pub(crate) fn restore_all(topology: &Topology, sampler: &Sampler) -> bool {
    let mut is_done = true;
    for (_, pipe) in topology.pipes.iter() {
        if let (Some(initial), Some(capacity)) = (pipe.initial_capacity, pipe.capacity)
            && initial != capacity
        {
            is_done &= restore(pipe, initial, topology.roots.own, sampler) != Restored::InPart;
        }
    }
    is_done
}

/// What became of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Restored {
    Done,
    /// More is queued than fits: it has the next size that does.
    InPart,
    /// Nobody holds an end that can be seen.
    Gone,
}

fn restore(pipe: &Pipe, capacity: Bytes, own: i32, sampler: &Sampler) -> Restored {
    let shrink = |handle: Handle| {
        let mut sizes = (0..10).map(|doublings| Bytes(capacity.0 << doublings));
        lend(handle, |fd| match sizes.find(|size| set_capacity(fd, *size).is_ok()) {
            Some(size) if size == capacity => Restored::Done,
            Some(_) => Restored::InPart,
            None => Restored::Gone,
        })
        .unwrap_or(Restored::Gone)
    };
    let is_told = |restored: &Restored| *restored != Restored::Gone;
    let by_ours = pipe.handles.iter().map(|held| shrink(held.handle)).find(is_told);
    by_ours.unwrap_or_else(|| {
        let outside =
            if pipe.leads_outside() { sampler.outside_handles(own, pipe.id) } else { Vec::new() };
        outside.into_iter().map(shrink).find(is_told).unwrap_or(Restored::Gone)
    })
}
