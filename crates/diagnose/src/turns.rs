//! Two neighbours that wait for each other in turn: the pipe between them is too small for their rhythm.

use fullbore_measure::{Bytes, Host};

use fullbore_record::{Finding, FindingKind, Outcome, PipeRecord, StageTimeline};

use super::evidence::Evidence;
use super::flow::{Flow, part_ns};
use super::names::Command;
use super::parts::{Advice, joined, only, paste};
use super::phases::first_write_ns;
use super::phrases::{run_again, size, whole};

/// Each side must be blocked this share of the pipe's life.
const BOTH_BLOCKED_PERCENT: f64 = 15.0;

/// When stages overlap more than this they mostly work at the same time …
const LOW_OVERLAP_PERCENT: f64 = 50.0;

/// … unless both sides are blocked this much all the same.
const SURELY_BLOCKED_PERCENT: f64 = 25.0;

/// Part of the smaller side's waits that must fall into the same steps of the timeline as the other side's.
const SAME_STEPS_SHARE: f64 = 0.3;

/// So many changes from "writer waits" to "reader waits" are turns; a pipeline in phases changes once or twice.
const TURNS: usize = 4;

/// Fewer steps than this show no rhythm.
const MIN_STEPS: usize = 4;

/// A side waits in a step when it is blocked this share of it.
const WAITS_IN_STEP_PERCENT: f64 = 20.0;

/// A size that absorbs most bursts and still fits the caches.
const SUGGESTED_BYTES: u64 = 1 << 20;

/// What Linux grants one user unless told otherwise, in pages. Source: pipe(7), /proc/sys/fs/pipe-user-pages-soft.
const QUOTA_PAGES: u64 = 16_384;

/// Programs that read everything before they write anything: waits on both of their sides are phases, not turns.
const READ_ALL_FIRST: [&str; 6] = ["sort", "tac", "shuf", "sponge", "tsort", "column"];

/// A pipe whose sides take turns, and how much each waits.
pub(super) struct Turns<'a> {
    pipe: &'a PipeRecord,
    writer_percent: f64,
    reader_percent: f64,
}

impl Turns<'_> {
    /// What a pipe with room for everything would save at most: the work of the side that has less of it.
    pub(super) fn hides_at_most_ns(&self, flow: &Flow<'_>) -> f64 {
        let own_ns = |number| {
            let index = flow.stage_index(number)?;
            Some(flow.stages[index].own_ns())
        };
        let both = sides(self.pipe).and_then(|(w, r)| Some((own_ns(w)?, own_ns(r)?)));
        both.map_or(f64::INFINITY, |(writer_ns, reader_ns)| writer_ns.min(reader_ns))
    }
}

/// The pipe on which most time is lost to turns.
pub(super) fn worst<'a>(flow: &Flow<'a>) -> Option<Turns<'a>> {
    if flow.record.host.cpus == 1 {
        return None;
    }
    let lost =
        |t: &Turns<'_>| part_ns(t.writer_percent.min(t.reader_percent), t.pipe.life_ns as f64);
    flow.record
        .pipes
        .iter()
        .filter_map(|pipe| turns_on(flow, pipe))
        .max_by(|a, b| lost(a).total_cmp(&lost(b)))
}

fn turns_on<'a>(flow: &Flow<'a>, pipe: &'a PipeRecord) -> Option<Turns<'a>> {
    let (writer, reader) = sides(pipe)?;
    let writing = &flow.stages[flow.stage_index(writer)?];
    flow.stage_index(reader)?;
    // Until a writer that reads everything first begins to write, its reader waits for no turn.
    let begun_ns = first_write_ns(flow, writing).map(whole);
    let changed_ns = flow
        .record
        .tuning
        .iter()
        .filter(|t| t.pipe == pipe.pipe && t.outcome == Outcome::Kept)
        .map(|t| t.at_ns)
        .max();
    let after = |from_ns: Option<u64>| Rhythm::of(flow, writer, reader, from_ns?, u64::MAX);
    let late = after(begun_ns.max(changed_ns)).or_else(|| after(begun_ns));
    let (writer_percent, reader_percent) = match &late {
        Some(rhythm) => (rhythm.writer_percent, rhythm.reader_percent),
        None => (pipe.writer_blocked_percent?, pipe.reader_blocked_percent?),
    };
    // A side with several pipes waits at the others, too: the timeline does not tell at which.
    let looked_ns = pipe.life_ns.saturating_sub(begun_ns.unwrap_or(0)).max(1) as f64;
    let at_most = |percent: f64, of_pipe: Option<f64>, pipes: usize| match of_pipe {
        Some(share) if pipes > 1 => percent.min(share * pipe.life_ns as f64 / looked_ns),
        _ => percent,
    };
    let pipes_with = |holds: &dyn Fn(&PipeRecord) -> bool| {
        flow.record.pipes.iter().filter(|pipe| holds(pipe)).count()
    };
    let written = pipes_with(&|pipe| pipe.writers.contains(&writer));
    let read = pipes_with(&|pipe| pipe.readers.contains(&reader));
    let writer_percent = at_most(writer_percent, pipe.writer_blocked_percent, written);
    let reader_percent = at_most(reader_percent, pipe.reader_blocked_percent, read);
    let rhythm = late.or_else(|| after(Some(0)));
    let smaller = writer_percent.min(reader_percent);
    let overlaps =
        flow.record.overlap_percent.is_some_and(|percent| percent >= LOW_OVERLAP_PERCENT);
    let is_rhythm = match &rhythm {
        Some(rhythm) => rhythm.is_in_turns(),
        None => !reads_all_first(flow, writer) && !reads_all_first(flow, reader),
    };
    let both_wait =
        smaller >= BOTH_BLOCKED_PERCENT && (!overlaps || smaller >= SURELY_BLOCKED_PERCENT);
    (both_wait && is_rhythm).then_some(Turns { pipe, writer_percent, reader_percent })
}

