//! What `run --flame` costs, and whether it is right.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Effort;
use crate::cases::split::{self, Split};
use crate::pairs::{Pairs, plain};
use crate::sandbox::{Sandbox, finish, fullbore, is_installed, status_text};
use crate::table::{Outcome, Row};

/// A line of some ten seconds: names are looked up once, at the end, which takes 0.1 s.
const LINE: &str = "seq 40000000 | gzip -1 | gzip -dc | grep -v 77 | sort -S 50% | tail -1";
const SHORT_LINE: &str = "seq 12000000 | gzip -1 | gzip -dc | grep -v 77 | sort -S 50% | tail -1";

/// A command as one would type it.
fn words(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    shell_words::join(words.map(|word| word.to_string_lossy()))
}

/// The time of a line with towers, and of perf and samply on the same line.
pub(crate) fn cost(effort: Effort) -> Vec<Row> {
    let (line, short) = match effort {
        Effort::Full => (LINE, SHORT_LINE),
        _ => ("seq 300000 | sort | tail -1", "seq 3000 | sort | tail -1"),
    };
    let count = effort.times(3, 9);
    let with_flame = |place: &Sandbox, line: &str| {
        let mut command = place.command(fullbore());
        command.args(["run", "-q", "--no-tune", "--flame", "out.folded", line]);
        command
    };
    let with_perf = |place: &Sandbox, line: &str| {
        let mut command = place.command("perf");
        command.args(["record", "-q", "-F", "199", "-e", "cpu-clock", "--call-graph", "dwarf"]);
        command.args(["-o", "out.perf", "sh", "-c", line]);
        command
    };
    let with_samply = |place: &Sandbox, line: &str| {
        let mut command = place.command("samply");
        command.args(["record", "--save-only", "-r", "199", "-o", "out.json.gz", "--"]);
        command.args(["sh", "-c", line]);
        command
    };
    let row =
        |claim: &str, line: &str, of: &dyn Fn(&Sandbox, &str) -> Command, bar: Option<f64>| {
            let pairs = Pairs::measure(count, |place| plain(place, line), |place| of(place, line));
            let command = words(&of(&Sandbox::new(), line));
            let ratio = pairs.second_to_first();
            Row {
                claim: claim.to_owned(),
                bar: bar.map_or_else(|| "–".to_owned(), |bar| format!("≤ {bar}")),
                measured: format!("{:.3} ± {:.3}", ratio.median, ratio.mad),
                outcome: bar.map_or(Outcome::Shown, |bar| Outcome::met_if(ratio.median <= bar)),
                command,
                notes: vec![format!("the line alone takes {:.2} s", pairs.first())],
            }
        };
    let mut rows = vec![
        row("`run --flame` at 199 samples a second ÷ `sh -c`", line, &with_flame, Some(1.03)),
        row("the same of a line of some seconds", short, &with_flame, None),
    ];
    if is_installed("perf") {
        rows.push(row(
            "the same of `perf record --call-graph dwarf` at the same rate",
            line,
            &with_perf,
            None,
        ));
    }
    // It refuses to run where `kernel.perf_event_paranoid` is above 1, for root, too.
    let works = |mut command: Command| {
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if is_installed("samply") && works(with_samply(&Sandbox::new(), "true")) {
        let claim = "the same of `samply record`, which does not look at waits, at the same rate";
        rows.push(row(claim, line, &with_samply, None));
    }
    rows
}

/// The shares of a program whose split is known, on a CPU and off it.
pub(crate) fn shares(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    split::compile(&place, "split", &[]);
    let rounds = effort.pick(100, 3000);
    let mut worst: Vec<(f64, String)> = Vec::new();
    let mut heights: f64 = 0.0;
    for run in 0..effort.times(1, 5) {
        let line = format!("{} | ./split {rounds} split.truth | cat", split::SOURCE);
        let ended =
            place.run(&["run", "-q", "--flame", "out.folded", "--report", "out.json", &line]);
        assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
        let stacks = split::read_stacks(&place.path("out.folded"));
        let (said, truth) = (Split::of_stacks(&stacks), Split::read(&place.path("split.truth")));
        for (name, said, truth) in said.beside(&truth) {
            let text = format!("run {run}: {name}: {said:.1} %, in truth {truth:.1} %");
            worst.push(((said - truth).abs(), text));
        }
        let record =
            fullbore_record::read(&fs::read_to_string(place.path("out.json")).unwrap()).unwrap();
        for stage in &record.stages {
            let of = |stack: &[String]| stack[0].starts_with(&format!("{} ", stage.stage));
            let us: f64 = stacks.iter().filter(|(stack, _)| of(stack)).map(|(_, us)| us).sum();
            let off = 100.0 * (us * 1e3 - stage.life_ns as f64).abs() / stage.life_ns as f64;
            heights = heights.max(off);
        }
    }
    worst.sort_by(|one, two| two.0.total_cmp(&one.0));
    let most = worst.first().map_or(f64::INFINITY, |(points, _)| *points);
    let command =
        "fullbore run -q --flame out.folded --report out.json '… | ./split 3000 | cat'".to_owned();
    vec![
        Row {
            claim: "shares of a program with a known split (f, g on a CPU; h, k waiting) against its own clocks".to_owned(),
            bar: "≤ 3 points".to_owned(),
            measured: format!("at most {most:.1} points"),
            outcome: Outcome::met_if(most <= 3.0),
            command: command.clone(),
            notes: worst.into_iter().take(3).map(|(_, text)| text).collect(),
        },
        Row {
            claim: "width of each tower against the life of its stage".to_owned(),
            bar: "≤ 1 %".to_owned(),
            measured: format!("at most {heights:.2} % off"),
            outcome: Outcome::met_if(heights <= 1.0),
            command,
            notes: Vec::new(),
        },
    ]
}

/// How much of the samples of Debian's own programs leads to the beginning of the thread.
pub(crate) fn depth(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let rows = effort.pick(200_000, 3_000_000);
    let line = format!(
        "seq {rows} | gzip -6 | gzip -dc | grep -v 77 | jq -c '.+1' | sort -n | perl -ne 'print if /1/' | \
         python3 -c 'import sys; print(sum(int(line) for line in sys.stdin))'"
    );
    let mut command = place.command(fullbore());
    command.args(["run", "-q", "--flame", "out.folded", &line]);
    let ended = finish(command);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let stacks = split::read_stacks(&place.path("out.folded"));
    let (deep, all) = split::depth(&stacks);
    let percent = 100.0 * deep / all;
    vec![Row {
        claim: "time of programs of Debian without frame pointers (gzip, grep, jq, sort, perl, python3) whose stack has \
                three named functions or more and leads to the beginning of the thread"
            .to_owned(),
        bar: "≥ 95 %".to_owned(),
        measured: format!("{percent:.1} %"),
        outcome: Outcome::met_if(percent >= 95.0),
        command: format!("fullbore run -q --flame out.folded \"{line}\""),
        notes: Vec::new(),
    }]
}
