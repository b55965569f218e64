//! `fullbore run`, as it is without options, beside the shell: lines whose stages have to be woken all the time.

use std::fs;
use std::process::Command;

use fullbore_measure::Summary;

use crate::Effort;
use crate::auto::shell;
use crate::pairs::Pairs;
use crate::sandbox::{Sandbox, fullbore};
use crate::table::{Outcome, Row};

/// Lines that people write to move data; `9*text` stands for `text` nine times. Each takes some tenths of a second, or seconds.
const LINES: &[&str] = &[
    "cat 20*text | wc -l",
    "cat 20*text | wc -c",
    "cat 10*text | cat | wc -l",
    "cat 20*text | tail -n 1",
    "cat 10*text | head -c 900000000 | wc -l",
    "cat 10*text | tr a-z A-Z | wc -l",
    "cat 10*text | tr -d e | tail -c 10",
    "cat 10*text | grep -c fn | cat",
    "cat 5*text | grep -v fn | wc -l",
    "cat 5*text | cut -c1-20 | wc -l",
    "cat 10*text | tee copy | wc -c",
    "cat 5*text | sed -n 1~9p | wc -l",
    "head -c 2G /dev/zero | cat | wc -c",
    "cat 5*text | base64 -w0 | wc -c",
    "cat 4*text | md5sum",
    "cat 10*text | cksum",
    "dd if=/dev/zero bs=64k count=9000 status=none | cat | sha1sum",
    "cat 2*text | gzip -1 | wc -c",
    "cat 4*text | awk 1 | wc -c",
    "cat 4*text | fold -w 200 | tail -n 1",
];

/// Time of `sh -c` ÷ time of `run`, with neighbours on different CPUs and as Linux places them.
pub(crate) fn lines(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    crate::par::code(&place, "text", effort.pick(1, 100));
    let apart = gains(&place, effort, neighbours_apart);
    let placed = gains(&place, effort, str::to_owned);
    let worst = placed.iter().map(|gain| gain.1.median).fold(f64::INFINITY, f64::min);
    vec![
        row("neighbours on different CPUs", 1.5, mean(&apart), notes(&apart)),
        row("as Linux places them", 1.05, mean(&placed), notes(&placed)),
        row("as Linux places them, the worst line", 0.97, worst, Vec::new()),
    ]
}

type Gain = (&'static str, Summary);

fn gains(place: &Sandbox, effort: Effort, arrange: fn(&str) -> String) -> Vec<Gain> {
    let measured = effort.part_of(LINES.to_vec()).into_iter().map(|line| {
        let arranged = arrange(&spelled_out(line));
        let [plain, watched] = [shell(place, &arranged), run(place, &arranged)]
            .map(|mut command| command.output().unwrap());
        assert!(plain.stdout == watched.stdout && plain.status == watched.status, "{line}");
        let pairs = Pairs::measure(
            effort.times(3, 7),
            |_| shell(place, &arranged),
            |_| run(place, &arranged),
        );
        let gain = pairs.first_to_second();
        println!("   {:.2} ± {:.2}  {:.2} s  {line}", gain.median, gain.mad, pairs.first());
        let _ = fs::remove_file(place.path("copy"));
        (line, gain)
    });
    measured.collect()
}

/// `9*text` with each file named.
fn spelled_out(line: &str) -> String {
    let words = line.split(' ').map(|word| match word.split_once('*') {
        Some((count, file)) => vec![file; count.parse().unwrap()].join(" "),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

fn neighbours_apart(line: &str) -> String {
    let stages = line.split(" | ").enumerate();
    stages
        .map(|(at, stage)| format!("taskset -c {} {stage}", at % 2))
        .collect::<Vec<_>>()
        .join(" | ")
}

fn mean(of: &[Gain]) -> f64 {
    (of.iter().map(|gain| gain.1.median.ln()).sum::<f64>() / of.len() as f64).exp()
}

fn notes(of: &[Gain]) -> Vec<String> {
    of.iter()
        .map(|(line, gain)| format!("{:.2} ± {:.2}: `{line}`", gain.median, gain.mad))
        .collect()
}

fn row(which: &str, bar: f64, measured: f64, notes: Vec<String>) -> Row {
    Row {
        claim: format!("time of `sh -c` ÷ time of `fullbore run -q`, {which}"),
        bar: format!("≥ {bar}"),
        measured: format!("{measured:.2}"),
        outcome: Outcome::met_if(measured >= bar),
        command: "fullbore run -q LINE".to_owned(),
        notes,
    }
}

fn run(place: &Sandbox, line: &str) -> Command {
    let mut command = place.command(fullbore());
    command.args(["run", "-q", line]).env("LC_ALL", "C");
    command
}
