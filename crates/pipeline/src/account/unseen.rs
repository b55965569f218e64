//! Why a stage waits that is never met waiting.
//!
//! A stage that is woken 50,000 times a second and shares its CPU with the thread that takes samples is awake at every one
//! of them: it was woken while that CPU woke up for the sample. The scheduler's counts tell that it waits for more than half
//! of its life; the pipes it holds tell what for.

use crate::account::reason::{Reason, Starving};
use crate::topology::pipes::{Pipe, PipeKey, Pipes};

/// So many samples met the stage awake before its pipes are asked.
pub(crate) const SAMPLES: u32 = 4;

/// It waits for this share of its life: what is awake at every sample because it runs all the time needs no explanation.
pub(crate) const WAITING_SHARE: f64 = 0.2;

/// What `stage` can only wait for: its one pipe, or, of one before it and one behind it, the one whose other side shows that.
pub(crate) fn likely(stage: usize, pipes: &Pipes, before: &Starving) -> Option<Reason> {
    let is_joined = |pipe: &Pipe| pipe.is_alive() && pipe.joins_stages() && !pipe.is_within(stage);
    let held = |holds: fn(&Pipe, usize) -> bool| -> Vec<PipeKey> {
        let held = pipes.iter().filter(|(_, pipe)| is_joined(pipe) && holds(pipe, stage));
        held.map(|(key, _)| key).collect()
    };
    let reads = held(|pipe, stage| pipe.readers.contains(&stage));
    let writes = held(|pipe, stage| pipe.writers.contains(&stage));
    match (&reads[..], &writes[..]) {
        ([source], []) => Some(Reason::Reading(*source)),
        ([], [target]) => Some(Reason::Writing(*target)),
        ([source], [target]) => {
            let (is_full, is_empty) =
                (before.writers.contains(source), before.readers.contains(target));
            match (is_full, is_empty) {
                (false, true) => Some(Reason::Reading(*source)),
                (true, false) => Some(Reason::Writing(*target)),
                // Who has all it needs, or of whose neighbours nothing is known, waits for something else.
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::pipes::{Held, Purpose};
    use fullbore_pipe::{End, Handle, PipeId};

    /// The pipes of `0 | 1 | 2`.
    fn pipes() -> (Pipes, PipeKey, PipeKey) {
        let mut pipes = Pipes::default();
        let keys = [1, 2].map(|number| pipes.learn(PipeId::anonymous(number), None));
        for (key, writer) in keys.into_iter().zip(0..) {
            let pipe = pipes.get_mut(key).unwrap();
            let held = |stage: usize, end| Held {
                handle: Handle { pid: stage.try_into().unwrap(), fd: 0, pipe: pipe.id, end },
                stage,
                purpose: Purpose::Use,
                is_copy: false,
            };
            pipe.handles = vec![held(writer, End::Write), held(writer + 1, End::Read)];
            pipe.note_users();
        }
        (pipes, keys[0], keys[1])
    }

    #[test]
    fn a_stage_with_one_pipe_waits_for_it() {
        let (pipes, first, second) = pipes();
        assert_eq!(likely(0, &pipes, &Starving::default()), Some(Reason::Writing(first)));
        assert_eq!(likely(2, &pipes, &Starving::default()), Some(Reason::Reading(second)));
    }

    #[test]
    fn a_stage_in_the_middle_waits_for_the_side_that_does_not_wait_for_it() {
        let (pipes, first, second) = pipes();
        assert_eq!(likely(1, &pipes, &Starving::default()), None);
        let starving = Starving { readers: [second].into(), ..Starving::default() };
        assert_eq!(likely(1, &pipes, &starving), Some(Reason::Reading(first)));
        let full = Starving { writers: [first].into(), ..Starving::default() };
        assert_eq!(likely(1, &pipes, &full), Some(Reason::Writing(second)));
        let both = Starving { readers: [second].into(), writers: [first].into() };
        assert_eq!(likely(1, &pipes, &both), None);
    }
}
