//! How many bytes went through each end of each pipe, step by step.
//!
//! Linux counts what a stage reads and writes in total, files included. What goes through a pipe is at most what its writer
//! wrote and at most what its reader read. So the smaller total is the pipe's, and the other side follows its course.

use fullbore_record::{PipeRecord, RunRecord};

use crate::model::{Model, Port};
use crate::steps::{padded, timeline_of};

/// Two totals that differ by less than this part count the same bytes.
const SAME: f64 = 0.03;

/// Until the last bytes of a side were counted, both sides must have moved the same, but for this part.
const SAME_SO_FAR: f64 = 0.1;

/// Taken to go through a pipe whose bytes nobody counted.
const UNCOUNTED_BYTES: u64 = 256 << 20;

/// One side of a pipe: the places of its stages, and what each is known to have moved.
struct Side {
    stages: Vec<usize>,
    /// Bytes of each stage by step; `None` when they were not counted or also went elsewhere.
    bytes: Vec<Option<Vec<u64>>>,
}

/// Gives each stage its ends of the pipes of the record.
pub(crate) fn connect(model: &mut Model, record: &RunRecord) {
    for (place, pipe) in record.pipes.iter().enumerate() {
        let (Some(mut writers), Some(mut readers)) =
            (side(record, pipe, true), side(record, pipe, false))
        else {
            continue;
        };
        writers.complete(&readers);
        readers.complete(&writers);
        let total = match (writers.total(), readers.total()) {
            (Some(written), Some(read)) => written.min(read),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => UNCOUNTED_BYTES,
        };
        for (own, other, is_output) in [(&writers, &readers, true), (&readers, &writers, false)] {
            for (stage, bytes) in own.ends(other, total, model) {
                let port = Port { pipe: place, bytes };
                let stage = &mut model.stages[stage];
                if is_output { stage.outputs.push(port) } else { stage.inputs.push(port) }
            }
        }
    }
}

/// One side of a pipe; `None` when none of the stages is there.
fn side(record: &RunRecord, pipe: &PipeRecord, writes: bool) -> Option<Side> {
    let (own, other) =
        if writes { (&pipe.writers, &pipe.readers) } else { (&pipe.readers, &pipe.writers) };
    let place = |number: &u32| record.stages.iter().position(|stage| stage.stage == *number);
    let stages: Vec<usize> =
        own.iter().filter(|number| !other.contains(number)).filter_map(place).collect();
    let bytes = stages.iter().map(|&stage| counted(record, stage, writes)).collect();
    (!stages.is_empty()).then_some(Side { stages, bytes })
}

/// What a stage moved on one side, if it all went through one pipe.
pub(crate) fn counted(record: &RunRecord, place: usize, writes: bool) -> Option<Vec<u64>> {
    let stage = &record.stages[place];
    let has_end = |pipe: &&PipeRecord| {
        let ends = if writes { &pipe.writers } else { &pipe.readers };
        ends.contains(&stage.stage)
    };
    let series = timeline_of(record, stage)?;
    let bytes = if writes { &series.written_bytes } else { &series.read_bytes };
    let is_counted = bytes.iter().any(|bytes| *bytes > 0);
    let is_only_one = record.pipes.iter().filter(has_end).count() == 1;
    (is_counted && is_only_one).then(|| padded(bytes, crate::steps::count(record)))
}

impl Side {
    /// Takes over the course of the other side, if this one is the same as far as it goes and ends earlier: nobody counted
    /// what a stage moved after the last sample of its life.
    fn complete(&mut self, other: &Self) {
        let ([Some(own)], Some(whole)) = (self.bytes.as_mut_slice(), other.course()) else {
            return;
        };
        let end = own.iter().rposition(|bytes| *bytes > 0).map_or(0, |last| last + 1);
        let sum = |bytes: &[u64]| bytes.iter().sum::<u64>() as f64;
        let (moved, of) = (sum(own), sum(&whole[..end]));
        if moved < sum(&whole) && (moved - of).abs() <= SAME_SO_FAR * moved {
            *own = whole;
        }
    }

    /// Bytes of all its stages together, if all were counted.
    fn total(&self) -> Option<u64> {
        self.bytes.iter().map(|bytes| Some(bytes.as_ref()?.iter().sum::<u64>())).sum()
    }

    /// Bytes of all its stages together by step, if all were counted.
    fn course(&self) -> Option<Vec<u64>> {
        let all: Option<Vec<&Vec<u64>>> = self.bytes.iter().map(Option::as_ref).collect();
        let mut all = all?.into_iter();
        let mut sum = all.next()?.clone();
        for bytes in all {
            sum.iter_mut().zip(bytes).for_each(|(sum, more)| *sum += more);
        }
        Some(sum)
    }

    /// The stages with what each moves through the pipe by step, `total` in all.
    fn ends(&self, other: &Self, total: u64, model: &Model) -> Vec<(usize, Vec<u64>)> {
        let own = self.total();
        let is_own = own.is_some_and(|own| (own as f64 - total as f64) <= SAME * total as f64);
        let others = other.course().filter(|_| !is_own && own.is_none_or(|own| own > total));
        let count = self.stages.len() as u64;
        let mut left = total;
        let mut ends = Vec::new();
        for (place, &stage) in self.stages.iter().enumerate() {
            let is_last = place + 1 == self.stages.len();
            let part = match (&self.bytes[place], own) {
                _ if is_last => left,
                (Some(bytes), Some(own)) if own > 0 => {
                    share(bytes.iter().sum(), own, total).min(left)
                }
                _ => (total / count).min(left),
            };
            left -= part;
            let course = others.clone().or_else(|| self.bytes[place].clone());
            ends.push((stage, spread(part, course.as_deref(), &model.stages[stage].steps)));
        }
        ends
    }
}

fn share(part: u64, of: u64, total: u64) -> u64 {
    let bytes = u128::from(part) * u128::from(total) / u128::from(of.max(1));
    u64::try_from(bytes).unwrap_or(total)
}

/// Spreads `total` bytes over the steps as `course` goes, or as the CPU time of the stage does.
pub(crate) fn spread(total: u64, course: Option<&[u64]>, work: &[crate::model::Work]) -> Vec<u64> {
    let by_cpu = || work.iter().map(|work| work.cpu_ns + 1e-3 * work.wait_ns).collect();
    let weights: Vec<f64> = match course {
        Some(bytes) if bytes.iter().any(|bytes| *bytes > 0) => {
            bytes.iter().map(|bytes| *bytes as f64).collect()
        }
        _ => by_cpu(),
    };
    let sum: f64 = weights.iter().sum();
    let last = weights.iter().rposition(|weight| *weight > 0.0);
    let (mut so_far, mut given) = (0.0, 0);
    let mut spread: Vec<u64> = Vec::with_capacity(weights.len());
    for (step, weight) in weights.iter().enumerate() {
        so_far += weight;
        let wanted = if last.is_none_or(|last| step >= last) {
            total
        } else {
            crate::steps::whole(total as f64 * so_far / sum)
        };
        let wanted = wanted.min(total);
        spread.push(wanted.saturating_sub(given));
        given = given.max(wanted);
    }
    spread
}
