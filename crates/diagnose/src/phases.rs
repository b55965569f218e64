//! Stages that read everything before they write (sort, tac, sponge): the stages before and after them never work at the same
//! time.

use fullbore_record::StageTimeline;

use super::flow::{Flow, Neighbour, StageFlow};
use super::phrases::time;

/// So much of its input must be read by the time it begins to write.
const EVERYTHING: f64 = 0.98;

/// Up to this share of its output it has not begun: a header, a progress line.
const BEGUN: f64 = 0.02;

/// A reader that waits for this share of a step, in percent, gets nothing in it.
const NOTHING_CAME_PERCENT: f64 = 95.0;

/// The time before and the time after it must each be this part of the run to be worth a word.
const WORTH_A_WORD: f64 = 0.1;

/// With fewer steps the timeline is too coarse to tell.
const STEPS_MIN: usize = 8;

/// A stage that reads or writes less holds nobody up.
const BYTES_MIN: f64 = 1e6;

/// `; sort writes only after it has read everything: …`; empty when no stage does so, or when it does not matter. `top` is
/// the index of the stage that the sentence is about so far.
pub(super) fn clause(flow: &Flow<'_>, top: usize) -> String {
    let divides = |index: usize| Some((index, first_write_ns(flow, &flow.stages[index])?));
    let order = std::iter::once(top).chain((0..flow.stages.len()).filter(|index| *index != top));
    let Some((index, ns)) = order.filter_map(divides).next() else { return String::new() };
    let (name, begin) = (&flow.stages[index].name, time(ns));
    let whole = time(flow.record.elapsed_ns as f64);
    format!(
        "; {name} writes only after it has read everything: what comes after it had nothing to do for the first {begin} of {whole}"
    )
}

/// When a stage began to write, in nanoseconds from the start of the run, if it had read everything by then, and the
/// stages after it still had much to do.
pub(super) fn first_write_ns(flow: &Flow<'_>, stage: &StageFlow<'_>) -> Option<f64> {
    let timeline = &flow.record.timeline;
    let series = |number: u32| timeline.stages.iter().find(|series| series.stage == number);
    let of = |side: &[Neighbour], bytes: fn(&StageTimeline) -> &Vec<u64>| {
        let sides = side.iter().filter_map(|n| series(flow.stages[n.stage].stage.stage));
        let sides: Vec<&Vec<u64>> = sides.map(bytes).collect();
        (!sides.is_empty()).then(|| sum(&sides))
    };
    // By its neighbours: what it reads and writes itself may be files of its own.
    let written = of(&stage.downstream, |series| &series.read_bytes)?;
    let read = of(&stage.upstream, |series| &series.written_bytes)
        .or_else(|| Some(sum(&[&series(stage.stage.stage)?.read_bytes])))?;
    let waits: Vec<&Vec<f32>> = stage
        .downstream
        .iter()
        .filter_map(|n| Some(&series(flow.stages[n.stage].stage.stage)?.blocked_reading))
        .collect();
    let nothing_came = |step: usize| {
        let waited =
            |one: &&Vec<f32>| one.get(step).is_some_and(|&p| f64::from(p) >= NOTHING_CAME_PERCENT);
        !waits.is_empty() && waits.iter().all(waited)
    };
    let step = first_write(&read, &written, nothing_came)?;
    let ns = timeline.start_ns as f64 + step as f64 * timeline.step_ns as f64;
    let least_ns = WORTH_A_WORD * flow.span_ns;
    (ns >= least_ns && flow.record.elapsed_ns as f64 - ns >= least_ns).then_some(ns)
}

/// Bytes by step, of several stages together.
fn sum(series: &[&Vec<u64>]) -> Vec<f64> {
    let steps = series.iter().map(|one| one.len()).max().unwrap_or(0);
    let at = |step: usize| series.iter().filter_map(|one| Some(*one.get(step)? as f64)).sum();
    (0..steps).map(at).collect()
}

/// The step in which a stage begins to write, if it has read everything by the end of it.
///
/// What was read between two samples is spread evenly over the time between them, so the bytes alone seem to come too
/// early. They did not come in a step in which everybody after the stage waited for something to read.
fn first_write(
    read: &[f64],
    written: &[f64],
    nothing_came: impl Fn(usize) -> bool,
) -> Option<usize> {
    let (all_read, all_written) = (read.iter().sum::<f64>(), written.iter().sum::<f64>());
    if all_read.min(all_written) < BYTES_MIN || written.len() < STEPS_MIN {
        return None;
    }
    let mut so_far = 0.0;
    let step = written.iter().position(|bytes| {
        so_far += bytes;
        so_far > BEGUN * all_written
    })?;
    let step = (step..written.len()).find(|&step| !nothing_came(step))?;
    let read_by_then: f64 = read.iter().take(step + 1).sum();
    (read_by_then >= EVERYTHING * all_read).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The step of the first write, from megabytes read and written in each step.
    fn begins(read: [u32; 10], written: [u32; 10]) -> Option<usize> {
        let bytes = |megabytes: u32| f64::from(megabytes) * 1e6;
        first_write(&read.map(bytes), &written.map(bytes), |_| false)
    }

    #[test]
    fn a_stage_that_writes_when_all_is_read_has_two_phases() {
        let read = [9, 9, 9, 9, 0, 0, 0, 0, 0, 0];
        assert_eq!(begins(read, [0, 0, 0, 0, 0, 5, 9, 9, 9, 4]), Some(5));
        assert_eq!(begins(read, [0, 0, 0, 5, 9, 9, 9, 4, 0, 0]), Some(3));
    }

    #[test]
    fn a_stage_that_writes_while_it_reads_has_not() {
        let even = [5; 10];
        assert_eq!(begins(even, even), None);
        assert_eq!(begins(even, [0, 0, 0, 1, 5, 5, 5, 5, 5, 5]), None, "a slow start");
        assert_eq!(begins([9, 9, 9, 9, 0, 0, 0, 0, 0, 0], [1, 9, 0, 0, 0, 9, 0, 0, 0, 0]), None);
    }

    #[test]
    fn what_is_small_is_not_judged() {
        assert_eq!(begins([9; 10], [0; 10]), None);
        assert_eq!(first_write(&[], &[], |_| false), None);
    }

    #[test]
    fn nothing_was_written_while_the_reader_waited() {
        let megabytes = |some: [u32; 10]| some.map(|megabytes| f64::from(megabytes) * 1e6);
        let read = megabytes([9, 9, 9, 9, 9, 0, 0, 0, 0, 0]);
        // Seen at step 5: what was read in it is spread over the steps since the sample before.
        let written = megabytes([0, 0, 3, 3, 3, 3, 9, 9, 9, 4]);
        assert_eq!(first_write(&read, &written, |_| false), None);
        assert_eq!(first_write(&read, &written, |step| step < 5), Some(5));
        assert_eq!(first_write(&read, &written, |_| true), None);
    }

    #[test]
    fn steps_are_added_up_over_stages_of_different_ages() {
        assert_eq!(sum(&[&vec![1, 2], &vec![u64::MAX, 0, 3]]), [u64::MAX as f64 + 1.0, 2.0, 3.0]);
    }
}
