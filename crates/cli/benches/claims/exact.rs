//! What counting every switch brings, and what it costs.

use std::fs::{self, File};
use std::io::{BufReader, Write as _};
use std::process::Command;

use fullbore_pipeline::replay;
use fullbore_record::{RunRecord, SharesFrom};
use serde_json::Value;

use crate::Effort;
use crate::cases::mixes::{self, Deviation, Mix};
use crate::pairs::Pairs;
use crate::sandbox::{Sandbox, fullbore};
use crate::table::{Outcome, Row};

/// Points of percent that counted shares may be off, from the truth and from sampled ones.
const MOST_POINTS: f64 = 2.0;

/// Counts every switch of the mixes of known shares, and samples the same runs.
pub(crate) fn shares(effort: Effort) -> Vec<Row> {
    let seconds = effort.pick(2.0, 10.0);
    let mut of_counted: Vec<(f64, String)> = Vec::new();
    let mut between: Vec<(f64, String)> = Vec::new();
    for mix in effort.part_of(mixes::all()) {
        for (counted, sampled) in median_of_three(&mix, seconds) {
            println!(
                "   {}: {}; sampled {:.1}",
                mix.name,
                counted.text(),
                sampled.reported_percent
            );
            let apart = counted.reported_percent - sampled.reported_percent;
            let text = format!(
                "{}: {}; sampled {:.1}",
                mix.name,
                counted.text(),
                sampled.reported_percent
            );
            of_counted.push((counted.points(), text.clone()));
            between.push((apart.abs(), text));
        }
    }
    let command = "fullbore run --no-tune --exact always --report x.json 'stage --truth a.truth … | stage --truth b.truth …'";
    let row = |claim: &str, mut points: Vec<(f64, String)>| {
        points.sort_by(|a, b| b.0.total_cmp(&a.0));
        let worst = points.first().map_or(f64::INFINITY, |(points, _)| *points);
        let mean = points.iter().map(|(points, _)| points).sum::<f64>() / points.len() as f64;
        Row {
            claim: format!("{claim}: {} shares, median of 3 runs of {seconds} s", points.len()),
            bar: format!("≤ {MOST_POINTS} points"),
            measured: format!("at most {worst:.1} points, {mean:.2} on average"),
            outcome: Outcome::met_if(worst <= MOST_POINTS),
            command: command.to_owned(),
            notes: points.iter().take(3).map(|(_, text)| text.clone()).collect(),
        }
    };
    vec![
        row("error of counted shares (`--exact`) against ground truth", of_counted),
        row("counted shares against sampled shares of the same run", between),
    ]
}

/// Every share of the mix, counted and sampled, in the run whose counted share is the middle one of three.
fn median_of_three(mix: &Mix, seconds: f64) -> Vec<(Deviation, Deviation)> {
    let mut runs = [0; 3].map(|_| both(mix, seconds).into_iter());
    let mut shares = Vec::new();
    while let [Some(one), Some(two), Some(three)] = runs.each_mut().map(Iterator::next) {
        let mut same = [one, two, three];
        same.sort_by(|a, b| a.0.signed_points().total_cmp(&b.0.signed_points()));
        let [_, median, _] = same;
        shares.push(median);
    }
    shares
}

/// The shares of one run as counted, and as they follow from its samples alone.
fn both(mix: &Mix, seconds: f64) -> Vec<(Deviation, Deviation)> {
    let place = Sandbox::new();
    let samples = place.path("samples");
    let mut command =
        mix.command(&place, &["--no-tune", "--exact", "always", "--samples", "samples"], seconds);
    command.current_dir(place.path("."));
    let counted = place.record_of_silent(command);
    assert_eq!(counted.shares_from, SharesFrom::Switches);
    let text = fs::read_to_string(&samples).unwrap();
    let sampled = sampled(&place, &text);
    assert_eq!(sampled.shares_from, SharesFrom::Samples);
    mix.deviations(&place, &counted).into_iter().zip(mix.deviations(&place, &sampled)).collect()
}

/// The record of a recorded run without its switches.
fn sampled(place: &Sandbox, recording: &str) -> RunRecord {
    let path = place.path("stripped");
    let mut stripped = File::create(&path).unwrap();
    for line in recording.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        if let Some(look) = value.pointer_mut("/sample/look").and_then(Value::as_object_mut) {
            look.remove("switches");
        }
        writeln!(stripped, "{value}").unwrap();
    }
    replay(BufReader::new(File::open(&path).unwrap())).unwrap()
}

/// What counting costs, against the same run from samples.
pub(crate) fn cost(effort: Effort) -> Vec<Row> {
    let blocks = effort.pick(20_000, 2_000_000);
    let round_trips = effort.pick(2_000, 100_000);
    let cases = [
        (
            "a loop of 4 million system calls",
            format!("dd if=/dev/zero of=/dev/null bs=512 count={blocks}"),
            1.05,
        ),
        (
            "100,000 switches a second: 100,000 messages there and back through two pipes",
            format!("perf bench sched pipe -l {round_trips}"),
            1.15,
        ),
        (
            "2,000 short processes",
            format!(
                "i=0; while [ $i -lt {} ]; do /bin/true; i=$((i+1)); done",
                effort.pick(50, 2000)
            ),
            1.05,
        ),
        (
            "bytes through three stages",
            format!("head -c {} /dev/zero | cat | cat", effort.pick(10_000_000_u64, 4_000_000_000)),
            1.05,
        ),
    ];
    let row = |(what, line, bar): (&str, String, f64)| {
        let pairs = Pairs::measure(
            effort.times(3, 15),
            |place| run(place, "never", &line),
            |place| run(place, "always", &line),
        );
        let cost = pairs.second_to_first();
        Row {
            claim: format!("time with `--exact always` ÷ `--exact never`: {what}"),
            bar: format!("≤ {bar}"),
            measured: format!("{:.3} ± {:.3}", cost.median, cost.mad),
            outcome: Outcome::met_if(cost.median <= bar),
            command: format!("fullbore run -q --exact always '{line}'"),
            notes: vec![format!(
                "{:.2} s without; ratios from {:.3} to {:.3}",
                pairs.first(),
                cost.min,
                cost.max
            )],
        }
    };
    cases.into_iter().map(row).collect()
}

fn run(place: &Sandbox, exact: &str, line: &str) -> Command {
    let mut command = place.command(fullbore());
    command.args(["run", "-q", "--no-tune", "--exact", exact, line]);
    command
}
