//! `fullbore run --auto` beside the shell.

use std::fs;
use std::process::{Command, Stdio};

use crate::Effort;
use crate::pairs::Pairs;
use crate::sandbox::{Sandbox, fullbore};
use crate::table::{Outcome, Row};

/// A line, and whether its slow stage has a rule.
type Line = (&'static str, bool);

/// Lines that people write, over `words` (a word a line), `text` (source code) and `events` (JSON).
const LINES: &[Line] = &[
    ("cat text | tr -cs A-Za-z '\\n' | tr A-Z a-z | sort | uniq -c | sort -rn | head -10", true),
    ("sort words | uniq -c | sort -rn | head -10", false),
    ("cat words | sort | uniq -c", true),
    ("cat words | sort -u | wc -l", true),
    ("cut -c1-3 words | sort | uniq -d", true),
    ("cat events | jq -c .user.id | sort | uniq -c | sort -rn | head", true),
    // grep stops at the first match where its output is /dev/null.
    ("cat events | jq -r .path | grep -c items | cat", true),
    ("cat events | sed -E 's/([0-9]+)/<\\1>/g' | wc -c", true),
    ("cat text | grep -iE 'err(or)?|warn' | wc -l", true),
    ("cat words | rev | head -c 1000000 | wc -l", false),
    ("cat words | rev | sort | tail -1", false),
    ("cat text | awk '{ print $2 }' | sort | uniq -c | sort -rn | head -5", true),
    ("cat text | wc -w", true),
    ("cat text | cut -d' ' -f2 | sort | tail -1", false),
    ("cat text | gzip | wc -c", false),
    ("cat text | wc -l", false),
    ("head -n 1000 text | grep fn | wc -l", false),
    ("cat words | tr a-z A-Z | md5sum", false),
];

/// Time of `sh -c` ÷ time of `fullbore run --auto`.
pub(crate) fn lines(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    make(&place, effort);
    let mut gains = Vec::new();
    let mut notes = Vec::new();
    for (line, has_rule) in effort.part_of(LINES.to_vec()) {
        let [plain, auto] = [shell(&place, line), with_auto(&place, line)]
            .map(|mut command| command.output().unwrap());
        assert!(plain.stdout == auto.stdout && plain.status == auto.status, "{line}");
        let pairs = Pairs::measure(
            effort.times(3, 7),
            |_| shell(&place, line),
            |_| with_auto(&place, line),
        );
        let gain = pairs.first_to_second();
        println!("   {:.2} ± {:.2}  {line}", gain.median, gain.mad);
        notes.push(format!("{:.2} ± {:.2}: `{line}`", gain.median, gain.mad));
        gains.push((gain.median, has_rule));
    }
    let mean = |of: &[f64]| (of.iter().map(|gain| gain.ln()).sum::<f64>() / of.len() as f64).exp();
    let ruled: Vec<f64> = gains.iter().filter(|gain| gain.1).map(|gain| gain.0).collect();
    let worst = gains.iter().map(|gain| gain.0).fold(f64::INFINITY, f64::min);
    let row = |claim: &str, bar: f64, measured: f64, notes| Row {
        claim: claim.to_owned(),
        bar: format!("≥ {bar}"),
        measured: format!("{measured:.2}"),
        outcome: Outcome::met_if(measured >= bar),
        command: "fullbore run --auto LINE".to_owned(),
        notes,
    };
    vec![
        row(
            "lines whose slow stage has a rule: time of `sh -c` ÷ time of `run --auto`, geometric mean",
            1.5,
            mean(&ruled),
            notes,
        ),
        row("the first line, that of the demonstration", 2.2, gains[0].0, Vec::new()),
        row("the worst of all lines", 0.97, worst, Vec::new()),
    ]
}

fn make(place: &Sandbox, effort: Effort) {
    let rows = effort.pick("3000", "400000");
    let mut events = Command::new(fullbore());
    let file = fs::File::create(place.path("events")).unwrap();
    events.args(["gen", "jsonl", "--rows", rows]).stdout(Stdio::from(file));
    assert!(events.status().unwrap().success());
    crate::par::code(place, "text", effort.pick(2, 100));
    let mut words = place.command("sh");
    words.args(["-c", "tr -cs A-Za-z '\\n' <text >words"]);
    assert!(words.status().unwrap().success());
}

pub(crate) fn shell(place: &Sandbox, line: &str) -> Command {
    let mut command = place.command("sh");
    command.args(["-c", line]).env("LC_ALL", "C");
    command
}

fn with_auto(place: &Sandbox, line: &str) -> Command {
    let mut command = place.command(fullbore());
    command.args(["run", "-q", "--auto", line]).env("LC_ALL", "C");
    command
}
