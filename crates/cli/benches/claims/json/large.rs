//! Memory for inputs that are larger than memory.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::Effort;
use crate::count::mixed;
use crate::processes::Process;
use crate::sandbox::Sandbox;
use crate::table::{Outcome, Row};

/// Bytes of each record.
const RECORD_BYTES: usize = 100;

/// Records that are written again and again, and what the groups in them are.
struct Round {
    records: Vec<u8>,
    /// Records and sum of `.bytes` for each `.user.id`, from `FIRST_ID` on.
    groups: Vec<(u64, u64)>,
}

const FIRST_ID: u64 = 1_000_000;

/// A prime that visits all groups in no order.
const STEP: u64 = 7_654_321;

impl Round {
    fn new(records: u64, groups: u64) -> Self {
        let mut text = String::new();
        let mut sums = vec![(0, 0); usize::try_from(groups).unwrap()];
        for number in 0..records {
            let group = number * STEP % groups;
            let bytes = 10_000 + mixed(number) % 90_000;
            let begin = text.len();
            write!(
                text,
                "{{\"time\":\"2026-11-23T10:00:00Z\",\"user\":{{\"id\":{},\"country\":\"DE\"}},\"bytes\":{bytes},\"path\":\"",
                FIRST_ID + group
            )
            .unwrap();
            while text.len() < begin + RECORD_BYTES - 3 {
                text.push('/');
            }
            text.push_str("\"}\n");
            let sum = &mut sums[usize::try_from(group).unwrap()];
            *sum = (sum.0 + 1, sum.1 + bytes);
        }
        Self { records: text.into_bytes(), groups: sums }
    }

    /// What `group .user.id count 'sum .bytes'` prints after some rounds.
    fn answer(&self, rounds: u64) -> String {
        let mut text = String::new();
        for (id, (count, sum)) in (FIRST_ID..).zip(&self.groups) {
            writeln!(text, "{id}\t{}\t{}", count * rounds, sum * rounds).unwrap();
        }
        text
    }
}

/// What a run took.
struct Taken {
    output: String,
    peak_mib: f64,
    seconds: f64,
}

/// Writes the rounds into a command, and watches its memory.
fn taken(args: &[&str], round: &Round, rounds: u64) -> Taken {
    let place = Sandbox::new();
    let begun = Instant::now();
    let mut command = place.fullbore(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut into = child.stdin.take().unwrap();
    let mut out = child.stdout.take().unwrap();
    let process = Process(child.id());
    let (peak_kib, has_ended) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut output = String::new();
    thread::scope(|scope| {
        scope.spawn(move || (0..rounds).for_each(|_| into.write_all(&round.records).unwrap()));
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                peak_kib.fetch_max(process.peak_memory_kib().unwrap_or(0), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(2)); // between two looks
            }
        });
        out.read_to_string(&mut output).unwrap();
        assert!(child.wait().unwrap().success());
        has_ended.store(true, Ordering::Relaxed);
    });
    let peak_mib = peak_kib.into_inner() as f64 / 1024.0;
    Taken { output, peak_mib, seconds: begun.elapsed().as_secs_f64() }
}

/// Groups of 10 GB that come from a generator.
pub(crate) fn memory(effort: Effort) -> Vec<Row> {
    let records: u64 = effort.pick(10_000, 1_000_000);
    let rounds = effort.pick(2, 100);
    let few = Round::new(records, 10);
    let many = Round::new(records, records);
    let aggregates = ["json", "group", ".user.id", "count", "sum .bytes"];
    let with_quantile = ["json", "group", ".user.id", "count", "sum .bytes", "p99 .bytes"];
    vec![
        row("count and sum", &aggregates, Some(48.0), &few, rounds),
        row("count and sum", &aggregates, Some(250.0), &many, rounds),
        row("count, sum and p99", &with_quantile, None, &few, rounds),
    ]
}

fn row(what: &str, args: &[&str], bar: Option<f64>, round: &Round, rounds: u64) -> Row {
    let taken = taken(args, round, rounds);
    // A quantile is a cell more, and not compared.
    let without = |line: &str| line.splitn(4, '\t').take(3).collect::<Vec<_>>().join("\t") + "\n";
    let output: String = taken.output.lines().map(without).collect();
    let is_right = output == round.answer(rounds);
    let gigabytes = (round.records.len() as u64 * rounds) as f64 / 1e9;
    let mib = taken.peak_mib;
    let is_met = is_right && mib > 0.0 && bar.is_none_or(|bar| mib <= bar);
    let size = if gigabytes < 1.0 { format!("{gigabytes:.3}") } else { format!("{gigabytes:.0}") };
    Row {
        claim: format!(
            "{what} of {} groups in {size} GB from a pipe: peak memory; all right",
            round.groups.len()
        ),
        bar: bar.map_or("as measured".to_owned(), |bar| format!("≤ {bar} MiB; yes")),
        measured: format!("{mib:.0} MiB; {}", if is_right { "yes" } else { "**no**" }),
        outcome: if bar.is_none() && is_met { Outcome::Shown } else { Outcome::met_if(is_met) },
        command: format!("generator | fullbore {}", shell_words::join(args)),
        notes: vec![format!("{:.1} s with the generator", taken.seconds)],
    }
}
