//! Why a stage waits that is never met waiting.
//!
//! A stage that is woken 50,000 times a second and shares its CPU with the thread that takes samples is awake at every one
//! of them: it was woken while that CPU woke up for the sample. The scheduler's counts tell that it waits for more than half
//! of its life; the pipes it holds tell what for.

use crate::account::reason::{Reason, Starving};
use crate::topology::pipes::{Pipe, PipeKey, Pipes};

/// So many samples met the stage awake before its pipes are asked: of a stage that is awake 60 % of the time, one in
/// 150 is taken for such a stage by chance.
pub(crate) const SAMPLES: u32 = 10;

/// It waits for this share of its life: what is awake at every sample because it runs all the time needs no explanation.
pub(crate) const WAITING_SHARE: f64 = 0.2;

/// It is woken so often, in a second: what is awake all the time because it lacks a CPU is not.
pub(crate) const WAKE_UPS: f64 = 2_000.0;

/// What `stage` can only wait for: its one pipe, or, of one before it and one behind it, the one whose other side shows that.
/// `None` where it has more pipes, or where their other sides say otherwise.
pub(crate) fn likely(stage: usize, pipes: &Pipes, before: &Starving) -> Option<Reason> {
    let held = |holds: fn(&Pipe, usize) -> bool| -> Vec<PipeKey> {
        let used = pipes.iter().filter(|(_, pipe)| pipe.is_alive() && !pipe.is_within(stage));
        used.filter(|(_, pipe)| holds(pipe, stage)).map(|(key, _)| key).collect()
    };
    let sources = held(|pipe, stage| pipe.readers.contains(&stage));
    let targets = held(|pipe, stage| pipe.writers.contains(&stage));
    // Whoever feeds it waits for room, so it has data; whoever it feeds waits for data, so it has room.
    let has_data = |source: &PipeKey| before.writers.contains(source);
    let has_room = |target: &PipeKey| before.readers.contains(target);
    match (&sources[..], &targets[..]) {
        ([source], []) if !has_data(source) => Some(Reason::Reading(*source)),
        ([], [target]) if !has_room(target) => Some(Reason::Writing(*target)),
        ([source], [target]) => match (has_data(source), has_room(target)) {
            (false, true) => Some(Reason::Reading(*source)),
            (true, false) => Some(Reason::Writing(*target)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::pipes::{Held, Purpose};
    use fullbore_pipe::{End, Handle, PipeId};

    /// Adds a pipe from one stage to another; that of the stage `OUTSIDE` is not of the pipeline.
    fn add(pipes: &mut Pipes, writer: usize, reader: usize) -> PipeKey {
        let id = PipeId::anonymous(pipes.count() as u64 + 1);
        let key = pipes.learn(id, None);
        let held = |(stage, end): (usize, End)| Held {
            handle: Handle { pid: stage.try_into().unwrap(), fd: 0, pipe: id, end },
            stage,
            purpose: Purpose::Use,
            is_copy: false,
        };
        let ends = [(writer, End::Write), (reader, End::Read)];
        let pipe = pipes.get_mut(key).unwrap();
        pipe.handles = ends.into_iter().filter(|(stage, _)| *stage != OUTSIDE).map(held).collect();
        pipe.is_outside = writer == OUTSIDE || reader == OUTSIDE;
        pipe.note_users();
        key
    }

    const OUTSIDE: usize = 99;

    fn waits(readers: &[PipeKey], writers: &[PipeKey]) -> Starving {
        let of = |keys: &[PipeKey]| keys.iter().copied().collect();
        Starving { readers: of(readers), writers: of(writers) }
    }

    #[test]
    fn a_stage_with_one_pipe_waits_for_it_unless_the_other_side_waits_for_this_stage() {
        let mut pipes = Pipes::default();
        let (first, second) = (add(&mut pipes, 0, 1), add(&mut pipes, 1, 2));
        assert_eq!(likely(0, &pipes, &waits(&[], &[])), Some(Reason::Writing(first)));
        assert_eq!(likely(0, &pipes, &waits(&[first], &[])), None);
        assert_eq!(likely(2, &pipes, &waits(&[], &[])), Some(Reason::Reading(second)));
        assert_eq!(likely(2, &pipes, &waits(&[], &[second])), None);
    }

    #[test]
    fn a_stage_in_the_middle_waits_for_the_side_that_does_not_wait_for_it() {
        let mut pipes = Pipes::default();
        let (first, second) = (add(&mut pipes, 0, 1), add(&mut pipes, 1, 2));
        let of_middle = |starving| likely(1, &pipes, &starving);
        assert_eq!(of_middle(waits(&[], &[])), None);
        assert_eq!(of_middle(waits(&[second], &[])), Some(Reason::Reading(first)));
        assert_eq!(of_middle(waits(&[], &[first])), Some(Reason::Writing(second)));
        assert_eq!(of_middle(waits(&[second], &[first])), None);
    }

    #[test]
    fn nothing_is_said_of_a_stage_with_more_pipes_be_they_of_the_pipeline_or_not() {
        let mut pipes = Pipes::default();
        let (_, from_outside) = (add(&mut pipes, 0, 1), add(&mut pipes, OUTSIDE, 0));
        assert!(pipes.get(from_outside).unwrap().readers.contains(&0));
        assert_eq!(likely(0, &pipes, &waits(&[], &[])), None);
        assert!(likely(1, &pipes, &waits(&[], &[])).is_some());
        add(&mut pipes, 2, 1);
        assert_eq!(likely(1, &pipes, &waits(&[], &[])), None, "two sources");
    }
}
