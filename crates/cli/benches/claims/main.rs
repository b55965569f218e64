//! Measures every claim of the project on this machine and writes the tables in docs/.
//!
//! `make bench` runs all of it (about half an hour on two CPUs);
//! `cargo bench -p fullbore --bench claims -- [--quick|--check] [--out FILE] [NAME…]` runs the tables or rows with these names.
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

#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../../tests/terminal.rs"]
mod terminal;

#[allow(dead_code, reason = "shared with the tests, which use all of it")]
#[path = "../../../pipe/tests/integrity/readers.rs"]
mod readers;
#[path = "../../../pipe/tests/integrity/sequence.rs"]
mod sequence;

mod accuracy;
mod auto;
mod count;
mod disk;
mod exact;
mod first_try;
mod hints;
mod jobs;
mod json;
mod live;
mod observer;
mod pairs;
mod par;
mod profile;
mod real;
mod relay;
mod sealed;
mod speed;
mod stages;
mod swaps;
mod table;
mod wake_ups;
mod what_if;
mod zero_copy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use table::Row;

/// How much of each measurement is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Every measurement once, to see that it still works; nothing is judged.
    Check,
    /// Enough to see that the script works; the numbers are not claims.
    Quick,
    /// What the table in the documentation rests on.
    Full,
}

impl Effort {
    /// One size for each effort.
    pub(crate) fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Self::Check | Self::Quick => quick,
            Self::Full => full,
        }
    }

    /// How often something is repeated; a check does nothing twice.
    pub(crate) fn times(self, quick: usize, full: usize) -> usize {
        if self == Self::Check { 1 } else { self.pick(quick, full) }
    }

    /// As much of a table as is needed to see that each of its rows could be measured.
    pub(crate) fn part_of<T>(self, table: Vec<T>) -> Vec<T> {
        let rows = if self == Self::Check { 3 } else { table.len() };
        table.into_iter().take(rows).collect()
    }
}

/// Measures one claim or several that belong together.
type Measurement = fn(Effort) -> Vec<Row>;

/// A table of the documentation, with its rows by name, in their order.
struct Document {
    name: &'static str,
    /// From the root of the project.
    path: &'static str,
    rows: &'static [(&'static str, Measurement)],
}

const DOCUMENTS: &[Document] = &[
    Document { name: "run", path: "docs/claims.md", rows: RUN },
    Document { name: "zero-copy", path: "docs/zero-copy.md", rows: ZERO_COPY },
    Document { name: "stages", path: "docs/stages.md", rows: STAGES },
    Document { name: "par", path: "docs/par.md", rows: PAR },
    Document { name: "profile", path: "docs/profile.md", rows: PROFILE },
    Document { name: "count", path: "docs/count.md", rows: COUNT },
    Document { name: "json", path: "docs/json-speed.md", rows: JSON },
    Document { name: "auto", path: "docs/auto.md", rows: AUTO },
    Document { name: "jobs", path: "docs/sh.md", rows: JOBS },
    Document { name: "live", path: "docs/top.md", rows: LIVE },
    Document { name: "disk", path: "docs/disk.md", rows: DISK },
    Document { name: "wakes", path: "docs/wake-ups.md", rows: WAKES },
    Document { name: "predictions", path: "docs/what-if.md", rows: WHAT_IF },
];

const PROFILE: &[(&str, Measurement)] = &[
    ("flame-cost", profile::cost),
    ("flame-shares", profile::shares),
    ("flame-depth", profile::depth),
];

const COUNT: &[(&str, Measurement)] = &[
    ("count-shell", count::shell),
    ("count-peers", count::peers),
    ("count-memory", count::memory),
];

const JSON: &[(&str, Measurement)] = &[
    ("json-kernels", json::kernels),
    ("json-check", json::passing),
    ("json-databases", json::databases),
    ("json-filters", json::filters),
    ("json-files", json::files),
    ("json-memory", json::memory),
    ("json-digits", json::digits),
];

const AUTO: &[(&str, Measurement)] = &[("auto-lines", auto::lines)];

const JOBS: &[(&str, Measurement)] = &[("sh", jobs::costs)];

const LIVE: &[(&str, Measurement)] = &[
    ("top-cost", live::cost_of_top),
    ("time-left", live::time_left),
    ("attach", live::verdicts_of_attach),
];

const DISK: &[(&str, Measurement)] = &[("disk-changes", disk::told_changes)];

const WAKES: &[(&str, Measurement)] = &[("wake-ups", wake_ups::lines)];

