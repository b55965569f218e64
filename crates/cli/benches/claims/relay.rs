//! `fullbore buffer` between a producer and a consumer, beside the programs it replaces.

use std::fs;
use std::process::{Command, Stdio};

use fullbore_measure::Summary;

use crate::Effort;
use crate::pairs::{Pairs, plain};
use crate::sandbox::{Sandbox, eventually, fullbore, is_installed, relay_ends, wait_or_kill};
use crate::table::{Outcome, Row};

/// Who writes: a name for the table, and the command; `{total}` is how much. All grow their pipe to 1 MiB.
const PRODUCERS: &[(&str, &str)] =
    &[("write(2)", "{ends} produce {total}"), ("the ring", "{sequence} write ring {total}")];

/// What stands between, and how many times longer than with `fullbore buffer` it must take at least, for each producer.
const RIVALS: &[(&str, [Option<f64>; 2])] = &[
    ("pv -q", [Some(1.0), Some(1.0)]),
    ("mbuffer -q -m 64M", [None, Some(3.0)]),
    ("cat", [None, Some(3.0)]),
];

const OURS: &str = "{fullbore} buffer -q -m 64M";

fn filled_in(line: &str) -> String {
    line.replace("{ends}", relay_ends()).replace("{fullbore}", fullbore().to_str().unwrap())
}

fn shell(place: &Sandbox, line: &str) -> Command {
    plain(place, &filled_in(line))
}

fn readable(line: &str) -> String {
    line.replace("{ends}", "relay-ends")
        .replace("{fullbore}", "fullbore")
        .replace("{sequence}", "sequence")
}

/// How fast data goes through, producer and consumer doing nothing else.
pub(crate) fn throughput(effort: Effort) -> Vec<Row> {
    let total = effort.pick("512M", "2G");
    let mut rows = Vec::new();
    for (number, (by, producer)) in PRODUCERS.iter().enumerate() {
        let producer = producer.replace("{total}", total);
        for consumer in ["read", "splice"] {
            let with = |relay: &str| format!("{producer} | {relay} | {{ends}} consume {consumer}");
            for (rival, bars) in RIVALS {
                let bar = bars[number];
                if !is_installed(rival.split(' ').next().unwrap()) {
                    println!("   {rival} is not installed");
                    continue;
                }
                let pairs = Pairs::measure(
                    effort.times(3, 7),
                    |place| shell(place, &with(rival)),
                    |place| shell(place, &with(OURS)),
                );
                let gain = pairs.first_to_second();
                rows.push(Row {
                    claim: format!(
                        "producer writes with {by}, consumer uses {consumer}: time through `{rival}` ÷ time through `fullbore buffer`"
                    ),
                    bar: bar.map_or("–".to_owned(), |bar| format!("≥ {bar}")),
                    measured: format!("{:.2} ± {:.2}", gain.median, gain.mad),
                    outcome: bar.map_or(Outcome::Shown, |bar| Outcome::met_if(gain.median >= bar)),
                    command: readable(&format!("{}\n{}", with(rival), with(OURS))),
                    notes: vec![format!("`{rival}` takes {:.2} s for {total}", pairs.first())],
                });
            }
        }
    }
    rows
}

/// Producer and consumer each work for a while on 64 MiB, and are half a burst apart.
pub(crate) fn bursts_in_antiphase(effort: Effort) -> Vec<Row> {
    let total = effort.pick("640M", "1280M");
    let producer = format!(
        "{{ head -c 32M /dev/zero; {{stage}} --name producer --no-read --total {total} --burst 64M \
         --write-block 64M --compute-us 200000; }}"
    );
    let consumer = "{stage} --name consumer --no-write --read-block 64M --compute-us 200000";
    let without = format!("{producer} | {consumer}");
    let with = format!("{producer} | {{fullbore}} buffer -q -m 256M | {consumer}");
    let pairs = Pairs::measure(
        effort.times(3, 5),
        |place| shell(place, &without),
        |place| shell(place, &with),
    );
    let share = pairs.second_to_first();
    vec![Row {
        claim: "producer and consumer alternate bursts of 64 MiB: time with `fullbore buffer -m 256M` ÷ time without"
            .to_owned(),
        bar: "≤ 0.55".to_owned(),
        measured: format!("{:.3} ± {:.3}", share.median, share.mad),
        outcome: Outcome::met_if(share.median <= 0.55),
        command: readable(&format!("{without}\n{with}")).replace("{stage}", "stage"),
        notes: vec![format!("{:.2} s without", pairs.first())],
    }]
}

/// What it needs besides the gigabyte that waits in it.
pub(crate) fn memory_beside_the_queue(_: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let (theirs_in, input) = std::io::pipe().unwrap();
    let (output, theirs_out) = std::io::pipe().unwrap();
    let mut command = place.fullbore(&["buffer", "-q", "-m", "1G"]);
    let mut ours = command.stdin(theirs_in).stdout(theirs_out).spawn().unwrap();
    drop(command);
    let mut command = place.command(relay_ends());
    let mut producer = command.args(["produce", "1000M"]).stdout(input).spawn().unwrap();
    drop(command);
    assert!(wait_or_kill(&mut producer, "the producer").success());
    let peak_kib = eventually(|| {
        let status = fs::read_to_string(format!("/proc/{}/status", ours.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.trim().strip_suffix(" kB")?.parse::<f64>().ok()
    });
    let peak_mib = peak_kib.unwrap() / 1024.0 - 1000.0;
    let mut command = place.command(relay_ends());
    let consumer = command.args(["consume", "check"]).stdin(output).stdout(Stdio::piped());
    let checked = consumer.spawn().unwrap().wait_with_output().unwrap();
    assert_eq!(checked.stdout, b"1048576000\n");
    assert!(wait_or_kill(&mut ours, "the buffer").success());
    vec![Row {
        claim: "memory of `fullbore buffer -m 1G` beyond the 1000 MiB queued in it".to_owned(),
        bar: "≤ 32 MiB".to_owned(),
        measured: format!("{peak_mib:.1} MiB"),
        outcome: Outcome::met_if(peak_mib <= 32.0),
        command: "fullbore-relay-ends produce 1000M | fullbore buffer -q -m 1G | (nobody reads)"
            .to_owned(),
        notes: vec!["VmHWM minus the 1000 MiB that are queued".to_owned()],
    }]
}

/// What it adds to a line that passes while everything is idle.
pub(crate) fn added_latency(effort: Effort) -> Vec<Row> {
    let lines = effort.pick("300", "3000");
    let place = Sandbox::new();
    let median_us = |words: &[&str]| {
        let mut command = place.command(relay_ends());
        let output = command.args(["latency", lines]).args(words).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().unwrap()
    };
    let ours = fullbore();
    let added: Vec<f64> = (0..effort.times(3, 9))
        .map(|_| median_us(&[ours.to_str().unwrap(), "buffer", "-q"]) - median_us(&["cat"]))
        .collect();
    let added = Summary::of(&added).unwrap();
    vec![Row {
        claim: "latency of one line through an idle pipeline, beyond that of `cat`".to_owned(),
        bar: "≤ 50 µs".to_owned(),
        measured: format!("{:.1} µs ± {:.1} µs", added.median, added.mad),
        outcome: Outcome::met_if(added.median <= 50.0),
        command: "fullbore-relay-ends latency 3000 fullbore buffer -q\nfullbore-relay-ends latency 3000 cat".to_owned(),
        notes: Vec::new(),
    }]
}
