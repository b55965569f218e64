//! What a stage moved, without what it only put aside.

use fullbore_record::{Cause, PipeRecord, RunRecord, StageRecord};

/// What a stage took in and gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Bytes read; `None` when unknown.
    pub(crate) read: Option<u64>,
    /// Bytes written.
    pub(crate) written: Option<u64>,
}

/// Bytes that passed through the stage: what it read and wrote, without what did not come through its pipes.
///
/// Linux counts all descriptors of a process together: files of its own that a program writes and reads back (sort), what it
/// loads before it begins (parallel loads two megabytes of Perl), what it reads beside its input. Bytes of sockets are mostly
/// not counted. So where a stage has pipes, what was counted at their other ends is the most that can have gone through.
pub(crate) fn moved(record: &RunRecord, stage: &StageRecord) -> Moved {
    let came = through_pipes(record, stage, INPUTS, |other| other.written_bytes);
    let went = through_pipes(record, stage, OUTPUTS, |other| other.read_bytes);
    let aside = put_aside(stage, came, went).unwrap_or(0);
    let without = |bytes: Option<u64>| bytes.map(|bytes| bytes.saturating_sub(aside));
    let (read, written) = (without(stage.read_bytes), without(stage.written_bytes));
    let at_most = |bytes: Option<u64>, through: Option<u64>| match (bytes, through) {
        (Some(bytes), Some(through)) if bytes > through.saturating_add(unseen(stage, through)) => {
            Some(through)
        }
        _ => bytes,
    };
    let (read, written) = (at_most(read, came), at_most(written, went));
    // Several processes that read no pipe (make): what they did not write into the pipeline, they passed to each other.
    let among_them = match (came, went) {
        (None, Some(went)) if stage.processes > 1 => {
            stage.written_bytes.unwrap_or(0).saturating_sub(went)
        }
        _ => 0,
    };
    let read = read.map(|bytes| bytes.saturating_sub(among_them));
    let by_socket = [Cause::Network, Cause::Peer]
        .iter()
        .any(|cause| stage.blocked_other_causes.contains_key(cause));
    let is_missing = |here: Option<u64>, there: Option<u64>, through: Option<u64>| {
        by_socket && through.is_none() && here.unwrap_or(0) < there.unwrap_or(0)
    };
    Moved {
        read: read.filter(|_| !is_missing(read, written, came)),
        written: written.filter(|_| !is_missing(written, read, went)),
    }
}

/// Bytes that a neighbour may have moved and nobody counted: what is still in a pipe, and what passed between the last look at
/// a process and its end.
fn unseen(stage: &StageRecord, through: u64) -> u64 {
    PIPE_BYTES.saturating_add(through / (stage.life_ns / LOOK_NS).max(1))
}

/// Counts of bytes are read this often, with room to spare.
const LOOK_NS: u64 = 100_000_000;
/// Capacity of a pipe as Linux makes it.
const PIPE_BYTES: u64 = 65_536;

const INPUTS: fn(&PipeRecord) -> Side<'_> =
    |pipe| Side { own: &pipe.readers, others: &pipe.writers, is_outside: pipe.outside_writer };
const OUTPUTS: fn(&PipeRecord) -> Side<'_> =
    |pipe| Side { own: &pipe.writers, others: &pipe.readers, is_outside: pipe.outside_reader };

/// What the stage read beyond what was written into the pipes it reads, and wrote beyond what was read from the pipes it writes,
/// went elsewhere: the lesser of the two was put aside. `None` when what went through its pipes is not known on both sides.
fn put_aside(stage: &StageRecord, came: Option<u64>, went: Option<u64>) -> Option<u64> {
    let read_elsewhere = stage.read_bytes?.saturating_sub(came?);
    let written_elsewhere = stage.written_bytes?.saturating_sub(went?);
    Some(read_elsewhere.min(written_elsewhere))
}

/// A pipe as seen from one of its ends.
struct Side<'a> {
    own: &'a [u32],
    others: &'a [u32],
    is_outside: bool,
}

/// The most that can have gone through the pipes on one side of the stage, by the count of the stages at their other ends;
/// `None` when there is no such pipe, or one of them leads to something without a count.
fn through_pipes(
    record: &RunRecord,
    stage: &StageRecord,
    side: fn(&PipeRecord) -> Side<'_>,
    count: fn(&StageRecord) -> Option<u64>,
) -> Option<u64> {
    let mut pipes =
        record.pipes.iter().map(side).filter(|side| side.own.contains(&stage.stage)).peekable();
    pipes.peek()?;
    let mut sum = 0_u64;
    for side in pipes {
        if side.is_outside || side.others.is_empty() {
            return None;
        }
        for number in side.others {
            let other = record.stages.iter().find(|other| other.stage == *number)?;
            sum = sum.saturating_add(count(other)?);
        }
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `seq | STAGE | gzip`: seq wrote 28 bytes, gzip read `went`.
    fn record(read: u64, written: u64, went: Option<u64>) -> RunRecord {
        let stage = |number, read_bytes, written_bytes| {
            let mut stage = StageRecord::default();
            (stage.stage, stage.read_bytes, stage.written_bytes) =
                (number, read_bytes, written_bytes);
            stage
        };
        let pipe = |writer, reader| {
            let mut pipe = PipeRecord::default();
            (pipe.writers, pipe.readers) = (vec![writer], vec![reader]);
            pipe
        };
        let mut record = RunRecord::default();
        record.stages = vec![
            stage(1, Some(0), Some(28)),
            stage(2, Some(read), Some(written)),
            stage(3, went, Some(9)),
        ];
        record.pipes = vec![pipe(1, 2), pipe(2, 3)];
        record
    }

    fn of_the_middle(record: &RunRecord) -> (Option<u64>, Option<u64>) {
        let moved = moved(record, &record.stages[1]);
        (moved.read, moved.written)
    }

    #[test]
    fn what_sort_puts_aside_does_not_pass_through_its_pipes() {
        assert_eq!(of_the_middle(&record(85, 84, Some(27))), (Some(28), Some(27)));
    }

    const MANY: u64 = 50_000_000;

    #[test]
    fn what_did_not_come_through_the_pipes_does_not_count() {
        assert_eq!(of_the_middle(&record(MANY, 28, Some(28))), (Some(28), Some(28)));
        assert_eq!(of_the_middle(&record(28, MANY, Some(28))), (Some(28), Some(28)));
    }

    #[test]
    fn a_little_more_may_not_have_been_seen_at_the_other_end() {
        assert_eq!(of_the_middle(&record(128, 28, Some(28))), (Some(128), Some(28)));
        assert_eq!(of_the_middle(&record(28, 65_000, Some(28))), (Some(28), Some(65_000)));
    }

    /// `curl … | gzip`: what it receives is not counted.
    #[test]
    fn bytes_of_sockets_are_unknown() {
        let mut record = record(0, MANY, Some(MANY));
        record.pipes.remove(0);
        assert_eq!(of_the_middle(&record), (Some(0), Some(MANY)));
        record.stages[1].blocked_other_causes.insert(Cause::Network, 40.0);
        assert_eq!(of_the_middle(&record), (None, Some(MANY)));
    }

    #[test]
    fn where_a_neighbour_has_no_count_nothing_is_taken_off() {
        assert_eq!(of_the_middle(&record(85, 84, None)), (Some(85), Some(84)));
        let mut outside = record(85, 84, Some(27));
        outside.pipes[0].outside_writer = true;
        assert_eq!(of_the_middle(&outside), (Some(85), Some(84)));
    }
}
