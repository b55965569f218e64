//! Pipelines as people write them: what fullbore says of them, beside the truth measured stage by stage.
//!
//! `make bench CLAIMS=real` runs each of them five times (`FULLBORE_REPEAT` says how often, `FULLBORE_CASE` picks those
//! whose name or class contains a text, `FULLBORE_EXACT=always` counts every switch). The truth is the time that each
//! stage takes alone, its input in a file: it owes nothing to what fullbore sees. `CLAIMS=real-stranger` runs them beside
//! a process that computes without a pause.

mod inputs;
mod page;
mod tally;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use fullbore_record::{Finding, RunRecord, StageRecord};
use serde::Deserialize;

use self::page::Told;
use self::tally::Tally;
use crate::Effort;
use crate::first_try::Stranger;
use crate::sandbox::{Sandbox, is_installed, wait_or_kill};
use crate::table::Row;

/// A stage that takes this part of the time of the slowest may be called the bottleneck, too: side by side, they differ
/// less than from run to run.
const ABOUT_AS_SLOW: f64 = 0.75;

/// A pipeline with what its author says of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    class: String,
    #[serde(default = "sh")]
    shell: String,
    line: String,
    /// Its stages as they run alone, one after the other; empty where the truth cannot come from that.
    #[serde(default)]
    stages: Vec<String>,
    /// `writer>reader`, by program.
    arrows: Vec<String>,
    slowest: Vec<String>,
    kinds: Vec<String>,
    /// For readers of the file.
    #[serde(rename = "why")]
    _why: String,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
}

fn sh() -> String {
    "sh".to_owned()
}

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

/// A stage that takes less than this alone is measured twice.
const COLD_CACHE_SECONDS: f64 = 1.0;

/// One file for each class.
const CASES: &[&str] = &[
    include_str!("../../../tests/cases/real/odd.toml"),
    include_str!("../../../tests/cases/real/own_rate.toml"),
    include_str!("../../../tests/cases/real/plain.toml"),
    include_str!("../../../tests/cases/real/shells.toml"),
    include_str!("../../../tests/cases/real/short_children.toml"),
    include_str!("../../../tests/cases/real/small_io.toml"),
    include_str!("../../../tests/cases/real/strangers.toml"),
    include_str!("../../../tests/cases/real/threads.toml"),
    include_str!("../../../tests/cases/real/two_phases.toml"),
    include_str!("../../../tests/cases/real/waits.toml"),
    include_str!("../../../tests/cases/real/sequences.toml"),
    include_str!("../../../tests/cases/real/wrapper.toml"),
];

/// How one run was judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judgement {
    Right,
    /// It named two, one of them right.
    Unsure,
    Wrong,
}

struct Judged {
    judgement: Judgement,
    /// What the finding says.
    message: String,
    /// The same with its kind and the shares of all stages.
    said: String,
    wrong_arrows: Vec<String>,
    missing_arrows: Vec<String>,
    /// CPU time of all rows, and what Linux counted for all processes, in nanoseconds.
    cpu: Option<(f64, f64)>,
}

/// All of them, on a machine that does nothing else; writes docs/verdicts.md as it goes.
pub(crate) fn verdicts(effort: Effort) -> Vec<Row> {
    let is_whole = effort == Effort::Full && wanted().is_empty();
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verdicts.md"));
    judge_all(effort, 5, "", is_whole.then_some(path))
}

/// All of them beside a process that computes without a pause; to name too few CPUs is right there.
pub(crate) fn beside_a_stranger(effort: Effort) -> Vec<Row> {
    let _stranger = Stranger::start();
    judge_all(effort, 1, " beside a CPU-bound stranger", None)
}

/// Whether switches are counted.
fn exact() -> String {
    std::env::var("FULLBORE_EXACT").unwrap_or_else(|_| "never".to_owned())
}

/// What the name or class of a pipeline must contain.
fn wanted() -> String {
    std::env::var("FULLBORE_CASE").unwrap_or_default()
}

