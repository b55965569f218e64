//! `json group` as a whole process, beside databases and jq.

use std::process::Command;

use super::{events, skipped};
use crate::Effort;
use crate::pairs::plain;
use crate::sandbox::{Sandbox, is_installed};
use crate::stages::compare;
use crate::table::{Outcome, Row};

/// Records, their sum of one member, and the 99th percentile of another, for each value of a third.
const QUESTION: &str = ".service count 'sum .bytes' 'p99 .duration_ms'";

/// Another program that answers the question.
struct Peer {
    name: &'static str,
    /// The module of Python that it needs, or its own name.
    needs: &'static str,
    line: &'static str,
    bar: f64,
}

/// The same question for jq and jaq, in the fastest of the forms that were tried.
const FILTER: &str = "'[inputs | {service, bytes, duration_ms}] | group_by(.service)[] | [.[0].service, length, \
    (map(.bytes) | add), (map(.duration_ms) | sort | .[(length * 0.99 | ceil) - 1])] | @tsv'";

const DATABASES: &[Peer] = &[
    Peer {
        name: "duckdb, one thread",
        needs: "duckdb",
        line: "peers-python {peers}/group_duckdb.py /dev/stdin 1",
        bar: 4.0,
    },
    Peer {
        name: "polars, one thread",
        needs: "polars",
        line: "peers-python {peers}/group_polars.py - 1",
        bar: 4.0,
    },
    Peer {
        name: "chdb, one thread",
        needs: "chdb",
        line: "peers-python {peers}/group_chdb.py /dev/stdin 1",
        bar: 4.0,
    },
];

const FILTERS: &[Peer] = &[
    Peer { name: "jq", needs: "jq", line: "jq -nr {filter}", bar: 50.0 },
    Peer { name: "jaq", needs: "jaq", line: "jaq -nr {filter}", bar: 25.0 },
];

/// From a pipe, with one thread, beside databases.
pub(crate) fn databases(effort: Effort) -> Vec<Row> {
    pipes(DATABASES, effort.pick(20_000, 1_500_000), effort.times(2, 5))
}

/// From a pipe, with one thread, beside jq and jaq, which get less to do.
pub(crate) fn filters(effort: Effort) -> Vec<Row> {
    pipes(FILTERS, effort.pick(5_000, 200_000), effort.times(2, 3))
}

fn pipes(peers: &[Peer], records: u64, runs: usize) -> Vec<Row> {
    let place = Sandbox::new();
    let file = events(&place, records).display().to_string();
    let mut rows = Vec::new();
    for peer in peers {
        let claim = format!(
            "group, sum and p99 from a pipe: time of {} ÷ time of `json group -j1`",
            peer.name
        );
        if let Some(why) = missing(peer.needs) {
            skipped(&claim, &why);
            continue;
        }
        let theirs = format!("cat {file} | {}", whole(peer.line));
        let ours = format!("cat {file} | {{fullbore}} json group -j1 {QUESTION}");
        rows.push(compare_equal(&place, &claim, peer.bar, runs, [&theirs, &ours]));
    }
    rows
}

/// From a file, with two threads.
pub(crate) fn files(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let file = events(&place, effort.pick(20_000, 1_500_000)).display().to_string();
    let two = format!("{{fullbore}} json group -j2 {QUESTION}");
    let mut rows = Vec::new();
    let claim = "group, sum and p99 from a file: time with one CPU ÷ time with two";
    if let Some(why) = missing("fullbore") {
        skipped(claim, &why);
    } else {
        let files = format!("{file} {file} {file}");
        let one = two.replace("-j2", "-j1");
        let lines = [&*format!("{one} {files}"), &*format!("{two} {files}")];
        rows.push(compare_equal(&place, claim, 1.7, effort.times(2, 5), lines));
    }
    let claim =
        "group, sum and p99 from a file: time of duckdb, two threads ÷ time of `json group -j2`";
    if let Some(why) = missing("duckdb") {
        skipped(claim, &why);
    } else {
        let theirs = whole(&format!("peers-python {{peers}}/group_duckdb.py {file} 2"));
        let lines = [&*theirs, &*format!("{two} {file}")];
        rows.push(compare_equal(&place, claim, 4.0, effort.times(2, 5), lines));
    }
    rows
}

/// Why a row cannot be measured.
fn missing(program: &str) -> Option<String> {
    let is_there = match program {
        "fullbore" => true,
        "jq" | "jaq" => is_installed(program),
        module => {
            let import = format!("import {module}");
            is_installed("peers-python")
                && Command::new("peers-python").args(["-c", &import]).status().unwrap().success()
        }
    };
    (!is_there).then(|| format!("{program} is not installed, see scripts/json-peers"))
}

fn whole(line: &str) -> String {
    let peers = concat!(env!("CARGO_MANIFEST_DIR"), "/../../peers/json");
    line.replace("{peers}", peers).replace("{filter}", FILTER)
}

/// Times of two lines that must answer the same.
fn compare_equal(place: &Sandbox, claim: &str, bar: f64, runs: usize, lines: [&str; 2]) -> Row {
    let answers = lines.map(|line| answer(place, line));
    let mut row = if is_same(&answers[0], &answers[1]) {
        compare(claim, Some(bar), runs, lines)
    } else {
        Row {
            claim: claim.to_owned(),
            bar: format!("≥ {bar}"),
            measured: "the answers differ".to_owned(),
            outcome: Outcome::Missed,
            command: lines.join("\n").replace("{fullbore}", "fullbore"),
            notes: answers.iter().map(|answer| format!("{answer:?}")).collect(),
        }
    };
    let folder = whole("{peers}");
    row.command = row.command.replace(&folder, "peers/json").replace("peers-python", "python3");
    row
}

/// The cells that a line prints, in the order of its rows.
fn answer(place: &Sandbox, line: &str) -> Vec<Vec<String>> {
    let output = plain(place, line).output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{line}: {}: {messages}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    let mut rows: Vec<Vec<_>> =
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
    rows.sort();
    rows
}

/// Whether two answers are equal, but for what floating point numbers cannot hold.
fn is_same(one: &[Vec<String>], other: &[Vec<String>]) -> bool {
    let is_same_cell = |(one, other): (&String, &String)| match (one.parse(), other.parse()) {
        (Ok(one), Ok(other)) => {
            let (one, other): (f64, f64) = (one, other);
            (one - other).abs() <= 1e-9 * one.abs().max(other.abs())
        }
        _ => one == other,
    };
    let is_same_row = |(one, other): (&Vec<String>, &Vec<String>)| {
        one.len() == other.len() && one.iter().zip(other).all(is_same_cell)
    };
    !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(is_same_row)
}
