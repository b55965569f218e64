//! Counts of bytes that cannot be true.

use fullbore_record::{PipeRecord, RunRecord, StageRecord};

/// A neighbour that read more than this beyond what was written got it by splice, which Linux does not count.
const UNCOUNTED_BYTES: u64 = 1 << 20;

/// What a shell that reads a file line by line goes back to read again is no more input: it reads a block, uses a line of it, and
/// goes back behind that.
pub(crate) fn doubt_read_again(record: &mut RunRecord) {
    let fed =
        |stage: &StageRecord| record.pipes.iter().any(|pipe| pipe.readers.contains(&stage.stage));
    let goes_back = |stage: &StageRecord| {
        let mean = stage
            .read_bytes
            .zip(stage.read_calls)
            .and_then(|(bytes, calls)| bytes.checked_div(calls));
        stage.words.first().is_some_and(|word| fullbore_shell::is_shell(word))
            && stage.read_calls.is_some_and(|calls| calls >= MANY_CALLS)
            && mean.is_some_and(|bytes| bytes > 1)
    };
    let doubtful: Vec<usize> = (0..record.stages.len())
        .filter(|index| goes_back(&record.stages[*index]) && !fed(&record.stages[*index]))
        .collect();
    for index in doubtful {
        record.stages[index].read_bytes = None;
        record.stages[index].read_calls = None;
    }
}

/// A shell that calls read(2) less often has read its script, and little else.
const MANY_CALLS: u64 = 1000;

/// Splice is not counted by Linux: where neighbours disagree about what went through the pipe between
/// them, the one that shows less is unknown, not small.
pub(crate) fn doubt_uncounted_bytes(record: &mut RunRecord) {
    for pipe in &record.pipes {
        let ([writer], [reader]) = (&pipe.writers[..], &pipe.readers[..]) else { continue };
        let ends = |stage: u32, end: fn(&PipeRecord) -> &Vec<u32>| {
            record.pipes.iter().filter(|other| end(other).contains(&stage)).count()
        };
        if ends(*reader, |pipe| &pipe.readers) != 1 {
            continue;
        }
        let place = |stage: u32| record.stages.iter().position(|other| other.stage == stage);
        let (Some(writer), Some(reader)) = (place(*writer), place(*reader)) else { continue };
        let (written, read) =
            (record.stages[writer].written_bytes, record.stages[reader].read_bytes);
        let (Some(written), Some(read)) = (written, read) else { continue };
        let queued = pipe.capacity_bytes.unwrap_or(0);
        if read / 4 > written.saturating_add(UNCOUNTED_BYTES) {
            record.stages[writer].written_bytes = None;
            record.stages[writer].write_calls = None;
        }
        let has_read_to_the_end = record.stages[reader].exit_status == Some(0);
        if written > read.saturating_add(read / 8 + UNCOUNTED_BYTES + queued)
            && has_read_to_the_end
            && read < written / 16
        {
            record.stages[reader].read_bytes = None;
            record.stages[reader].read_calls = None;
        }
    }
}
