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

/// Gives the pipes that outlive the run the capacity they had.
pub(crate) fn restore_all(topology: &Topology, sampler: &Sampler) {
    for (_, pipe) in topology.pipes.iter() {
        if let (Some(initial), Some(capacity)) = (pipe.initial_capacity, pipe.capacity)
            && initial != capacity
        {
            restore(pipe, initial, topology.roots.own, sampler);
        }
    }
}

fn restore(pipe: &Pipe, capacity: Bytes, own: i32, sampler: &Sampler) {
    let shrink = |handle: Handle| {
        // More may be queued than fits: then to the next size that does.
        let mut sizes = (0..10).map(|doublings| Bytes(capacity.0 << doublings));
        lend(handle, |fd| sizes.any(|size| set_capacity(fd, size).is_ok())).unwrap_or(false)
    };
    let is_done = pipe.handles.iter().any(|held| shrink(held.handle));
    if !is_done && pipe.leads_outside() {
        let _ = sampler.outside_handles(own, pipe.id).into_iter().any(shrink);
    }
}