fn judge_all(effort: Effort, times: usize, what: &str, page: Option<&Path>) -> Vec<Row> {
    let repeat = std::env::var("FULLBORE_REPEAT").ok().and_then(|text| text.parse().ok());
    let times = repeat.unwrap_or(effort.times(1, times));
    let wanted = wanted();
    let cases = CASES.iter().flat_map(|text| toml::from_str::<Cases>(text).unwrap().case);
    let cases = cases.filter(|case| case.name.contains(&wanted) || case.class.contains(&wanted));
    let (mut notes, mut told, mut tally) = (Vec::new(), Vec::new(), Tally::default());
    let cases = effort.part_of(cases.collect::<Vec<_>>());
    let all = cases.len();
    for (number, mut case) in cases.into_iter().enumerate() {
        if let Some(program) = case.needs.iter().find(|program| !is_installed(program)) {
            println!("   {}: left out, {program} is not installed", case.name);
            notes.push(format!("left out: {} ({program} is not installed)", case.name));
            continue;
        }
        if !what.is_empty() {
            case.kinds.push("cpu_starved".to_owned());
        }
        let truth = case.truth();
        let judged: Vec<Judged> = (0..times).map(|_| case.judge(&truth.slowest)).collect();
        tally.add(&case.name, &judged);
        notes.extend(case.tell(&truth, &judged));
        told.push(Told::of(&case, &truth, &judged));
        if let Some(path) = page {
            let so_far = if number + 1 < all {
                format!(" (after {} of {all})", number + 1)
            } else {
                String::new()
            };
            let sum = format!(
                "{} pipelines, {times} runs each{so_far}: {}.",
                told.len(),
                tally.verdicts()
            );
            std::fs::write(path, page::page(&told, &sum)).unwrap();
        }
    }
    tally.rows(what, times, !what.is_empty(), notes)
}

/// Which programs may be named, and why.
struct Truth {
    slowest: BTreeSet<String>,
    text: String,
}

impl Case {
    /// What each stage takes alone; where that cannot tell, what the author of the case says.
    fn truth(&self) -> Truth {
        let said: BTreeSet<String> = self.slowest.iter().cloned().collect();
        if self.stages.is_empty() {
            return Truth {
                text: format!("by construction: {}", self.slowest.join(", ")),
                slowest: said,
            };
        }
        let place = Sandbox::new();
        inputs::link(&self.files, &place.path(""));
        let mut seconds = Vec::new();
        for (number, stage) in self.stages.iter().enumerate() {
            let once = || {
                let mut command = place.command("sh");
                command.args(["-c", stage]);
                if number > 0 {
                    command.stdin(File::open(place.path(&format!(".alone-{number}"))).unwrap());
                }
                let output = File::create(place.path(&format!(".alone-{}", number + 1))).unwrap();
                let began = Instant::now();
                let mut child = command.stdout(output).stderr(Stdio::null()).spawn().unwrap();
                wait_or_kill(&mut child, stage);
                began.elapsed().as_secs_f64()
            };
            // The first of two short times may be that of a cold cache.
            let first = once();
            seconds.push(if first < COLD_CACHE_SECONDS { first.min(once()) } else { first });
        }
        let most = seconds.iter().copied().fold(0.0, f64::max);
        let about: Vec<&String> = self
            .stages
            .iter()
            .zip(&seconds)
            .filter(|(_, seconds)| **seconds >= ABOUT_AS_SLOW * most)
            .map(|(stage, _)| stage)
            .collect();
        let mut slowest: BTreeSet<String> = about.into_iter().map(|s| program_of(s)).collect();
        // The name by which the author calls the slowest one (a function, a loop).
        let named = |program: &String| self.stages.iter().all(|s| program_of(s) != *program);
        slowest.extend(said.into_iter().filter(named));
        let times: Vec<String> = self
            .stages
            .iter()
            .zip(&seconds)
            .map(|(stage, seconds)| format!("{} {seconds:.2} s", program_of(stage)))
            .collect();
        Truth { slowest, text: format!("alone: {}", times.join(", ")) }
    }

    fn judge(&self, slowest: &BTreeSet<String>) -> Judged {
        let place = Sandbox::new();
        inputs::link(&self.files, &place.path(""));
        let busybox = place.path("ash");
        let shell = match self.shell.as_str() {
            "busybox" => busybox.to_str().unwrap(),
            shell => shell,
        };
        let record = place.record_of_silent(
            place.reporting(&["--shell", shell, "--exact", &exact()], &self.line),
        );
        let (wrong_arrows, missing_arrows) = self.compare_arrows(&record);
        let (judgement, said) = self.verdict(&record, slowest);
        let message =
            record.findings.first().map_or("nothing", |first| first.message.as_str()).to_owned();
        let rows_ns: u64 = record.stages.iter().map(|stage| stage.cpu_ns).sum();
        let cpu = record.cpu_ns.map(|counted_ns| (rows_ns as f64, counted_ns as f64));
        Judged { judgement, message, said, wrong_arrows, missing_arrows, cpu }
    }