const WHAT_IF: &[(&str, Measurement)] =
    &[("what-if", what_if::predictions), ("swaps", swaps::predictions)];

const PAR: &[(&str, Measurement)] = &[
    ("par-gains", par::gains),
    ("par-peers", par::peers),
    ("par-costs", par::costs),
    ("par-memory", par::memory),
];

const STAGES: &[(&str, Measurement)] = &[
    ("morse", stages::morse),
    ("utf8", stages::utf8),
    ("fizzbuzz", stages::fizzbuzz),
    ("sealed", sealed::rates),
    ("stage-memory", stages::memory),
];

const ZERO_COPY: &[(&str, Measurement)] = &[
    ("integrity", zero_copy::integrity),
    ("ring", zero_copy::ring),
    ("relay", relay::throughput),
    ("antiphase", relay::bursts_in_antiphase),
    ("buffer-memory", relay::memory_beside_the_queue),
    ("buffer-latency", relay::added_latency),
];

const RUN: &[(&str, Measurement)] = &[
    ("transparency", accuracy::transparency),
    ("verdicts", accuracy::verdicts),
    ("bursty", speed::bursty_producer),
    ("no-help", speed::pipelines_that_cannot_be_helped),
    ("short", speed::short_runs),
    ("tracing", speed::tracing_cost),
    ("observer", observer::cost_of_observing),
    ("shares", accuracy::shares),
];

/// Rows of no document, measured only when they are named.
const ON_REQUEST: &[(&str, Measurement)] = &[
    ("first-try", first_try::idle),
    ("first-try-stranger", first_try::beside_a_stranger),
    ("shares-spread", first_try::spread_of_shares),
    ("exact-shares", exact::shares),
    ("exact-cost", exact::cost),
    ("hints", hints::speed),
    ("real", real::verdicts),
    ("real-stranger", real::beside_a_stranger),
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
            "--check" => effort = Effort::Check,
            "--out" => out = args.next().map(PathBuf::from),
            name if known().any(|known| known == name) => names.push(arg),
            other => {
                println!(
                    "unknown row '{other}'; known are {}",
                    known().collect::<Vec<_>>().join(", ")
                );
                return ExitCode::from(2);
            }
        }
    }
    let wants = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    let mut is_met = true;
    for document in DOCUMENTS {
        let is_whole = wants(document.name);
        let rows: Vec<Row> = document
            .rows
            .iter()
            .filter(|(name, _)| is_whole || wants(name))
            .flat_map(|(name, measure)| measured(name, *measure, effort))
            .collect();
        if rows.is_empty() {
            continue;
        }
        is_met &= rows.iter().all(Row::is_met);
        let of_project =
            Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(document.path);
        let place = out.clone().or((is_whole && effort == Effort::Full).then_some(of_project));
        publish(&table::document(&rows), place.as_deref());
    }
    for (name, measure) in ON_REQUEST {
        if names.iter().any(|wanted| wanted == name) {
            let rows = measured(name, *measure, effort);
            is_met &= rows.iter().all(Row::is_met);
            publish(&table::document(&rows), out.as_deref());
        }
    }
    if is_met || effort == Effort::Check { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Names of documents and rows.
fn known() -> impl Iterator<Item = &'static str> {
    let of_documents = DOCUMENTS.iter().flat_map(|document| {
        std::iter::once(document.name).chain(document.rows.iter().map(|(name, _)| *name))
    });
    of_documents.chain(ON_REQUEST.iter().map(|(name, _)| *name))
}

fn measured(name: &str, measure: Measurement, effort: Effort) -> Vec<Row> {
    println!("── {name}");
    let rows = measure(effort);
    rows.iter().for_each(|row| println!("   {row}"));
    rows
}

/// Where a page that is written by hand has its table.
const TABLE_HERE: &str = "<!-- make bench writes what follows -->";

/// Writes a table to its file, or shows it.
fn publish(text: &str, place: Option<&Path>) {
    match place {
        Some(path) => {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            // A page written by hand has a place for the table at its end.
            let page = std::fs::read_to_string(path).unwrap_or_default();
            let by_hand = page.split_once(TABLE_HERE).map(|(by_hand, _)| by_hand);
            let table = text.replacen("# Claims", "## Claims", 1);
            let whole = match by_hand {
                Some(by_hand) => format!("{by_hand}{TABLE_HERE}\n\n{table}"),
                None => text.to_owned(),
            };
            std::fs::write(path, whole).unwrap();
            println!("written: {}", path.display());
        }
        None => println!("\n{text}"),
    }
}
