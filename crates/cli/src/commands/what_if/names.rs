//! What changes, limits and stages are called.

use fullbore_measure::{Bytes, visible};
use fullbore_record::{Cause, CommandIs, RunRecord, StageRecord};
use fullbore_what_if::{Change, Limit, Speed};

/// Longest name of a stage, in characters.
const NAME_CHARS: usize = 24;

/// The change as the first column of the table shows it.
pub(super) fn change(record: &RunRecord, change: &Change) -> String {
    match *change {
        Change::Faster(ref speeds) => {
            let one = |speed: &Speed| {
                format!("{} {} times as fast", stage(record, speed.stage), speed.times)
            };
            speeds.iter().map(one).collect::<Vec<_>>().join(" and ")
        }
        Change::TwiceAsFast(number) => format!("{} twice as fast", stage(record, number)),
        Change::InfinitelyFast(number) => format!("{} infinitely fast", stage(record, number)),
        Change::OnTwoCpus(number) => {
            format!("{} dealt out to two CPUs", stage(record, number))
        }
        Change::PipeOf { pipe, bytes } => {
            format!("pipe {} of {}", sides(record, pipe), Bytes(bytes))
        }
        Change::AllPipesOf { bytes } => format!("all pipes of {}", Bytes(bytes)),
        Change::BufferOf { pipe, bytes } => {
            format!("buffer of {} between {}", Bytes(bytes), sides(record, pipe))
        }
        Change::Cpus(cpus) => format!("{cpus} CPUs"),
        _ => "another change".to_owned(),
    }
}

/// The limit as the last column of the table shows it.
pub(super) fn limit(record: &RunRecord, limit: Limit) -> String {
    match limit {
        Limit::Stage(number) => stage(record, number),
        Limit::Waiting(number) => {
            let found = record.stages.iter().find(|stage| stage.stage == number);
            let causes = found.map(|stage| &stage.blocked_other_causes);
            let most = causes.and_then(|causes| {
                causes.iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(cause, _)| *cause)
            });
            format!("{}, which waits for {}", stage(record, number), cause(most))
        }
        Limit::Cpus => "the number of CPUs".to_owned(),
        Limit::Pipe(number) => format!("turns at the pipe {}", sides(record, number)),
        Limit::Outside => "what is outside the pipeline".to_owned(),
        _ => "unknown".to_owned(),
    }
}

fn cause(cause: Option<Cause>) -> &'static str {
    match cause {
        Some(Cause::Disk) => "a disk",
        Some(Cause::Network | Cause::LocalSocket | Cause::Peer) => "a socket",
        Some(Cause::Terminal) => "a terminal",
        Some(Cause::Sleep) => "a timer",
        Some(Cause::Lock) => "a lock",
        Some(Cause::Child) => "a child process",
        _ => "something else than a pipe",
    }
}

/// The stages on both sides of a pipe.
fn sides(record: &RunRecord, number: u32) -> String {
    let Some(pipe) = record.pipes.iter().find(|pipe| pipe.pipe == number) else {
        return number.to_string();
    };
    let side = |numbers: &[u32]| numbers.first().map(|&number| stage(record, number));
    let [writer, reader] = [&pipe.writers, &pipe.readers].map(|numbers| side(numbers));
    let outside = || "outside".to_owned();
    format!("{} → {}", writer.unwrap_or_else(outside), reader.unwrap_or_else(outside))
}

/// The name of a stage: its program, with its number when others have the same name.
fn stage(record: &RunRecord, number: u32) -> String {
    let Some(found) = record.stages.iter().find(|stage| stage.stage == number) else {
        return format!("stage {number}");
    };
    let name = short(program(found));
    let is_shared = record.stages.iter().filter(|other| short(program(other)) == name).count() > 1;
    if is_shared { format!("{name} (stage {number})") } else { name }
}

/// The program of a stage without its folder, or the text of a stage that is a piece of the shell line.
pub(super) fn program(stage: &StageRecord) -> String {
    let words = if stage.main_words.is_empty() { &stage.words } else { &stage.main_words };
    let first = words.first().map(|word| word.rsplit('/').next().unwrap_or(word));
    let name = match first {
        Some(name) if stage.command_is == CommandIs::Program && !name.is_empty() => name,
        _ => &stage.command,
    };
    visible(name).into_owned()
}

fn short(name: String) -> String {
    if name.chars().count() <= NAME_CHARS {
        return name;
    }
    name.chars().take(NAME_CHARS - 1).chain(['…']).collect()
}
