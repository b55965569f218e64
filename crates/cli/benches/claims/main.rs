//! Measures every claim of the project on this machine and writes the table in docs/claims.md.
//!
//! `make bench` runs all of it (about half an hour on two CPUs);
//! `cargo bench -p fullbore --bench claims -- [--quick] [--out FILE] [NAME…]` runs the rows with these names.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark reports by printing, and stops at the first surprise"
)]

#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../../tests/cases/mod.rs"]
mod cases;
#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../../tests/gate.rs"]
mod gate;
#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../../tests/processes.rs"]
mod processes;
#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../../tests/sandbox.rs"]
mod sandbox;

mod accuracy;
mod observer;
mod pairs;
mod relay;
mod speed;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use table::Row;

/// How much of each measurement is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Enough to see that the script works; the numbers are not claims.
    Quick,
    /// What the table in the documentation rests on.
    Full,
}

impl Effort {
    /// One number for each effort.
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// Measures one claim or several that belong together.
type Measurement = fn(Effort) -> Vec<Row>;

/// The rows of the table by name, in the order of the table.
const MEASUREMENTS: &[(&str, Measurement)] = &[
    ("transparency", accuracy::transparency),
    ("verdicts", accuracy::verdicts),
    ("bursty", speed::bursty_producer),
    ("no-help", speed::pipelines_that_cannot_be_helped),
    ("short", speed::short_runs),
    ("tracing", speed::tracing_cost),
    ("observer", observer::cost_of_observing),
    ("shares", accuracy::shares),
    ("relay", relay::throughput),
    ("antiphase", relay::bursts_in_antiphase),
    ("buffer-memory", relay::memory_beside_the_queue),
    ("buffer-latency", relay::added_latency),
];

fn main() -> ExitCode {
    let mut effort = Effort::Full;
    let mut out = None;
    let mut names = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bench" => {} // cargo passes it to every benchmark
            "--quick" => effort = Effort::Quick,
            "--out" => out = args.next().map(PathBuf::from),
            name if MEASUREMENTS.iter().any(|(known, _)| *known == name) => names.push(arg),
            other => {
                let known: Vec<_> = MEASUREMENTS.iter().map(|(name, _)| *name).collect();
                println!("unknown row '{other}'; known are {}", known.join(", "));
                return ExitCode::from(2);
            }
        }
    }
    let rows: Vec<Row> = MEASUREMENTS
        .iter()
        .filter(|(name, _)| names.is_empty() || names.iter().any(|wanted| wanted == name))
        .flat_map(|(name, measure)| {
            println!("── {name}");
            let rows = measure(effort);
            rows.iter().for_each(|row| println!("   {row}"));
            rows
        })
        .collect();
    if names.is_empty() && effort == Effort::Full && out.is_none() {
        out = Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/claims.md")));
    }
    let text = table::document(&rows);
    match out {
        Some(path) => {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            println!("written: {}", path.display());
        }
        None => println!("\n{text}"),
    }
    if rows.iter().all(Row::is_met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
