//! What fullbore itself uses while it watches.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::Effort;
use crate::pairs::readable;
use crate::sandbox::{Sandbox, with_fixture};
use crate::table::{Outcome, Row};

const MOST_CPU_SECONDS: f64 = 0.34;
const MOST_MEMORY_BYTES: f64 = 16.0 * 1024.0 * 1024.0;

/// What Linux said about the process of fullbore when it was last seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    cpu_ns: u64,
    peak_memory_kib: u64,
}

/// CPU time and memory of fullbore on a pipeline of four stages.
pub(crate) fn cost_of_observing(effort: Effort) -> Vec<Row> {
    let seconds = effort.pick(6, 60);
    let line = format!(
        "{{stage}} --no-read --seconds {seconds} --compute-us 400 --sleep-us 300 | {{stage}} --compute-us 500 | \
         gzip -1 | {{stage}} --no-write"
    );
    let place = Sandbox::new();
    let mut command = place.reporting(&[], &line);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let seen = watch(&mut child);
    let record = place.read_record();
    let cpu_seconds = seen.cpu_ns as f64 / 1e9;
    let reported_seconds = record.observer_cpu_ns as f64 / 1e9;
    let command = format!("fullbore run -q --report x.json '{}'", readable(&with_fixture(&line)));
    vec![
        Row {
            claim: format!("CPU time of the observer, {seconds} s pipeline of 4 stages"),
            bar: format!("≤ {MOST_CPU_SECONDS} s"),
            measured: format!(
                "{cpu_seconds:.2} s ({reported_seconds:.2} s according to its report)"
            ),
            outcome: Outcome::met_if(cpu_seconds.max(reported_seconds) <= MOST_CPU_SECONDS),
            command: command.clone(),
            notes: vec![format!("{} samples, {} stages", record.samples, record.stages.len())],
        },
        Row {
            claim: "peak resident memory of the observer".to_owned(),
            bar: "≤ 16 MiB".to_owned(),
            measured: format!("{:.1} MiB", seen.peak_memory_kib as f64 / 1024.0),
            outcome: Outcome::met_if(
                seen.peak_memory_kib > 0
                    && seen.peak_memory_kib as f64 * 1024.0 <= MOST_MEMORY_BYTES,
            ),
            command,
            notes: Vec::new(),
        },
    ]
}

/// Looks at the process until it ends; the last look is at most 50 ms before that.
fn watch(child: &mut Child) -> Seen {
    let mut last = Seen::default();
    while child.try_wait().unwrap().is_none() {
        if let Some(seen) = look(child.id()) {
            last = seen;
        }
        std::thread::sleep(Duration::from_millis(50)); // between two looks
    }
    assert!(child.wait().unwrap().success());
    last
}

fn look(pid: u32) -> Option<Seen> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields = stat.rsplit_once(") ")?.1.split(' ').skip(11).take(2); // utime and stime, ended threads included
    let ticks: u64 = fields.filter_map(|field| field.parse::<u64>().ok()).sum();
    let cpu_ns = ticks * 1_000_000_000 / rustix::param::clock_ticks_per_second();
    Some(Seen { cpu_ns, peak_memory_kib: peak.trim().trim_end_matches(" kB").parse().ok()? })
}
