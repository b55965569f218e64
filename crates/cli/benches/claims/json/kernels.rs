//! The kernels in memory, on one core: scripts/json-peers builds the program that runs them beside those of others.

use std::collections::HashSet;
use std::process::Command;

use fullbore_measure::Summary;

use super::skipped;
use crate::Effort;
use crate::sandbox::is_installed;
use crate::table::{Outcome, Row};

/// Built for this CPU, and for one without AVX-512; there the others have no AVX-512 either.
const PROGRAMS: [&str; 2] = ["json-peers", "json-peers-avx2"];

const OURS: &str = "fullbore";

/// What one contestant did with one question on one shape of data.
struct Entry {
    shape: String,
    /// `check`, or the name of a member.
    question: String,
    tier: String,
    contestant: String,
    bytes: f64,
    answer: i64,
    /// Of each round.
    seconds: Vec<f64>,
}

/// All that a program printed.
struct Report {
    entries: Vec<Entry>,
    /// Versions and kernels.
    versions: String,
    /// Contestants that take for JSON what is none.
    lenient: HashSet<String>,
}

/// Checking everything, and finding one member, beside those who do the same.
pub(crate) fn kernels(effort: Effort) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut tiers = HashSet::new();
    for program in PROGRAMS {
        if !is_installed(program) {
            skipped(program, "not built, see scripts/json-peers");
            continue;
        }
        let report = run(program, effort.times(5, 21));
        if tiers.insert(report.entries[0].tier.clone()) {
            rows.extend(rows_of(program, &report));
        }
    }
    rows
}

fn run(program: &str, rounds: usize) -> Report {
    let output = Command::new(program).arg(rounds.to_string()).output().unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let (notes, lines): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with('#'));
    let lenient = notes.iter().filter_map(|note| note[2..].split_once(" accepts "));
    Report {
        entries: lines.into_iter().map(entry).collect(),
        versions: notes.first().map_or_else(String::new, |note| note[2..].to_owned()),
        lenient: lenient.map(|(name, _)| name.to_owned()).collect(),
    }
}

fn entry(line: &str) -> Entry {
    let fields: Vec<&str> = line.split('\t').collect();
    let [shape, question, tier, contestant, bytes, answer, seconds] = fields[..] else {
        panic!("{line}: not seven fields");
    };
    Entry {
        shape: shape.to_owned(),
        question: question.to_owned(),
        tier: tier.to_owned(),
        contestant: contestant.to_owned(),
        bytes: bytes.parse().unwrap(),
        answer: answer.parse().unwrap(),
        seconds: seconds.split(' ').map(|value| value.parse().unwrap()).collect(),
    }
}

/// For each shape a row of checking and one of finding members.
fn rows_of(program: &str, report: &Report) -> Vec<Row> {
    let mut shapes: Vec<&str> = report.entries.iter().map(|entry| &*entry.shape).collect();
    shapes.dedup();
    let mut rows = Vec::new();
    for is_check in [true, false] {
        for shape in &shapes {
            rows.push(row(program, report, shape, is_check));
        }
    }
    rows
}

/// The time of the best of the others divided by ours, for the question where that is least.
fn row(program: &str, report: &Report, shape: &str, is_check: bool) -> Row {
    let of_row = |entry: &&Entry| entry.shape == shape && (entry.question == "check") == is_check;
    let entries: Vec<&Entry> = report.entries.iter().filter(of_row).collect();
    let mut least: Option<(Summary, &Entry)> = None;
    let mut notes = Vec::new();
    for ours in entries.iter().filter(|entry| entry.contestant == OURS) {
        assert!(ours.answer > 0, "{shape}, {}: no answer", ours.question);
        let mut rates = vec![rate(ours)];
        for other in entries.iter().filter(|entry| entry.question == ours.question) {
            if other.contestant == OURS {
                continue;
            }
            assert_eq!(
                other.answer, ours.answer,
                "{shape}, {}: {}",
                ours.question, other.contestant
            );
            rates.push(rate(other));
            if report.lenient.contains(&other.contestant) {
                continue;
            }
            let pairs = other.seconds.iter().zip(&ours.seconds);
            let ratio = Summary::of(&pairs.map(|(other, ours)| other / ours).collect::<Vec<_>>());
            let ratio = ratio.unwrap();
            if least.as_ref().is_none_or(|(least, _)| ratio.median < least.median) {
                least = Some((ratio, other));
            }
        }
        let question = if is_check { String::new() } else { format!("`.{}`: ", ours.question) };
        notes.push(format!("{question}{}", rates.join(", ")));
    }
    let (ratio, other) = least.unwrap();
    let tier = &other.tier;
    let (claim, bar) = if is_check {
        let claim = "everything checked, in memory, one core: time of the best of the others ÷ time of fullbore";
        notes.push(format!("the best is {}", other.contestant));
        let lenient: Vec<_> = entries.iter().map(|entry| &*entry.contestant).collect();
        let lenient: Vec<_> =
            lenient.into_iter().filter(|name| report.lenient.contains(*name)).collect();
        if !lenient.is_empty() {
            notes.push(format!(
                "not counted, because they accept invalid escapes: {}",
                lenient.join(", ")
            ));
        }
        (claim, 2.0)
    } else {
        let claim = "one member, everything checked: time of simdjson On-Demand, which does not check all ÷ time of fullbore";
        notes.push(format!("the ratio is least for `.{}`", other.question));
        (claim, 1.0)
    };
    notes.push(report.versions.clone());
    Row {
        claim: format!("{shape}, {tier}: {claim}"),
        bar: format!("≥ {bar}"),
        measured: format!("{:.2} ± {:.2}", ratio.median, ratio.mad),
        outcome: Outcome::met_if(ratio.median >= bar),
        command: format!("{program} {}", other.seconds.len()),
        notes,
    }
}

/// Who, and how fast.
fn rate(entry: &Entry) -> String {
    let seconds = fullbore_measure::median(&entry.seconds).unwrap();
    format!("{} {:.2} GB/s", entry.contestant, entry.bytes / seconds / 1e9)
}
