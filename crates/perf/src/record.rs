//! Records of the ring buffer that say something about a thread.

use crate::body::Body;

/// A thread got a CPU, left it, began or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// When, in nanoseconds of `CLOCK_MONOTONIC` (clock_gettime(2)).
    pub at_ns: u64,
    /// The process, as the pid namespace of the caller numbers it.
    pub pid: i32,
    /// The thread.
    pub tid: i32,
    /// What happened.
    pub kind: Kind,
}

/// What happened to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// It got a CPU.
    On,
    /// It left its CPU, to wait for something.
    Off,
    /// It lost its CPU to another thread, though it would have gone on.
    Preempted,
    /// It began; `parent` is the process that started it.
    Begun {
        /// The process that started it: its own, for a thread.
        parent: i32,
    },
    /// It ended, or went out of sight: a program with privileges of its own may not be watched (execve(2)).
    Ended,
}

/// What one record of the ring buffer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    Switch(Switch),
    /// So many records found no room.
    Lost(u64),
    /// Nothing that is asked for here.
    Other,
}

/// Types of records and their flags: perf_event_open(2), `linux/perf_event.h`.
pub(crate) const LOST: u32 = 2;
pub(crate) const EXIT: u32 = 4;
pub(crate) const FORK: u32 = 7;
const SWITCH: u32 = 14;
const SWITCH_OUT: u16 = 1 << 13;
const SWITCH_OUT_PREEMPT: u16 = 1 << 14;

impl Record {
    /// Reads a record of a counter with `sample_id_all`, whose samples hold thread and time: every record then ends in
    /// `{ u32 pid, tid; u64 time; }`. `None` for one that is too short.
    pub(crate) fn parse(kind: u32, misc: u16, body: &[u8]) -> Option<Self> {
        let (mut before, mut id) = split_id(body)?;
        let (pid, tid, at_ns) = (id.int()?, id.int()?, id.long()?);
        let switch = |kind| Self::Switch(Switch { at_ns, pid, tid, kind });
        Some(match kind {
            SWITCH if misc & SWITCH_OUT == 0 => switch(Kind::On),
            SWITCH if misc & SWITCH_OUT_PREEMPT != 0 => switch(Kind::Preempted),
            SWITCH => switch(Kind::Off),
            // Of the one that begins or ends, not of the one that was running.
            FORK | EXIT => {
                let Family { pid, parent, tid, at_ns } = Family::read(before)?;
                let kind = if kind == FORK { Kind::Begun { parent } } else { Kind::Ended };
                Self::Switch(Switch { at_ns, pid, tid, kind })
            }
            LOST => Self::Lost(lost(&mut before)?),
            _ => Self::Other,
        })
    }
}

/// Divides a record that ends in `{ u32 pid, tid; u64 time; }`.
pub(crate) fn split_id(body: &[u8]) -> Option<(Body<'_>, Body<'_>)> {
    let (before, id) = body.split_at_checked(body.len().checked_sub(16)?)?;
    Some((Body(before), Body(id)))
}

/// `{ u64 id; u64 lost; }`: how many records found no room.
pub(crate) fn lost(body: &mut Body<'_>) -> Option<u64> {
    body.long()?;
    body.long()
}

/// `{ u32 pid, ppid; u32 tid, ptid; u64 time; }`: a thread that begins or ends, and its parent.
pub(crate) struct Family {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) tid: i32,
    pub(crate) at_ns: u64,
}

impl Family {
    pub(crate) fn read(mut body: Body<'_>) -> Option<Self> {
        let (pid, parent, tid) = (body.int()?, body.int()?, body.int()?);
        body.int()?;
        Some(Self { pid, parent, tid, at_ns: body.long()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(ints: &[u32], longs: &[u64]) -> Vec<u8> {
        let ints = ints.iter().flat_map(|int| int.to_ne_bytes());
        ints.chain(longs.iter().flat_map(|long| long.to_ne_bytes())).collect()
    }

    fn id(at: u64) -> Vec<u8> {
        body(&[70, 71], &[at])
    }

    #[test]
    fn switches_by_their_flags() {
        for (misc, kind) in [(0, Kind::On), (1 << 13, Kind::Off), (3 << 13, Kind::Preempted)] {
            let switch = Switch { at_ns: 5, pid: 70, tid: 71, kind };
            assert_eq!(Record::parse(SWITCH, misc, &id(5)), Some(Record::Switch(switch)));
        }
    }

    #[test]
    fn a_fork_is_about_the_child_and_an_end_about_the_one_that_ended() {
        let of_child = [body(&[80, 70, 81, 71], &[9]), id(10)].concat();
        let switch = |kind| Record::Switch(Switch { at_ns: 9, pid: 80, tid: 81, kind });
        let begun = switch(Kind::Begun { parent: 70 });
        assert_eq!(Record::parse(FORK, 0, &of_child), Some(begun));
        assert_eq!(Record::parse(EXIT, 0, &of_child), Some(switch(Kind::Ended)));
    }

    #[test]
    fn what_was_lost_is_counted() {
        let lost = [body(&[], &[1, 4711]), id(10)].concat();
        assert_eq!(Record::parse(LOST, 0, &lost), Some(Record::Lost(4711)));
    }

    #[test]
    fn a_record_that_is_too_short_is_none_and_another_kind_is_ignored() {
        for length in 0..16 {
            assert_eq!(Record::parse(SWITCH, 0, &id(5)[..length]), None);
        }
        assert_eq!(Record::parse(FORK, 0, &id(5)), None);
        assert_eq!(Record::parse(LOST, 0, &id(5)), None);
        assert_eq!(Record::parse(99, 0, &id(5)), Some(Record::Other));
    }
}
