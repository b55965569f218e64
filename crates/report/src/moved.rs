//! What a stage moved, without what it only put aside.

use fullbore_record::{PipeRecord, RunRecord, StageRecord};

/// What a stage took in and gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    /// Bytes read; `None` when unknown.
    pub(crate) read: Option<u64>,
    /// Bytes written.
    pub(crate) written: Option<u64>,
}

/// Bytes that the stage read and wrote, without those that it wrote to files of its own and read back, as sort does.
///
/// Linux counts all descriptors of a process together. What the stage read beyond what was written into the pipes it
/// reads, and wrote beyond what was read from the pipes it writes, went elsewhere: the lesser of the two was put aside.
pub(crate) fn moved(record: &RunRecord, stage: &StageRecord) -> Moved {
    let aside = put_aside(record, stage).unwrap_or(0);
    let without = |bytes: Option<u64>| bytes.map(|bytes| bytes - aside);
    Moved { read: without(stage.read_bytes), written: without(stage.written_bytes) }
}

/// `None` when what went through its pipes is not known on both sides.
fn put_aside(record: &RunRecord, stage: &StageRecord) -> Option<u64> {
    let inputs: fn(&PipeRecord) -> Side<'_> =
        |pipe| Side { own: &pipe.readers, others: &pipe.writers, is_outside: pipe.outside_writer };
    let outputs: fn(&PipeRecord) -> Side<'_> =
        |pipe| Side { own: &pipe.writers, others: &pipe.readers, is_outside: pipe.outside_reader };
    let came = through_pipes(record, stage, inputs, |other| other.written_bytes)?;
    let went = through_pipes(record, stage, outputs, |other| other.read_bytes)?;
    let read_elsewhere = stage.read_bytes?.saturating_sub(came);
    let written_elsewhere = stage.written_bytes?.saturating_sub(went);
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

    #[test]
    fn a_file_that_is_only_read_or_only_written_counts() {
        assert_eq!(of_the_middle(&record(128, 28, Some(28))), (Some(128), Some(28)));
        assert_eq!(of_the_middle(&record(28, 56, Some(28))), (Some(28), Some(56)));
    }

    #[test]
    fn where_a_neighbour_has_no_count_nothing_is_taken_off() {
        assert_eq!(of_the_middle(&record(85, 84, None)), (Some(85), Some(84)));
        let mut outside = record(85, 84, Some(27));
        outside.pipes[0].outside_writer = true;
        assert_eq!(of_the_middle(&outside), (Some(85), Some(84)));
    }
}
