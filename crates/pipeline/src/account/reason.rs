//! Why a stage waits, from what its threads were seen to do.

use std::collections::BTreeSet;

use crate::sample::{Awaited, Doing};
use crate::topology::pipes::{PipeKey, Pipes};
use fullbore_record::Cause;

/// Why a stage waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reason {
    /// For data in a pipe.
    Reading(PipeKey),
    /// For room in a pipe.
    Writing(PipeKey),
    /// For anything else.
    Other(Cause),
}

impl Reason {
    /// Which of several waiting threads speaks for the stage: the one on the path of the data.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Writing(_) => 9,
            Self::Reading(_) => 8,
            Self::Other(Cause::Disk) => 7,
            Self::Other(Cause::Network | Cause::Peer) => 6,
            Self::Other(Cause::Terminal) => 5,
            Self::Other(Cause::Stopped) => 4,
            Self::Other(Cause::FifoPeer | Cause::LocalSocket) => 3,
            Self::Other(Cause::Sleep) => 2,
            Self::Other(Cause::Child) => 0,
            Self::Other(_) => 1,
        }
    }
}

/// The sides of pipes that waited at the sample before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Starving {
    /// Pipes with a reader that waited for data.
    pub(crate) readers: BTreeSet<PipeKey>,
    /// Pipes with a writer that waited for room.
    pub(crate) writers: BTreeSet<PipeKey>,
}

impl Starving {
    /// Notes what a stage waits for.
    pub(crate) fn note(&mut self, reason: Reason) {
        match reason {
            Reason::Reading(pipe) => self.readers.insert(pipe),
            Reason::Writing(pipe) => self.writers.insert(pipe),
            Reason::Other(_) => false,
        };
    }
}

/// Why a thread of `fullbore par` or of one of its copies waits. par itself waits for the pipes at its ends or for a disk,
/// and otherwise for its copies; a pipe that was not seen yet is one between them.
pub(crate) fn within_par(reason: Reason, is_copy: bool) -> Reason {
    match reason {
        Reason::Other(Cause::Unknown) => Reason::Other(Cause::Child),
        Reason::Other(Cause::Disk | Cause::Stopped) | Reason::Reading(_) | Reason::Writing(_) => {
            reason
        }
        Reason::Other(_) if is_copy => reason,
        Reason::Other(_) => Reason::Other(Cause::Child),
    }
}

/// Why a thread of `stage` waits; `None` when it runs.
pub(crate) fn reason(
    doing: &Doing,
    stage: usize,
    pipes: &Pipes,
    before: &Starving,
) -> Option<Reason> {
    let reason = match doing {
        Doing::Running => return None,
        Doing::Reading(place) => at(*place, Reason::Reading, pipes),
        Doing::Writing(place) => at(*place, Reason::Writing, pipes),
        Doing::Waiting(cause) => Reason::Other(*cause),
        Doing::Polling { reads, writes } => {
            let reads: Vec<Reason> =
                reads.iter().map(|place| at(*place, Reason::Reading, pipes)).collect();
            let writes: Vec<Reason> =
                writes.iter().map(|place| at(*place, Reason::Writing, pipes)).collect();
            polling(&reads, &writes, before)
        }
        Doing::Moving { from, to, source_fill_bytes } => moving(
            at(*from, Reason::Reading, pipes),
            at(*to, Reason::Writing, pipes),
            *source_fill_bytes,
            before,
        ),
    };
    Some(match reason {
        _ if !is_inner(reason, stage, pipes) => reason,
        // Who holds both ends alone is woken by its own thread or signal handler.
        _ if is_held_by_one(reason, pipes) => Reason::Other(Cause::Event),
        _ => Reason::Other(Cause::Child),
    })
}

/// Whether one process holds all ends of the pipe.
fn is_held_by_one(reason: Reason, pipes: &Pipes) -> bool {
    let (Reason::Reading(pipe) | Reason::Writing(pipe)) = reason else { return false };
    let handles = pipes.get(pipe).map_or(&[][..], |pipe| &pipe.handles);
    // Of a pipe with one end, the other was held by a process that has ended.
    handles.len() > 1 && handles.windows(2).all(|two| two[0].handle.pid == two[1].handle.pid)
}

