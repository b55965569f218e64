//! What fullbore gains, and what it costs.

use std::process::{Command, Stdio};

use crate::Effort;
use crate::pairs::{Pairs, plain, readable, under_fullbore};
use crate::sandbox::{Sandbox, is_installed};
use crate::table::{Outcome, Row};

/// A producer of 1 MiB bursts and a steady consumer, both computing the same for each MiB.
pub(crate) fn bursty_producer(effort: Effort) -> Vec<Row> {
    let total = effort.pick("60M", "250M"); // 20 ms of computing per MiB on each side: 10 s in turns, 5 s side by side
    let line = format!(
        "{{stage}} --name producer --no-read --total {total} --burst 1M --compute-us 1250 | \
         {{stage}} --name consumer --no-write --compute-us 1250"
    );
    let pairs = Pairs::measure(
        effort.times(3, 7),
        |place| plain(place, &line),
        |place| under_fullbore(place, &line),
    );
    let gain = pairs.first_to_second();
    vec![Row {
        claim: "bursty producer, steady consumer: time of `sh -c` ÷ time of `fullbore run`"
            .to_owned(),
        bar: "≥ 1.8".to_owned(),
        measured: format!("{:.2} ± {:.2}", gain.median, gain.mad),
        outcome: Outcome::met_if(gain.median >= 1.8),
        command: readable(&format!("sh -c '{line}'\nfullbore run -q '{line}'")),
        notes: vec![format!(
            "`sh -c` takes {:.2} s; ratios from {:.2} to {:.2}",
            pairs.first(),
            gain.min,
            gain.max
        )],
    }]
}

/// Long pipelines that gain nothing must lose nothing.
pub(crate) fn pipelines_that_cannot_be_helped(effort: Effort) -> Vec<Row> {
    let lines = effort.pick(
        ["seq 1 1500000 | gzip -9 | wc -c", "for i in $(seq 1000); do /bin/true; done"],
        ["seq 1 16000000 | gzip -9 | wc -c", "for i in $(seq 10000); do /bin/true; done"],
    );
    let claims = ["CPU-bound stage", "10,000 short processes in a loop"];
    let row = |(claim, line): (&str, &str)| {
        let pairs = Pairs::measure(
            effort.times(3, 9),
            |place| plain(place, line),
            |place| under_fullbore(place, line),
        );
        let cost = pairs.second_to_first();
        Row {
            claim: format!("tuning cannot help, {claim}: time of `fullbore run` ÷ time of `sh -c`"),
            bar: "≤ 1.02".to_owned(),
            measured: format!("{:.3} ± {:.3}", cost.median, cost.mad),
            outcome: Outcome::met_if(cost.median <= 1.02),
            command: format!("sh -c '{line}'\nfullbore run -q '{line}'"),
            notes: vec![format!(
                "`sh -c` takes {:.2} s; ratios from {:.3} to {:.3}",
                pairs.first(),
                cost.min,
                cost.max
            )],
        }
    };
    claims.into_iter().zip(lines).map(row).collect()
}

/// What is added to the shortest runs.
pub(crate) fn short_runs(effort: Effort) -> Vec<Row> {
    let row = |(claim, line): (&str, &str)| {
        let pairs = Pairs::measure(
            effort.times(30, 300),
            |place| plain(place, line),
            |place| under_fullbore(place, line),
        );
        let added = pairs.added_milliseconds();
        Row {
            claim: format!("time added to {claim}"),
            bar: "≤ 10 ms".to_owned(),
            measured: format!("{:.1} ms ± {:.1} ms", added.median, added.mad),
            outcome: Outcome::met_if(added.median <= 10.0),
            command: format!("sh -c '{line}'\nfullbore run -q '{line}'"),
            notes: vec![format!(
                "`sh -c` takes {:.1} ms; {} pairs",
                pairs.first() * 1e3,
                pairs.first_seconds.len()
            )],
        }
    };
    [("the shortest run", "true"), ("a pipeline with tiny data", "seq 10 | sort -n | tail -1")]
        .into_iter()
        .map(row)
        .collect()
}

/// One way to look at a running program, as a prefix of its command.
struct Tracer {
    name: &'static str,
    program: &'static str,
    words: &'static [&'static str],
    /// Runs it takes, and blocks copied at most: some of them make the program a hundred times slower.
    runs: usize,
    blocks_max: u32,
}

