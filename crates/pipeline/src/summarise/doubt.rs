//! Counts of bytes that cannot be true.

use fullbore_record::{PipeRecord, RunRecord};

/// A neighbour that read more than this beyond what was written got it by splice, which Linux does not count.
const UNCOUNTED_BYTES: u64 = 1 << 20;

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