/// A pipe within a stage (a program and its helper) is the stage's own affair.
fn is_inner(reason: Reason, stage: usize, pipes: &Pipes) -> bool {
    let (Reason::Reading(pipe) | Reason::Writing(pipe)) = reason else { return false };
    pipes.get(pipe).is_some_and(|pipe| pipe.is_within(stage))
}

/// Every pipe that a thread of `stage` waits for: who polls several goes on when one of them is ready.
pub(crate) fn awaited_pipes(doing: &Doing, stage: usize, pipes: &Pipes) -> Vec<Reason> {
    let (reads, writes) = match doing {
        Doing::Reading(place) => (std::slice::from_ref(place), &[][..]),
        Doing::Writing(place) => (&[][..], std::slice::from_ref(place)),
        Doing::Polling { reads, writes } => (&reads[..], &writes[..]),
        Doing::Running | Doing::Moving { .. } | Doing::Waiting(_) => return Vec::new(),
    };
    let reads = reads.iter().map(|place| at(*place, Reason::Reading, pipes));
    let all = reads.chain(writes.iter().map(|place| at(*place, Reason::Writing, pipes)));
    all.filter(|reason| !matches!(reason, Reason::Other(_)) && !is_inner(*reason, stage, pipes))
        .collect()
}

fn at(place: Awaited, way: fn(PipeKey) -> Reason, pipes: &Pipes) -> Reason {
    match place {
        Awaited::Pipe(id) => pipes.find(id).map_or(Reason::Other(Cause::Unknown), way),
        Awaited::Other(cause) => Reason::Other(cause),
    }
}

/// Of several places polled at once, the one to blame.
///
/// Who can neither read nor write has an empty pipe before it and a full one behind it: the full one
/// is to blame, unless its reader starves, too (then it was only just filled).
fn polling(reads: &[Reason], writes: &[Reason], before: &Starving) -> Reason {
    let full = writes
        .iter()
        .find(|reason| matches!(reason, Reason::Writing(pipe) if !before.readers.contains(pipe)));
    let empty = reads
        .iter()
        .find(|reason| matches!(reason, Reason::Reading(pipe) if !before.writers.contains(pipe)));
    let highest = || reads.iter().chain(writes).max_by_key(|reason| reason.rank());
    full.or(empty).or_else(highest).copied().unwrap_or(Reason::Other(Cause::Sleep))
}

/// splice(2) and its like wait for data first, then for room.
fn moving(
    reading: Reason,
    writing: Reason,
    source_fill_bytes: Option<u64>,
    before: &Starving,
) -> Reason {
    let Reason::Reading(source) = reading else {
        // From a file or socket: when the reader of the target starves, the source is slow.
        return match writing {
            Reason::Writing(target) if !before.readers.contains(&target) => writing,
            _ => reading,
        };
    };
    match source_fill_bytes {
        Some(0) => reading,
        Some(_) => writing,
        None if before.writers.contains(&source) => writing,
        None => reading,
    }
}

