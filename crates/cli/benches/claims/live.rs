//! What `top` and `attach` say of pipelines that others have started, and what looking costs.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use fullbore_record::RunRecord;
use rustix::process::Signal;
use serde_json::Value;

use crate::Effort;
use crate::cases::verdicts::{self, Judgement};
use crate::processes::{Process, Running, marked};
use crate::sandbox::{Sandbox, eventually, finish, fullbore, within};
use crate::table::{Outcome, Row};
use crate::terminal::Terminal;

const MOST_MEMORY_MIB: f64 = 24.0;
const MOST_FIRST_SCREEN_MS: f64 = 200.0;

/// CPU time, memory and first screen of `top` beside few processes and beside many.
pub(crate) fn cost_of_top(effort: Effort) -> Vec<Row> {
    let busy = "yes | gzip -1 | gzip -dc | pv -q -L 5m >/dev/null &";
    let few = format!("{busy} for i in $(seq 290); do sleep 1000 & done; wait");
    let many = format!(
        "{busy} for i in $(seq 400); do sleep 1000 | sleep 1000 | sleep 1000 | sleep 1000 | sleep 1000 | sleep 1000 & done; \
         for i in $(seq 2590); do sleep 1000 & done; wait"
    );
    let mut rows = cost_beside("300 processes", 290, &few, 0.5, effort);
    if effort != Effort::Check {
        rows.extend(cost_beside("5,000 processes with 2,000 pipes", 4_990, &many, 2.0, effort));
    }
    rows
}

fn cost_beside(
    what: &str,
    count: usize,
    line: &str,
    most_percent: f64,
    effort: Effort,
) -> Vec<Row> {
    let crowd = Sandbox::new();
    let _running = Running::start(&crowd, line);
    eventually(|| (marked(crowd.mark()).len() > count).then_some(())).expect("all are started");
    let place = Sandbox::new();
    let program = fullbore();
    let begin = Instant::now();
    let words = [program.to_str().unwrap(), "top", "-d", "0.5"];
    let mut terminal = Terminal::start(&place, 160, 50, &words, &[]);
    terminal.wait_for("details");
    let first_screen = begin.elapsed();
    let top = Process(terminal.pid());
    // What is new is looked at more closely. Somebody must read what the terminal shows.
    let mut show_for = |seconds| {
        within(Duration::from_secs(seconds), || {
            terminal.shown();
            None::<()>
        })
    };
    show_for(5);
    let (before_ns, from) = (cpu_ns(top), Instant::now());
    show_for(effort.pick(5, 30));
    let used_ns = cpu_ns(top) - before_ns;
    let percent = used_ns as f64 / from.elapsed().as_nanos() as f64 * 100.0;
    let peak_mib = top.peak_memory_kib().unwrap() as f64 / 1024.0;
    terminal.press("q");
    terminal.wait_for_end();
    let first_ms = first_screen.as_secs_f64() * 1e3;
    let row = |claim: &str, bar: String, measured: String, is_met: bool| Row {
        claim: format!("{what}: {claim}"),
        bar,
        measured,
        outcome: Outcome::met_if(is_met),
        command: "fullbore top -d 0.5   # on a terminal of 160 × 50".to_owned(),
        notes: Vec::new(),
    };
    vec![
        row(
            "CPU time of `top` that shows a new screen twice a second",
            format!("≤ {most_percent} % of a CPU"),
            format!("{percent:.2} %"),
            percent <= most_percent,
        ),
        row(
            "peak resident memory of `top`",
            format!("≤ {MOST_MEMORY_MIB} MiB"),
            format!("{peak_mib:.1} MiB"),
            peak_mib <= MOST_MEMORY_MIB,
        ),
        row(
            "time to the first screen",
            format!("≤ {MOST_FIRST_SCREEN_MS} ms"),
            format!("{first_ms:.0} ms"),
            first_ms <= MOST_FIRST_SCREEN_MS,
        ),
    ]
}

/// CPU time of all threads of a process.
fn cpu_ns(process: Process) -> u64 {
    let threads = fs::read_dir(format!("/proc/{}/task", process.0)).unwrap();
    let times =
        threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("schedstat")).ok());
    times.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok()).sum()
}

/// When `top` says that a pipeline will have read its input, against when it has.
pub(crate) fn time_left(effort: Effort) -> Vec<Row> {
    let seconds: u32 = effort.pick(6, 40);
    let steady = [
        ("pv -q -L 4m input | sha1sum", seconds * 4),
        ("cat input | pv -q -L 6m | wc -l", seconds * 6),
    ];
    // As fast as the machine lets it.
    let compressor = [("gzip -9 < input | wc -c", seconds * 12)];
    let claim = "time left of the input, as `top` says it in the middle half of a run";
    let steady = effort.part_of(steady.into());
    let of_steady = row_of_time_left(&format!("{claim}, at a steady rate"), &steady);
    let of_compressor = row_of_time_left(&format!("{claim}, of a compressor"), &compressor);
    let is_met = of_steady.1 <= 10.0;
    let mut rows = [of_steady.0, of_compressor.0];
    "≤ 10 %".clone_into(&mut rows[0].bar);
    rows[0].outcome = Outcome::met_if(is_met);
    rows.into()
}

