//! `fullbore count` beside the programs that people count lines with.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use crate::Effort;
use crate::processes::Process;
use crate::sandbox::{Sandbox, is_installed};
use crate::stages::compare;
use crate::table::{Outcome, Row};

/// What the programs are compared on: a name, how to make it, and the bars beside the shell and beside other programs.
type Input = (&'static str, fn(&Sandbox, Effort) -> PathBuf, f64, f64);

const INPUTS: &[Input] = &[
    ("words of source code", words, 30.0, 6.0),
    ("addresses of a log", addresses, 30.0, 6.0),
    ("distinct lines", distinct, 3.0, 1.5),
];

/// Words of the sources that `make demo` counts, to the given size.
fn words(place: &Sandbox, effort: Effort) -> PathBuf {
    let path = place.path("words");
    let home = std::env::var_os("CARGO_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cargo"),
        Into::into,
    );
    let line =
        "tar -cf - -C \"$1\" . . . . | tr -cs A-Za-z '\\n' | grep . | head -c \"$2\" > \"$3\"";
    let mut made = Command::new("sh");
    made.args(["-c", line, "sh"]).arg(home.join("registry/src"));
    let _ = made.arg(effort.pick("1M", "200M")).arg(&path).status();
    if fs::metadata(&path).unwrap().len() == 0 {
        fs::write(&path, "no\nsources\nhere\n".repeat(1000)).unwrap();
    }
    path
}

/// Numbers that look random and are the same every time.
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    mixed ^ mixed >> 32
}

/// Addresses of 200,000 clients, of which few come often.
#[expect(clippy::cast_possible_truncation, reason = "a number below 200,000")]
fn addresses(place: &Sandbox, effort: Effort) -> PathBuf {
    written(place, "addresses", effort.pick(10_000, 20_000_000), |number| {
        let uniform = mixed(number) as f64 / u64::MAX as f64;
        let [a, b, c, d, ..] = mixed((uniform * 12.2).exp() as u64).to_le_bytes();
        format!("{a}.{b}.{c}.{d}")
    })
}

/// Numbers in no order, all of them different.
fn distinct(place: &Sandbox, effort: Effort) -> PathBuf {
    let count = effort.pick(10_000, 10_000_000);
    written(place, "distinct", count, |number| (number * 7_654_321 % count).to_string())
}

fn written(place: &Sandbox, name: &str, count: u64, line: impl Fn(u64) -> String) -> PathBuf {
    let path = place.path(name);
    let mut file = BufWriter::new(File::create(&path).unwrap());
    (0..count).for_each(|number| writeln!(file, "{}", line(number)).unwrap());
    file.flush().unwrap();
    path
}

/// The shell's four programs.
pub(crate) fn shell(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let row = |(name, make, bar, _): &Input| {
        let file = make(&place, effort).display().to_string();
        let sort = "LC_ALL=C sort FILE | LC_ALL=C uniq -c | LC_ALL=C sort -rn | head";
        compare(
            &format!("{name}: `sort \\| uniq -c \\| sort -rn \\| head` ÷ `count --top 10`"),
            Some(*bar),
            effort.times(2, 5),
            [&sort.replace("FILE", &file), &format!("{{fullbore}} count --top 10 {file}")],
        )
    };
    INPUTS.iter().map(row).collect()
}

/// Programs that count in a table. All but topfew print every line, in no order.
const PEERS: &[(&str, &str)] = &[
    ("huniq", "huniq -c < FILE"),
    ("mawk", "mawk '{ n[$0]++ } END { for (k in n) print n[k], k }' FILE"),
    ("topfew", "topfew -n 10 FILE"),
    ("datamash", "datamash -s -g 1 count 1 < FILE"),
];

/// Programs with a table of their own.
pub(crate) fn peers(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let mut rows = Vec::new();
    for (name, make, _, bar) in INPUTS {
        let file = make(&place, effort).display().to_string();
        for (program, line) in PEERS {
            // datamash sorts, so it has no bar.
            let bar = (*program != "datamash").then_some(*bar);
            let claim = format!("{name}: `{program}` ÷ `count --top 10`");
            if is_installed(program) {
                let ours = format!("{{fullbore}} count --top 10 {file}");
                let lines = [&*line.replace("FILE", &file), &*ours];
                let runs = if bar.is_some() { effort.times(2, 5) } else { 1 };
                rows.push(compare(&claim, bar, runs, lines));
            } else {
                println!("   skipped: {claim}: {program} is not installed");
            }
        }
    }
    rows
}

/// How many different lines the large input has.
const DISTINCT: u64 = 10_000_000;

/// A prime that visits all of them in no order.
const STEP: u64 = 7_654_321;

/// Memory for an input that is larger than memory.
pub(crate) fn memory(effort: Effort) -> Vec<Row> {
    let repeats = effort.pick(1, 100);
    let distinct = effort.pick(DISTINCT / 100, DISTINCT);
    let place = Sandbox::new();
    let mut command = place.fullbore(&["count", "-m", "256M"]);
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut into = BufWriter::with_capacity(1 << 20, child.stdin.take().unwrap());
    let writing = thread::spawn(move || {
        let mut line = *b"000000000\n";
        for number in 0..repeats * distinct {
            let mut left = number * STEP % distinct;
            for digit in line[..9].iter_mut().rev() {
                *digit = b'0' + (left % 10) as u8;
                left /= 10;
            }
            into.write_all(&line).unwrap();
        }
    });
    let mut peak = 0;
    let mut out = BufReader::with_capacity(1 << 20, child.stdout.take().unwrap());
    let mut is_right = true;
    let mut row = Vec::new();
    for number in 0..distinct {
        row.clear();
        out.read_until(b'\n', &mut row).unwrap();
        is_right &= row == format!("{repeats:7} {number:09}\n").into_bytes();
        if number % (distinct / 10) == 0 {
            peak = peak.max(Process(child.id()).peak_memory_kib().unwrap_or(0));
        }
    }
    is_right &= out.read_until(b'\n', &mut row).unwrap() == 0;
    writing.join().unwrap();
    is_right &= child.wait().unwrap().success();
    let mib = peak as f64 / 1024.0;
    vec![Row {
        claim: format!(
            "{} GB of lines, {distinct} of them distinct, `-m 256M`: peak memory; every count right",
            repeats * distinct * 10 / 1_000_000_000
        ),
        bar: "≤ 300 MiB; yes".to_owned(),
        measured: format!("{mib:.0} MiB; {}", if is_right { "yes" } else { "**no**" }),
        outcome: Outcome::met_if(is_right && peak > 0 && mib <= 300.0),
        command: "generator | fullbore count -m 256M".to_owned(),
        notes: vec![format!(
            "the lines come in rounds: each of them once, in no order, then all again; {:.0} s with the generator",
            begun.elapsed().as_secs_f64()
        )],
    }]
}