/// The full pipe that a stage without a reason of its own waits at: one whose reader does not wait for data.
///
/// `fullbore par` looks at its pipes from time to time and never blocks in a system call that would tell.
pub(crate) fn full_pipe(stage: usize, pipes: &Pipes, before: &Starving) -> Option<Reason> {
    let mut written =
        pipes.iter().filter(|(_, pipe)| pipe.is_alive() && pipe.writers.contains(&stage));
    written
        .find(|(key, pipe)| {
            let is_read = pipe.readers.iter().any(|reader| *reader != stage);
            is_read && !before.readers.contains(key)
        })
        .map(|(key, _)| Reason::Writing(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::pipes::{Held, Purpose};
    use fullbore_pipe::{End, Handle, PipeId};

    #[test]
    fn par_waits_for_its_ends_and_otherwise_for_its_copies() {
        let (_, [pipe, _], _) = two_pipes();
        let child = Reason::Other(Cause::Child);
        for (reason, of_par, of_copy) in [
            (Reason::Reading(pipe), Reason::Reading(pipe), Reason::Reading(pipe)),
            (Reason::Other(Cause::Disk), Reason::Other(Cause::Disk), Reason::Other(Cause::Disk)),
            (Reason::Other(Cause::LocalSocket), child, Reason::Other(Cause::LocalSocket)),
            (Reason::Other(Cause::Sleep), child, Reason::Other(Cause::Sleep)),
            (Reason::Other(Cause::Unknown), child, child),
        ] {
            assert_eq!([false, true].map(|is_copy| within_par(reason, is_copy)), [of_par, of_copy]);
        }
    }

    #[test]
    fn a_pipe_within_a_stage_is_its_own_affair() {
        let (mut pipes, [key, _], [place, _]) = two_pipes();
        for (pids, cause) in [([1, 1], Cause::Event), ([1, 2], Cause::Child)] {
            let held = |pid, end| Held {
                handle: Handle { pid, fd: 0, pipe: PipeId::anonymous(1), end },
                stage: 1,
                purpose: Purpose::Use,
                is_copy: false,
            };
            let pipe = pipes.get_mut(key).unwrap();
            pipe.handles = vec![held(pids[0], End::Write), held(pids[1], End::Read)];
            pipe.note_users();
            let found = reason(&Doing::Reading(place), 1, &pipes, &Starving::default());
            assert_eq!(found, Some(Reason::Other(cause)), "{pids:?}");
        }
    }

    #[test]
    fn a_pipe_is_full_while_its_reader_does_not_starve() {
        let (mut pipes, [out, _], _) = two_pipes();
        let held = |stage, end| Held {
            handle: Handle { pid: 1, fd: 0, pipe: PipeId::anonymous(1), end },
            stage,
            purpose: Purpose::Use,
            is_copy: false,
        };
        let pipe = pipes.get_mut(out).unwrap();
        pipe.handles = vec![held(1, End::Write), held(2, End::Read)];
        pipe.note_users();
        let starving = Starving { readers: [out].into(), ..Starving::default() };
        assert_eq!(full_pipe(1, &pipes, &Starving::default()), Some(Reason::Writing(out)));
        assert_eq!(full_pipe(1, &pipes, &starving), None);
        assert_eq!(full_pipe(2, &pipes, &Starving::default()), None, "it reads there");
    }

    fn two_pipes() -> (Pipes, [PipeKey; 2], [Awaited; 2]) {
        let mut pipes = Pipes::default();
        let ids = [PipeId::anonymous(1), PipeId::anonymous(2)];
        let keys = ids.map(|id| pipes.learn(id, None));
        (pipes, keys, ids.map(Awaited::Pipe))
    }

    #[test]
    fn a_relay_that_can_neither_read_nor_write_waits_for_its_reader() {
        let (pipes, [_, behind], [source, target]) = two_pipes();
        let doing = Doing::Polling { reads: vec![source], writes: vec![target] };
        let found = reason(&doing, 1, &pipes, &Starving::default());
        assert_eq!(found, Some(Reason::Writing(behind)));
    }

    #[test]
    fn a_relay_whose_reader_starves_waits_for_its_source() {
        let (pipes, [before, behind], [source, target]) = two_pipes();
        let doing = Doing::Polling { reads: vec![source], writes: vec![target] };
        let starving = Starving { readers: [behind].into(), ..Starving::default() };
        assert_eq!(reason(&doing, 1, &pipes, &starving), Some(Reason::Reading(before)));
    }

    #[test]
    fn splice_waits_for_data_while_its_source_is_empty_and_then_for_room() {
        let (pipes, [before, behind], [from, to]) = two_pipes();
        for (fill, expected) in [(0, Reason::Reading(before)), (9, Reason::Writing(behind))] {
            let doing = Doing::Moving { from, to, source_fill_bytes: Some(fill) };
            assert_eq!(reason(&doing, 1, &pipes, &Starving::default()), Some(expected));
        }
    }

    #[test]
    fn a_pipe_that_nobody_was_seen_to_hold_is_an_unknown_cause() {
        let doing = Doing::Reading(Awaited::Pipe(PipeId::anonymous(77)));
        let found = reason(&doing, 1, &Pipes::default(), &Starving::default());
        assert_eq!(found, Some(Reason::Other(Cause::Unknown)));
    }
}