const BLOCKS: u32 = 2_000_000;

const TRACERS: &[Tracer] = &[
    Tracer {
        name: "perf stat, all system calls",
        program: "perf",
        words: &["perf", "stat", "-e", "syscalls:sys_enter_*"],
        runs: 3,
        blocks_max: BLOCKS,
    },
    Tracer {
        name: "bpftrace, counting system calls",
        program: "bpftrace",
        words: &[
            "bpftrace",
            "-q",
            "-e",
            "tracepoint:raw_syscalls:sys_enter { @calls[probe] = count(); }",
            "-c",
        ],
        runs: 3,
        blocks_max: BLOCKS,
    },
    Tracer {
        name: "strace -c",
        program: "strace",
        words: &["strace", "-c", "-f"],
        runs: 1,
        blocks_max: BLOCKS / 10,
    },
];

/// The cost of looking at a program that does nothing but system calls, beside other ways to look.
pub(crate) fn tracing_cost(effort: Effort) -> Vec<Row> {
    let blocks = match effort {
        Effort::Check => BLOCKS / 1000,
        Effort::Quick => BLOCKS / 10,
        Effort::Full => BLOCKS,
    };
    let line = calls(blocks);
    let pairs = Pairs::measure(
        effort.times(5, 21),
        |place| plain(place, &line),
        |place| under_fullbore(place, &line),
    );
    let cost = pairs.second_to_first();
    let mut rows = vec![Row {
        claim: "time of a loop of system calls ÷ time without tracing: fullbore".to_owned(),
        bar: "≤ 1.02".to_owned(),
        measured: format!("{:.3} ± {:.3} ×", cost.median, cost.mad),
        outcome: Outcome::met_if(cost.median <= 1.02),
        command: format!("fullbore run -q '{line}'"),
        notes: vec![format!(
            "`sh -c` takes {:.2} s; ratios from {:.3} to {:.3}",
            pairs.first(),
            cost.min,
            cost.max
        )],
    }];
    rows.extend(TRACERS.iter().map(|tracer| {
        let line = calls(blocks.min(tracer.blocks_max));
        tracer.row(&line, effort)
    }));
    rows
}

/// A program that does nothing but system calls: two for each block.
fn calls(blocks: u32) -> String {
    format!("dd if=/dev/zero of=/dev/null bs=512 count={blocks}")
}

impl Tracer {
    fn row(&self, line: &str, effort: Effort) -> Row {
        let measured = match self.obstacle() {
            Some(why) => format!("not available: {why}"),
            None => {
                let pairs = Pairs::measure(
                    effort.times(self.runs, self.runs),
                    |place| self.untraced(place, line),
                    |place| self.traced(place, line),
                );
                format!("{:.2} ×", pairs.second_to_first().median)
            }
        };
        Row {
            claim: format!("time of a loop of system calls ÷ time without tracing: {}", self.name),
            bar: "as measured".to_owned(),
            measured,
            outcome: Outcome::Shown,
            command: format!("{} {line}", self.words.join(" ")),
            notes: Vec::new(),
        }
    }

    fn untraced(&self, place: &Sandbox, line: &str) -> Command {
        let mut command = place.command("dd");
        command.args(line.split_whitespace().skip(1));
        command
    }

    fn traced(&self, place: &Sandbox, line: &str) -> Command {
        let mut command = place.command(self.words[0]);
        command.args(&self.words[1..]);
        if self.words.ends_with(&["-c"]) {
            // bpftrace does not choose between /bin/dd and /usr/bin/dd.
            command.arg(line.replacen("dd ", "/usr/bin/dd ", 1));
        } else {
            command.args(line.split_whitespace());
        }
        command
    }

    /// Why it cannot be used here.
    fn obstacle(&self) -> Option<String> {
        if !is_installed(self.program) {
            return Some(format!("{} is not installed", self.program));
        }
        let mut attempt = self.traced(&Sandbox::new(), "dd if=/dev/zero of=/dev/null count=1");
        let output = attempt.current_dir("/").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let complaint = text
            .lines()
            .find(|line| !line.trim().is_empty() && !line.contains("records"))
            .unwrap_or("it fails")
            .trim();
        let complaint = complaint.replace('|', "/").chars().take(100).collect::<String>();
        (!output.status.success()).then(|| format!("`{}` says: {complaint}", self.program))
    }
}