/// The first writer and the first reader, when they are two stages.
fn sides(pipe: &PipeRecord) -> Option<(u32, u32)> {
    let writer = *pipe.writers.first()?;
    let reader = *pipe.readers.iter().find(|&&reader| reader != writer)?;
    Some((writer, reader))
}

fn reads_all_first(flow: &Flow<'_>, number: u32) -> bool {
    flow.stage_index(number).is_some_and(|index| {
        let command = Command::of(flow.stages[index].stage);
        READ_ALL_FIRST.contains(&command.program.as_str())
    })
}

/// How the waits of two sides of a pipe follow each other.
struct Rhythm {
    writer_percent: f64,
    reader_percent: f64,
    /// Part of the smaller side's waits that fell into steps in which the other side waited as long.
    same_steps_share: f64,
    changes: usize,
}

impl Rhythm {
    /// Looks at the steps that lie between `from_ns` and `to_ns`; `None` when there are too few.
    fn of(flow: &Flow<'_>, writer: u32, reader: u32, from_ns: u64, to_ns: u64) -> Option<Self> {
        let timeline = &flow.record.timeline;
        let of_stage =
            |number| timeline.stages.iter().find(|stage: &&StageTimeline| stage.stage == number);
        let (writer, reader) =
            (&of_stage(writer)?.blocked_writing, &of_stage(reader)?.blocked_reading);
        let (mut steps, mut changes, mut last_side) = (0, 0, None);
        let (mut writer_sum, mut reader_sum, mut same_sum) = (0.0, 0.0, 0.0);
        for (index, (&writing, &reading)) in writer.iter().zip(reader).enumerate() {
            let step = u64::try_from(index).ok()?;
            let start_ns = timeline.start_ns.saturating_add(step.saturating_mul(timeline.step_ns));
            if start_ns < from_ns || start_ns.saturating_add(timeline.step_ns) > to_ns {
                continue;
            }
            let (writing, reading) =
                (part_ns(f64::from(writing), 100.0), part_ns(f64::from(reading), 100.0));
            steps += 1;
            writer_sum += writing;
            reader_sum += reading;
            same_sum += writing.min(reading);
            if writing.max(reading) >= WAITS_IN_STEP_PERCENT {
                let side = writing > reading;
                changes += usize::from(last_side.is_some_and(|last| last != side));
                last_side = Some(side);
            }
        }
        let smaller_sum = f64::min(writer_sum, reader_sum);
        (steps >= MIN_STEPS).then(|| Self {
            writer_percent: writer_sum / steps as f64,
            reader_percent: reader_sum / steps as f64,
            same_steps_share: if smaller_sum > 0.0 { same_sum / smaller_sum } else { 0.0 },
            changes,
        })
    }

    fn is_in_turns(&self) -> bool {
        self.same_steps_share >= SAME_STEPS_SHARE || self.changes >= TURNS
    }
}

/// How much both sides of `pipe` waited before its capacity was first changed and after it was last changed,
/// in percent of the time; `None` when the timeline does not tell, or nothing was gained.
pub(super) fn gain_of_tuning(
    flow: &Flow<'_>,
    pipe: &PipeRecord,
    first_ns: u64,
    last_ns: u64,
) -> Option<(f64, f64)> {
    let (writer, reader) = sides(pipe)?;
    let before = Rhythm::of(flow, writer, reader, 0, first_ns)?;
    let after = Rhythm::of(flow, writer, reader, last_ns, u64::MAX)?;
    let both = |r: &Rhythm| r.writer_percent.min(r.reader_percent);
    (both(&after) < both(&before)).then(|| (both(&before), both(&after)))
}

