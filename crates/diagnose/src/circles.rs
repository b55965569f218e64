//! Stages that have to write at once: what they write comes back to them, or somebody waits for each line of it.

use std::collections::BTreeSet;

use fullbore_record::{Cause, PipeRecord, RunRecord, StageRecord};

use super::flow::Flow;
use super::names::Command;
use super::pace;

/// A stage that waits this share of its life for the world takes or gives its data as it comes, in percent.
const WAITS_FOR_THE_WORLD_PERCENT: f64 = 10.0;

/// A reader that waits for the outside at all, in percent: one that merely inherited its input never does.
const READS_OUTSIDE_PERCENT: f64 = 1.0;

/// Number of what is outside the pipeline, the shell of the line included; stages count from 1.
const OUTSIDE: u32 = 0;

/// Programs that give each line when it happens, with the options without which they do not.
const LIVE_SOURCES: [(&str, &[&str]); 22] = [
    ("tail", &["-f", "-F", "--follow", "--retry"]),
    ("journalctl", &["-f", "--follow"]),
    ("dmesg", &["-w", "-W", "--follow"]),
    ("kubectl", &["-f", "--follow", "-w", "--watch"]),
    ("docker", &["-f", "--follow", "events", "stats"]),
    ("podman", &["-f", "--follow", "events", "stats"]),
    ("inotifywait", &["-m", "--monitor"]),
    ("curl", &["-N", "--no-buffer"]),
    ("udevadm", &["monitor"]),
    ("adb", &["logcat"]),
    ("tcpdump", &[]),
    ("tshark", &[]),
    ("fswatch", &[]),
    ("ping", &[]),
    ("vmstat", &[]),
    ("iostat", &[]),
    ("mosquitto_sub", &[]),
    ("dbus-monitor", &[]),
    ("bpftrace", &[]),
    ("websocat", &[]),
    ("expect", &[]),
    ("unbuffer", &[]),
];

/// Programs that somebody waits behind: on a network, or with a clock in hand.
const LIVE_READERS: [&str; 9] =
    ["nc", "ncat", "netcat", "socat", "ssh", "telnet", "ts", "logger", "systemd-cat"];

/// Why a stage has to write each piece at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtOnce {
    /// What it writes comes back to it, through other stages or the shell: held back, it would be waited for forever.
    Circle,
    /// Its data comes from, or goes to, somebody who waits for each piece.
    Live,
}

/// Whether a stage has to write at once, as far as the record shows it. A doubt is a yes.
pub(super) fn at_once(flow: &Flow<'_>, index: usize) -> Option<AtOnce> {
    if is_in_circle(flow, index) {
        return Some(AtOnce::Circle);
    }
    let number = flow.stages[index].stage.stage;
    let near = |pipe: &PipeRecord, part: &BTreeSet<u32>| {
        pipe.writers.iter().chain(&pipe.readers).any(|end| part.contains(end))
    };
    let part = grown(flow.record, BTreeSet::from([number]), |pipe, part| {
        let ends = pipe.writers.iter().chain(&pipe.readers).copied();
        near(pipe, part).then(|| ends.collect())
    });
    let is_live = flow.record.stages.iter().any(|s| part.contains(&s.stage) && is_live(s));
    is_live.then_some(AtOnce::Live)
}

/// Whether what a stage writes can come back to it.
pub(super) fn is_in_circle(flow: &Flow<'_>, index: usize) -> bool {
    let (record, number) = (flow.record, flow.stages[index].stage.stage);
    // The shell is no stage: what it does with both ends of a coprocess is not seen.
    if record.command.split(|c: char| !c.is_alphanumeric()).any(|word| word == "coproc") {
        return true;
    }
    let from = |pipe: &PipeRecord, part: &BTreeSet<u32>| {
        let is_from_outside = pipe.outside_writer || pipe.writers.is_empty();
        let is_read_from = pipe.writers.iter().any(|end| part.contains(end))
            || is_from_outside && part.contains(&OUTSIDE) && waits_for_outside(pipe);
        is_read_from.then(|| pipe.readers.iter().copied().chain(outside_of(pipe)).collect())
    };
    let own = record.pipes.iter().filter(|pipe| pipe.writers.contains(&number));
    let next = own.flat_map(|pipe| {
        let others = pipe.readers.iter().copied().filter(|reader| *reader != number);
        others.chain(outside_of(pipe))
    });
    grown(record, next.collect(), from).contains(&number)
}

/// The outside, if somebody reads there. A reader that was not seen is there, too.
fn outside_of(pipe: &PipeRecord) -> Option<u32> {
    (pipe.outside_reader || pipe.readers.is_empty()).then_some(OUTSIDE)
}

fn waits_for_outside(pipe: &PipeRecord) -> bool {
    pipe.reader_blocked_percent.is_some_and(|percent| percent >= READS_OUTSIDE_PERCENT)
}

/// Adds to `part` what each pipe joins to it, until nothing is new.
fn grown(
    record: &RunRecord,
    mut part: BTreeSet<u32>,
    joins: impl Fn(&PipeRecord, &BTreeSet<u32>) -> Option<Vec<u32>>,
) -> BTreeSet<u32> {
    loop {
        let before = part.len();
        for pipe in &record.pipes {
            part.extend(joins(pipe, &part).unwrap_or_default());
        }
        if part.len() == before {
            return part;
        }
    }
}

