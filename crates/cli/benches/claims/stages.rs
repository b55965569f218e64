//! The filters and sources as whole processes, beside what they could be replaced by.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Effort;
use crate::pairs::{Pairs, plain, readable};
use crate::sandbox::{Sandbox, fullbore, is_installed};
use crate::table::{Outcome, Row};

/// Times of two lines in turn; the second is ours.
pub(crate) fn compare(claim: &str, bar: Option<f64>, runs: usize, lines: [&str; 2]) -> Row {
    let [theirs, ours] = lines;
    let pairs = Pairs::measure(runs, |place| plain(place, theirs), |place| plain(place, ours));
    let gain = pairs.first_to_second();
    Row {
        claim: claim.to_owned(),
        bar: bar.map_or("as measured".to_owned(), |bar| format!("≥ {bar}")),
        measured: format!("{:.2} ± {:.2}", gain.median, gain.mad),
        outcome: bar.map_or(Outcome::Shown, |bar| Outcome::met_if(gain.median >= bar)),
        command: without_folders(&readable(&format!("{theirs}\n{ours}")))
            .replace("{fullbore}", "fullbore")
            .replace("{sequence}", "sequence"),
        notes: vec![format!(
            "the first command takes {:.2} s; ratios from {:.2} to {:.2}",
            pairs.first(),
            gain.min,
            gain.max
        )],
    }
}