/// What was measured of these lines, with megabytes of input, and the worst answer in percent.
fn row_of_time_left(claim: &str, lines: &[(&str, u32)]) -> (Row, f64) {
    let (mut errors, mut notes) = (Vec::new(), Vec::new());
    for (line, megabytes) in lines {
        let place = Sandbox::new();
        let make = format!("seq 1 100000000 | head -c {megabytes}M > input");
        let mut command = place.command("bash");
        assert!(command.args(["-c", &make]).status().unwrap().success());
        let found = errors_of_time_left(&place, line);
        let worst = found.iter().copied().fold(0.0, f64::max);
        notes.push(format!("`{line}`: {} answers, at most {worst:.1} % off", found.len()));
        errors.extend(found);
    }
    // Without any answer, nothing is right.
    let worst = errors.iter().copied().fold(if errors.is_empty() { 100.0 } else { 0.0 }, f64::max);
    let row = Row {
        claim: claim.to_owned(),
        bar: "as measured".to_owned(),
        measured: format!("at most {worst:.1} % off in {} answers", errors.len()),
        outcome: Outcome::Shown,
        command: "fullbore top --json -d 1".to_owned(),
        notes,
    };
    (row, worst)
}

/// How far off each answer in the middle half was, in percent of the time that was left.
fn errors_of_time_left(place: &Sandbox, line: &str) -> Vec<f64> {
    let watcher = Sandbox::new();
    let mut command = watcher.fullbore(&["top", "--json", "-d", "1"]);
    command.stdout(fs::File::create(watcher.path("seen")).unwrap()).stderr(Stdio::null());
    let mut top = command.spawn().unwrap();
    let mut command = place.command("bash");
    let begin = unix_seconds();
    command.args(["-c", line]).stdout(Stdio::null()).status().unwrap();
    let end = unix_seconds();
    Process(top.id()).send(Signal::TERM);
    top.wait().unwrap();
    let text = fs::read_to_string(watcher.path("seen")).unwrap();
    let mut errors = Vec::new();
    for overview in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let at = overview["unix_ns"].as_f64().unwrap() / 1e9;
        if !(0.25..0.75).contains(&((at - begin) / (end - begin))) {
            continue;
        }
        let pipelines = overview["pipelines"].as_array().unwrap();
        let said = pipelines.iter().find_map(|one| one["progress"]["input_left_ns"].as_f64());
        // No answer is as wrong as can be.
        errors.push(said.map_or(100.0, |ns| ((ns / 1e9) / (end - at) - 1.0).abs() * 100.0));
    }
    errors
}

fn unix_seconds() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64()
}

/// The verdict on pipelines of known answer, some time after attaching to them.
pub(crate) fn verdicts_of_attach(effort: Effort) -> Vec<Row> {
    [("2 s", 95.0), ("5 s", 98.0)].map(|(time, least)| verdicts_after(time, least, effort)).into()
}

fn verdicts_after(time: &str, least_percent: f64, effort: Effort) -> Row {
    let (mut right, mut all, mut notes) = (0, 0, Vec::new());
    for known in effort.part_of(verdicts::all()) {
        let Some(line) = known.endless() else { continue };
        let place = Sandbox::new();
        let running = Running::start(&place, &line);
        let stage = running.process("--total");
        // Some moment, another one for each.
        std::thread::sleep(Duration::from_millis(37 * known.name.len() as u64));
        all += 1;
        let tune: &[&str] = if known.is_tuned() { &["--tune"] } else { &[] };
        match known.verdict(&attached(&place, stage, time, tune)) {
            Judgement::Right => right += 1,
            Judgement::Wrong(said)
            | Judgement::TooFewCpus(said)
            | Judgement::WrongBottleneck(said) => notes.push(format!("{}: {said}", known.name)),
        }
    }
    let percent = 100.0 * f64::from(right) / f64::from(all.max(1));
    Row {
        claim: format!(
            "right verdict {time} after attaching, {all} pipelines whose answer is known"
        ),
        bar: format!("≥ {least_percent} %"),
        measured: format!("{percent:.1} % ({right} of {all})"),
        outcome: Outcome::met_if(percent >= least_percent),
        command: format!(
            "fullbore attach --tune --for {} 4242   # crates/cli/tests/cases/verdicts.rs",
            time.replace(' ', "")
        ),
        notes,
    }
}

fn attached(place: &Sandbox, stage: Process, time: &str, tune: &[&str]) -> RunRecord {
    let time = time.replace(' ', "");
    let mut command = place.fullbore(&["attach", "-q", "--report", "report.json"]);
    command.args(tune).args(["--for", &time, &stage.0.to_string()]);
    let ended = finish(command);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    place.read_record()
}