    fn verdict(&self, record: &RunRecord, slowest: &BTreeSet<String>) -> (Judgement, String) {
        let Some(first) = record.findings.first() else {
            return (Judgement::Wrong, format!("nothing was said; {}", table(record)));
        };
        let kind = serde_json::to_value(first.kind).unwrap();
        let kind = kind.as_str().unwrap_or_default().to_owned();
        let said = format!("{kind}: {} {}", first.message, table(record));
        if !self.kinds.contains(&kind) {
            return (Judgement::Wrong, said);
        }
        let named = stages_of(record, first);
        let is_right =
            |stage: &&StageRecord| slowest.iter().any(|program| is_about(stage, program));
        let is_unsure =
            ["about equally", "do not tell which"].iter().any(|said| first.message.contains(said));
        match named.iter().any(is_right) || named.is_empty() {
            true => (Judgement::Right, said),
            false if is_unsure && slowest.iter().any(|p| first.message.contains(p.as_str())) => {
                (Judgement::Unsure, said)
            }
            false => (Judgement::Wrong, said),
        }
    }

    /// Shows how it was judged; returns a note on each run that was not right.
    fn tell(&self, truth: &Truth, judged: &[Judged]) -> Vec<String> {
        let right = judged.iter().filter(|one| one.judgement == Judgement::Right).count();
        let all = judged.len();
        println!(
            "   {} [{}]: {right} of {all} right; truth: {}",
            self.name, self.class, truth.text
        );
        for one in judged {
            if one.judgement != Judgement::Right {
                println!("      {:?}: {}", one.judgement, one.said);
            }
            let (wrong, missing) = (&one.wrong_arrows, &one.missing_arrows);
            if !wrong.is_empty() || !missing.is_empty() {
                println!("      arrows: wrong {wrong:?}, missing {missing:?}");
            }
        }
        let others = judged.iter().filter(|one| one.judgement != Judgement::Right);
        let note = |one: &Judged| {
            format!("{}: {:?}: {} (truth: {})", self.name, one.judgement, one.said, truth.text)
        };
        others.map(note).collect()
    }

    /// Arrows that are not there in truth, and arrows that were not found.
    fn compare_arrows(&self, record: &RunRecord) -> (Vec<String>, Vec<String>) {
        let find = |number: &u32| record.stages.iter().find(|stage| stage.stage == *number);
        let mut found = Vec::new();
        for pipe in &record.pipes {
            for writer in pipe.writers.iter().filter_map(find) {
                found.extend(pipe.readers.iter().filter_map(find).map(|reader| (writer, reader)));
            }
        }
        let sides: Vec<(&str, &str)> =
            self.arrows.iter().filter_map(|arrow| arrow.split_once('>')).collect();
        let is_it = |(writer, reader): &(&StageRecord, &StageRecord), side: &(&str, &str)| {
            is_about(writer, side.0) && is_about(reader, side.1)
        };
        let wrong = found.iter().filter(|arrow| !sides.iter().any(|side| is_it(arrow, side)));
        let wrong =
            wrong.map(|(writer, reader)| format!("{} > {}", writer.command, reader.command));
        let missing = sides.iter().filter(|side| !found.iter().any(|arrow| is_it(arrow, side)));
        (wrong.collect(), missing.map(|(writer, reader)| format!("{writer}>{reader}")).collect())
    }
}

/// The stages a finding is about.
fn stages_of<'a>(record: &'a RunRecord, finding: &Finding) -> Vec<&'a StageRecord> {
    let mut numbers: Vec<u32> = finding.stage.into_iter().collect();
    if let Some(pipe) = finding.pipe.filter(|_| numbers.is_empty()) {
        let pipe = record.pipes.iter().find(|known| known.pipe == pipe);
        numbers.extend(pipe.into_iter().flat_map(|pipe| pipe.writers.iter().chain(&pipe.readers)));
    }
    record.stages.iter().filter(|stage| numbers.contains(&stage.stage)).collect()
}

/// Whether a stage runs this program, itself or for what started it.
fn is_about(stage: &StageRecord, program: &str) -> bool {
    let is_it = |word: &String| word.rsplit('/').next() == Some(program);
    stage.words.iter().chain(&stage.main_words).any(is_it)
        || stage.command.split_whitespace().any(|word| word == program)
}

/// The program of a command as typed, without assignments before it.
fn program_of(command: &str) -> String {
    let words = shell_words::split(command).unwrap_or_default();
    let first = words.iter().find(|word| !word.contains('='));
    let first = first.map_or(command, String::as_str);
    first.rsplit('/').next().unwrap_or(first).to_owned()
}

/// The shares of all stages, in short.
fn table(record: &RunRecord) -> String {
    let rows = record.stages.iter().map(|stage| {
        format!(
            "{}: run {:.0} wait {:.0} read {:.0} write {:.0} other {:?}",
            stage.command.chars().take(24).collect::<String>(),
            stage.running_percent,
            stage.runnable_percent,
            stage.blocked_reading_percent.unwrap_or(-1.0),
            stage.blocked_writing_percent.unwrap_or(-1.0),
            stage.blocked_other_causes
        )
    });
    format!("[{:.2} s; {}]", record.elapsed_ns as f64 / 1e9, rows.collect::<Vec<_>>().join("; "))
}