/// The lines with the bare names of files of the sandbox.
pub(crate) fn without_folders(lines: &str) -> String {
    let bare = |word: &str| match word.rsplit_once('/') {
        Some((folder, name)) if folder.contains("fullbore-test-") => name.to_owned(),
        _ => word.to_owned(),
    };
    let line = |line: &str| line.split(' ').map(bare).collect::<Vec<_>>().join(" ");
    lines.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Real text, as scripts/real-text collects it; Russian and Japanese, of which there is less, repeated to some hundreds of MB.
/// For a check, lines made up here.
fn text(place: &Sandbox, language: &str, effort: Effort) -> Option<PathBuf> {
    if effort == Effort::Check {
        let line = match language {
            "russian" => "мама мыла раму\n",
            "japanese" => "いろはにほへと\n",
            _ => "the quick brown fox\n",
        };
        let path = place.path(language);
        fs::write(&path, line.repeat(400_000)).ok()?;
        return Some(path);
    }
    let home = std::env::var_os("HOME")?;
    let source = Path::new(&home).join(".cache/fullbore/text").join(format!("{language}.txt"));
    let once = fs::read(&source).ok()?;
    // What is cut at its end is no text.
    let once = String::from_utf8_lossy(&once).replace(char::REPLACEMENT_CHARACTER, "");
    let path = place.path(language);
    fs::write(&path, once.repeat((300_000_000 / once.len()).max(1))).ok()?;
    Some(path)
}

/// The row, and how fast our line is by itself, beside `cat` on the same input.
fn with_rates(mut row: Row, line: &str, input: &str) -> Row {
    let cat = format!("cat {input} | {{sequence}} splice");
    let pairs = Pairs::measure(5, |place| plain(place, &cat), |place| plain(place, line));
    let place = Sandbox::new();
    let gigabytes = |line: &str| {
        let counted = plain(&place, &format!("{line} | wc -c")).output().unwrap().stdout;
        String::from_utf8(counted).unwrap().trim().parse::<f64>().unwrap() / 1e9
    };
    let (stage, _) = line.split_once(" | ").unwrap();
    let share = pairs.first_to_second().median;
    let seconds = pairs.second_to_first().median * pairs.first();
    row.notes.push(format!(
        "{:.2} GB/s of input, {:.2} GB/s of output; {share:.2} times the throughput of `cat` on the same input",
        gigabytes(&format!("cat {input}")) / seconds,
        gigabytes(stage) / seconds,
    ));
    row
}

fn left_out(claim: &str, why: &str) -> Row {
    Row {
        claim: claim.to_owned(),
        bar: String::new(),
        measured: format!("not measured: {why}"),
        outcome: Outcome::Shown,
        command: String::new(),
        notes: Vec::new(),
    }
}

/// Checking a stream beside merely copying it.
pub(crate) fn utf8(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    ["english", "russian", "japanese"]
        .into_iter()
        .map(|language| {
            let claim = format!(
                "{language} text in a pipeline: time with `cat` ÷ time with `utf8 check` instead"
            );
            let Some(path) = text(&place, language, effort) else {
                return left_out(&claim, "run scripts/real-text first");
            };
            let line =
                |stage: &str| format!("cat {} | {stage} | {{sequence}} discard", path.display());
            compare(
                &claim,
                Some(1.0),
                effort.times(3, 9),
                [&line("cat"), &line("{fullbore} utf8 check")],
            )
        })
        .collect()
}

/// From a file through Morse code into a reader that discards it by splice.
pub(crate) fn morse(effort: Effort) -> Vec<Row> {
    let claim =
        "file → encode → pipe → discarding reader: time of `ripmors` ÷ time of `fullbore morse`";
    if !is_installed("ripmors") {
        return vec![left_out(claim, "ripmors is not installed: cargo install ripmors")];
    }
    let place = Sandbox::new();
    let mut rows = Vec::new();
    let languages = [
        // What ripmors calls it when encoding, and when decoding.
        ("english", "latin", "ascii", "standard"),
        ("russian", "russian", "unicode", "russian"),
        ("japanese", "japanese", "unicode", "japanese"),
    ];
    for (language, alphabet, script, theirs) in languages {
        let Some(path) = text(&place, language, effort) else {
            rows.push(left_out(claim, "run scripts/real-text first"));
            continue;
        };
        let path = path.display().to_string();
        let encode = [
            format!("ripmors --encode {script} < {path} | {{sequence}} splice"),
            format!("{{fullbore}} morse encode --on-error skip {path} | {{sequence}} splice"),
        ];
        let bar = Some(5.0);
        let row = compare(
            &format!("{language}: {claim}"),
            bar,
            effort.times(3, 7),
            encode.each_ref().map(String::as_str),
        );
        let code = format!("{path}.morse");
        let made = Command::new("sh")
            .args([
                "-c",
                &format!("{} morse encode --on-error skip {path} > {code}", fullbore().display()),
            ])
            .status();
        assert!(made.unwrap().success());
        rows.push(with_rates(row, &encode[1], &path));
        let decode = [
            format!("ripmors --decode {theirs} < {code} | {{sequence}} splice"),
            format!(
                "{{fullbore}} morse decode --on-error skip --alphabet {alphabet} {code} | {{sequence}} splice"
            ),
        ];
        let claim = claim.replace("encode", "decode");
        let row = compare(
            &format!("{language}: {claim}"),
            bar,
            effort.times(3, 7),
            decode.each_ref().map(String::as_str),
        );
        rows.push(with_rates(row, &decode[1], &code));
        fs::remove_file(code).unwrap();
    }
    rows
}

/// FizzBuzz beside the published record program for one core, whose path is in FULLBORE_RECORD.
pub(crate) fn fizzbuzz(effort: Effort) -> Vec<Row> {
    let claim = "FizzBuzz into a reader that splices it to /dev/null: time of the record program ÷ time of `gen fizzbuzz`";
    let Some(record) =
        std::env::var("FULLBORE_RECORD").ok().filter(|path| Path::new(path).exists())
    else {
        return vec![left_out(claim, "the path of the record program is not in FULLBORE_RECORD")];
    };
    let total = effort.pick("2G", "32G");
    let ours = format!("{{fullbore}} gen fizzbuzz | {{sequence}} splice {total}");
    let mut row = compare(
        claim,
        Some(1.0),
        effort.times(3, 9),
        [&format!("{record} | {{sequence}} splice {total}"), &ours],
    );
    row.command = row.command.replace(&record, "record-program");
    vec![row]
}

const MOST_MIB: f64 = 48.0;

/// The most memory that any stage ever holds, with a gigabyte going through it.
pub(crate) fn memory(effort: Effort) -> Vec<Row> {
    let total = effort.pick("64M", "1G");
    let stages = [
        ("morse encode", "gen jsonl"),
        ("morse decode --on-error skip", "gen lines"),
        ("utf8 check", "gen jsonl"),
        ("utf8 repair", "gen random"),
        ("gen fizzbuzz", ""),
        ("gen jsonl", ""),
    ];
    let mut worst = (0.0, "");
    for (stage, source) in stages {
        let peak = peak_mib(stage, source, total);
        println!("   {stage}: {peak:.1} MiB");
        if peak > worst.0 {
            worst = (peak, stage);
        }
    }
    vec![Row {
        claim: format!("peak memory of any stage while {total} passes through it"),
        bar: format!("≤ {MOST_MIB} MiB"),
        measured: format!("{:.1} MiB ({})", worst.0, worst.1),
        outcome: Outcome::met_if(worst.0 > 0.0 && worst.0 <= MOST_MIB),
        command: "fullbore gen jsonl --bytes 1G | fullbore utf8 check | cat > /dev/null   # VmHWM in /proc/PID/status".to_owned(),
        notes: Vec::new(),
    }]
}

fn peak_mib(stage: &str, source: &str, total: &str) -> f64 {
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut command = Command::new(fullbore());
    command.args(words(stage)).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut feeding = None;
    if source.is_empty() {
        command.args(["--bytes", total]).stdin(Stdio::null());
    } else {
        let mut made = Command::new(fullbore());
        made.args(words(source)).args(["--bytes", total]).stdout(Stdio::piped());
        let mut made = made.spawn().unwrap();
        command.stdin(made.stdout.take().unwrap());
        feeding = Some(made);
    }
    let mut running = command.spawn().unwrap();
    drop(command);
    let mut out = running.stdout.take().unwrap();
    let pid = running.id();
    let draining = std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    let mut peak_kib: f64 = 0.0;
    while running.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak_kib = peak_kib.max(now.unwrap_or(0.0));
        std::thread::sleep(std::time::Duration::from_millis(2)); // between two looks
    }
    draining.join().unwrap().unwrap();
    if let Some(mut made) = feeding {
        made.wait().unwrap();
    }
    peak_kib / 1024.0
}