/// The finding about a pipe whose sides take turns.
pub(super) fn finding(flow: &Flow<'_>, turns: &Turns<'_>) -> Finding {
    let pipe = turns.pipe;
    let name = |numbers: &[u32]| {
        numbers
            .iter()
            .find_map(|&n| flow.stage_index(n))
            .map_or_else(String::new, |i| flow.stages[i].name.clone())
    };
    let (writer, reader) =
        sides(pipe).map_or_else(Default::default, |(w, r)| (name(&[w]), name(&[r])));
    let capacity =
        pipe.capacity_bytes.map_or_else(|| "unknown size".to_owned(), |b| Bytes(b).to_string());
    let overlap = flow.record.overlap_percent.filter(|p| p.is_finite());
    let overlap_text =
        overlap.filter(|&p| p < LOW_OVERLAP_PERCENT).map_or_else(String::new, |percent| {
            format!(", and stages run at the same time only {percent:.0} % of the time")
        });
    let message = format!(
        "{writer} and {reader} take turns: the pipe between them ({capacity}) is full for {writer} {:.0} % and empty for {reader} {:.0} % of the time{overlap_text}.",
        turns.writer_percent, turns.reader_percent
    );
    let mut evidence = Evidence::default()
        .number("writer_blocked_percent", turns.writer_percent)
        .number("reader_blocked_percent", turns.reader_percent)
        .optional("capacity_bytes", pipe.capacity_bytes);
    if let Some(percent) = overlap {
        evidence = evidence.number("overlap_percent", percent);
    }
    Finding::new(FindingKind::TakingTurns, message)
        .about_pipe(pipe.pipe)
        .with_advice(advice(flow, pipe))
        .with_evidence(evidence.done())
}

fn advice(flow: &Flow<'_>, pipe: &PipeRecord) -> Advice {
    let host = &flow.record.host;
    let capacity = pipe.capacity_bytes.unwrap_or(0);
    let wanted = host.pipe_max_bytes.map_or(SUGGESTED_BYTES, |max| max.min(SUGGESTED_BYTES));
    let tried = flow.record.tuning.iter().filter(|t| t.pipe == pipe.pipe).max_by_key(|t| t.at_ns);
    let relay = || paste("Put a buffer between them: ", relayed(flow, pipe));
    match tried {
        Some(t) if t.outcome == Outcome::Refused => {
            let remedy = if host.pipe_max_bytes.is_some_and(|max| t.to_bytes > max) {
                more_allowed(host)
            } else {
                more_quota(host)
            };
            joined([only("The pipe could not be made larger."), remedy, relay()])
        }
        Some(t) if t.outcome == Outcome::Reverted => {
            let message = format!("A pipe of {} did not help.", Bytes(t.to_bytes));
            joined([only(message), relay()])
        }
        _ if capacity < wanted => {
            let options = format!("--pipe-size {}", size(wanted));
            match larger_pipes(flow, pipe, &options) {
                Some(line) => paste(format!("Give the pipe {}: ", Bytes(wanted)), line),
                None => only(format!(
                    "Give the pipe {}: run the pipeline with {options}.",
                    Bytes(wanted)
                )),
            }
        }
        _ => joined([
            only("The pipe is as large as Linux lets an unprivileged user make it."),
            more_allowed(host),
            relay(),
        ]),
    }
}

/// A command that makes pipes larger: of the pipeline as it runs, or in another run of its line.
fn larger_pipes(flow: &Flow<'_>, pipe: &PipeRecord, options: &str) -> Option<String> {
    if flow.record.attached_at_ns.is_none() {
        return run_again(options, &flow.record.command);
    }
    let (writer, _) = sides(pipe)?;
    let pid = flow.stages[flow.stage_index(writer)?].stage.pid;
    Some(format!("fullbore attach --tune {pid}"))
}

/// The two sides with a buffer between them; the buffer alone when one of them is not easily typed.
fn relayed(flow: &Flow<'_>, pipe: &PipeRecord) -> String {
    const BUFFER: &str = "fullbore buffer -m 64M";
    let typed = |number: u32| {
        let stage = &flow.stages[flow.stage_index(number)?];
        Command::of(stage.stage).typed("")
    };
    let line = sides(pipe).and_then(|(writer, reader)| {
        Some(format!("{} | {BUFFER} | {}", typed(writer)?, typed(reader)?))
    });
    line.unwrap_or_else(|| BUFFER.to_owned())
}

fn more_quota(host: &Host) -> Advice {
    let pages = host.pipe_user_pages_soft.filter(|&pages| pages > 0).unwrap_or(QUOTA_PAGES);
    paste(
        "Raise what one user may hold in pipes: ",
        format!("sudo sysctl fs.pipe-user-pages-soft={}", pages.saturating_mul(4)),
    )
}

fn more_allowed(host: &Host) -> Advice {
    let now = host.pipe_max_bytes.unwrap_or(SUGGESTED_BYTES);
    paste(
        "Allow larger pipes: ",
        format!("sudo sysctl fs.pipe-max-size={}", now.max(SUGGESTED_BYTES).saturating_mul(16)),
    )
}
