//! What went into a stage of `fullbore par` and came out of it.
//!
//! Linux counts what its copies read and write, but not what par itself splices, and twice what par copies. So the
//! neighbours say what went through the pipes between them, and the sum over all processes says whether that can be.

use fullbore_record::{PipeRecord, RunRecord};

/// The neighbours say at most this much more than the sum: a process ends with a part of its counts unread.
const MORE_BYTES: u64 = 1 << 20;

/// One side of a stage.
#[derive(Clone, Copy, Debug)]
struct Side {
    near: fn(&PipeRecord) -> &Vec<u32>,
    far: fn(&PipeRecord) -> &Vec<u32>,
    /// What the stage on the other side moved.
    is_input: bool,
}

const SIDES: [Side; 2] = [
    Side { near: |pipe| &pipe.readers, far: |pipe| &pipe.writers, is_input: true },
    Side { near: |pipe| &pipe.writers, far: |pipe| &pipe.readers, is_input: false },
];

/// Puts what went in at the standard input of `fullbore par` and out at its standard output in place of the sums over its
/// processes. `is_spliced` says whether the stage of a number was seen to splice.
pub(crate) fn count_at_the_ends(record: &mut RunRecord, is_spliced: impl Fn(u32) -> bool) {
    for index in 0..record.stages.len() {
        let stage = &record.stages[index];
        if stage.copies.is_none() {
            continue;
        }
        let splices = is_spliced(stage.stage);
        let [input, output] = SIDES.map(|side| at_the_end(record, index, side, splices));
        let stage = &mut record.stages[index];
        (stage.read_bytes, stage.written_bytes) = (input, output);
        // Those of par and of its copies are not of one kind.
        (stage.read_calls, stage.write_calls) = (None, None);
    }
}

fn at_the_end(record: &RunRecord, index: usize, side: Side, splices: bool) -> Option<u64> {
    let stage = &record.stages[index];
    let sum = if side.is_input { stage.read_bytes } else { stage.written_bytes }?;
    let mut pipes = record.pipes.iter().filter(|pipe| (side.near)(pipe).contains(&stage.stage));
    match (pipes.next(), pipes.next()) {
        // The copies read the parts of a file; what goes into one may be counted twice.
        (None, _) => Some(sum).filter(|_| side.is_input),
        (Some(pipe), None) => match by_neighbours(record, pipe, side) {
            // Either may have ended before its last bytes were counted.
            Some(bytes) if bytes <= sum + sum / 4 + MORE_BYTES => {
                Some(if sum <= bytes + bytes / 4 { sum.max(bytes) } else { bytes })
            }
            Some(_) => None,
            None => Some(sum).filter(|_| splices),
        },
        _ => None,
    }
}

/// What the stages at the other side of a pipe moved, if all of it went through that pipe.
fn by_neighbours(record: &RunRecord, pipe: &PipeRecord, side: Side) -> Option<u64> {
    let is_alone = (side.near)(pipe).len() == 1 && !(side.far)(pipe).is_empty();
    let mut sum = 0;
    for number in (side.far)(pipe).iter().filter(|_| is_alone) {
        let others = record.pipes.iter().filter(|other| (side.far)(other).contains(number));
        let neighbour = record.stages.iter().find(|stage| stage.stage == *number)?;
        let bytes = if side.is_input { neighbour.written_bytes } else { neighbour.read_bytes };
        sum += bytes.filter(|_| others.count() == 1)?;
    }
    is_alone.then_some(sum)
}

#[cfg(test)]
mod tests {
    use fullbore_record::StageRecord;

    use super::*;

    fn stage(number: u32, read: Option<u64>, written: Option<u64>) -> StageRecord {
        let mut stage = StageRecord::default();
        stage.stage = number;
        (stage.read_bytes, stage.written_bytes) = (read, written);
        stage
    }

    /// `producer | fullbore par … | consumer`; what goes in and out of the second.
    fn ends(
        producer: Option<u64>,
        sums: [u64; 2],
        consumer: Option<u64>,
        splices: bool,
    ) -> [Option<u64>; 2] {
        let mut record = RunRecord::default();
        let mut par = stage(2, Some(sums[0]), Some(sums[1]));
        par.copies = Some(2);
        par.read_calls = Some(9);
        record.stages = vec![stage(1, None, producer), par, stage(3, consumer, None)];
        for number in 1..3 {
            let mut pipe = PipeRecord::default();
            (pipe.pipe, pipe.writers, pipe.readers) = (number, vec![number], vec![number + 1]);
            record.pipes.push(pipe);
        }
        count_at_the_ends(&mut record, |stage| splices && stage == 2);
        assert_eq!(record.stages[1].read_calls, None);
        [record.stages[1].read_bytes, record.stages[1].written_bytes]
    }

    #[test]
    fn the_neighbours_say_what_went_through_their_pipes() {
        const MB: u64 = 1_000_000;
        // par copies: the sums are twice as much.
        assert_eq!(
            ends(Some(100 * MB), [200 * MB, 20 * MB], Some(10 * MB), false),
            [Some(100 * MB), Some(10 * MB)]
        );
        // The neighbours splice, so that nothing counts; par splices, too: its copies read each byte once.
        assert_eq!(ends(None, [100 * MB, 10 * MB], None, true), [Some(100 * MB), Some(10 * MB)]);
        assert_eq!(ends(None, [100 * MB, 10 * MB], None, false), [None, None]);
        // The last of it was not counted when the producer ended.
        assert_eq!(
            ends(Some(90 * MB), [100 * MB, 10 * MB], Some(9 * MB), true),
            [Some(100 * MB), Some(10 * MB)]
        );
        // `tee copy` writes everything twice; `sort` reads its own files again.
        assert_eq!(ends(Some(200 * MB), [100 * MB, 10 * MB], Some(20 * MB), true), [None, None]);
    }

    #[test]
    fn a_file_is_read_by_the_copies() {
        let mut record = RunRecord::default();
        let mut par = stage(1, Some(100), Some(10));
        par.copies = Some(2);
        record.stages = vec![par];
        count_at_the_ends(&mut record, |_| false);
        let stage = &record.stages[0];
        assert_eq!((stage.read_bytes, stage.written_bytes), (Some(100), None));
    }
}