/// Its words say that it works as things happen, or it was seen to wait for the world.
fn is_live(stage: &StageRecord) -> bool {
    let waits_percent: f64 = stage
        .blocked_other_causes
        .iter()
        .filter(|(cause, _)| {
            matches!(
                cause,
                Cause::Network | Cause::LocalSocket | Cause::Terminal | Cause::Event | Cause::Sleep
            )
        })
        .map(|(_, percent)| percent)
        .sum();
    waits_percent >= WAITS_FOR_THE_WORLD_PERCENT
        || [Command::of(stage), Command::that_started(stage)].iter().any(is_live_program)
}

fn is_live_program(runs: &Command) -> bool {
    let name = runs.program.as_str();
    let needs = LIVE_SOURCES.iter().find(|(source, _)| *source == name).map(|(_, needs)| *needs);
    let is_source = match needs {
        // A capture that was saved before is a file like any other.
        Some(_) if ["tcpdump", "tshark"].contains(&name) => !runs.has_short('r'),
        Some([]) => true,
        Some(needs) => runs.arguments.iter().any(|word| is_one_of(needs, word)),
        None => false,
    };
    is_source || LIVE_READERS.contains(&name) || pace::waits_for_the_user(runs)
}

/// The word is one of the options, has one of them among its letters (`-nf`), or gives it a value (`--follow=name`).
fn is_one_of(options: &[&str], word: &str) -> bool {
    let long = word.split('=').next().unwrap_or(word);
    options.iter().any(|option| match option.strip_prefix('-') {
        Some(letter) if letter.len() == 1 && !word.starts_with("--") => {
            word.starts_with('-') && word.contains(letter)
        }
        _ => *option == long,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(stages: &[&str], pipes: &[(&[u32], &[u32])]) -> RunRecord {
        let mut record = RunRecord::default();
        record.stages = (1..)
            .zip(stages)
            .map(|(number, words)| {
                let mut stage = StageRecord::default();
                (stage.stage, stage.words) = (number, shell_words::split(words).unwrap());
                stage
            })
            .collect();
        record.pipes = (1..)
            .zip(pipes)
            .map(|(number, (writers, readers))| {
                let mut pipe = PipeRecord::default();
                pipe.pipe = number;
                let stages = |ends: &[u32]| ends.iter().copied().filter(|end| *end != 0).collect();
                (pipe.writers, pipe.readers) = (stages(writers), stages(readers));
                (pipe.outside_writer, pipe.outside_reader) =
                    (writers.contains(&0), readers.contains(&0));
                pipe.reader_blocked_percent = Some(50.0);
                pipe
            })
            .collect();
        record
    }

    fn of(record: &RunRecord, index: usize) -> Option<AtOnce> {
        at_once(&Flow::of(record), index)
    }

    #[test]
    fn what_comes_back_through_stages_or_the_shell_is_a_circle() {
        let two = record(&["awk 1", "bash x"], &[(&[1], &[2]), (&[2], &[1])]);
        assert_eq!((of(&two, 0), of(&two, 1)), (Some(AtOnce::Circle), Some(AtOnce::Circle)));
        let three = record(&["a", "b", "c"], &[(&[1], &[2]), (&[2], &[3]), (&[3], &[2])]);
        assert_eq!((of(&three, 0), of(&three, 1)), (None, Some(AtOnce::Circle)));
        let shell = record(&["awk 1"], &[(&[0], &[1]), (&[1], &[0])]);
        assert_eq!(of(&shell, 0), Some(AtOnce::Circle));
        let mut coprocess = record(&["awk 1"], &[]);
        coprocess.command = "coproc B { awk 1; }; echo >&${B[1]}".to_owned();
        assert_eq!(of(&coprocess, 0), Some(AtOnce::Circle));
    }

    #[test]
    fn a_straight_line_is_no_circle() {
        let line = record(&["cat", "grep x", "wc"], &[(&[1], &[2]), (&[2], &[3]), (&[3], &[0])]);
        assert_eq!((0..3).filter_map(|index| of(&line, index)).count(), 0);
        // The first stage inherited an input that it does not read.
        let mut inherits = record(&["grep x f", "wc"], &[(&[0], &[1]), (&[1], &[2]), (&[2], &[0])]);
        inherits.pipes[0].reader_blocked_percent = Some(0.0);
        assert_eq!(of(&inherits, 0), None);
    }

    #[test]
    fn who_waits_for_each_line_is_known_by_words_or_waits() {
        for (words, is_live) in [
            ("tail -f log", true),
            ("tail -n0 -F log", true),
            ("tail --follow=name log", true),
            ("tail -n 5 log", false),
            ("journalctl -fu ssh", true),
            ("tcpdump -nl", true),
            ("tcpdump -nr old.pcap", false),
            ("nc host 80", true),
            ("ts", true),
            ("less", true),
            ("cat", false),
        ] {
            let record = record(&[words, "grep x", "wc"], &[(&[1], &[2]), (&[2], &[3])]);
            assert_eq!(of(&record, 1), is_live.then_some(AtOnce::Live), "{words}");
        }
        let mut waits = record(&["x", "grep x"], &[(&[2], &[1])]);
        waits.stages[0].blocked_other_causes.insert(Cause::Terminal, 40.0);
        assert_eq!(of(&waits, 1), Some(AtOnce::Live));
    }
}
