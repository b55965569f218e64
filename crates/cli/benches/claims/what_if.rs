//! What `what-if` predicts, beside what the change really does.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fullbore_record::RunRecord;
use fullbore_what_if::{Change, Forecast, forecast};

use crate::Effort;
use crate::cases::mixes::CpuTimes;
use crate::pairs::readable;
use crate::sandbox::{Sandbox, is_installed};
use crate::table::{Outcome, Row};

/// Pipelines that are measured.
const PIPELINES: u64 = 60;
/// So often each line runs; the run of median length counts.
const RUNS: usize = 3;
/// No further pipeline begins after this time.
const MOST: Duration = Duration::from_secs(25 * 60);
/// Bytes of a block of the stages.
const BLOCK: u64 = 64 << 10;
/// Two times that differ by less than this part are equal for the question which stage to speed up.
const EQUAL: f64 = 0.02;
/// A run counts only if other programs took no more of the CPUs, in percent.
const OTHERS_PERCENT: f64 = 4.0;
/// So often a run is repeated because other programs took more.
const TRIES: usize = 5;
/// The size that larger pipes get.
const PIPE: u64 = 1 << 20;
/// The room of a buffer.
const ROOM: u64 = 256 << 20;

/// A stage of known cost.
#[derive(Clone, Debug)]
struct Part {
    /// CPU time for each block, in microseconds; `None` for a program that is not the fixture.
    compute_us: Option<u64>,
    sleep_us: u64,
    /// More of the command, or the whole command.
    more: String,
}

/// A pipeline of such stages.
#[derive(Clone, Debug)]
struct Pipeline {
    kind: &'static str,
    blocks: u64,
    parts: Vec<Part>,
}

/// A prediction from the run of median length, and the runs with the change.
struct Tried {
    what: String,
    change: Change,
    line: String,
    predicted_ns: f64,
    measured_ns: f64,
    /// The longest run with the change less the shortest, in percent of the median.
    spread_percent: f64,
    /// The error of a prediction from the first run alone for the first run with the change.
    single_error_percent: f64,
}

/// Runs of one line, in the order in which they ran.
struct Runs(Vec<RunRecord>);

impl Runs {
    fn median(&self) -> &RunRecord {
        let mut sorted: Vec<&RunRecord> = self.0.iter().collect();
        sorted.sort_by_key(|record| record.elapsed_ns);
        sorted[sorted.len() / 2]
    }

    fn spread_percent(&self) -> f64 {
        let times = self.0.iter().map(|record| record.elapsed_ns);
        let (shortest, longest) = (times.clone().min(), times.max());
        let span = longest.unwrap_or(0) - shortest.unwrap_or(0);
        100.0 * span as f64 / self.median().elapsed_ns as f64
    }
}

/// Errors of predictions, and whether the right stage is named.
pub(crate) fn predictions(effort: Effort) -> Vec<Row> {
    let count = effort.pick(if effort == Effort::Check { 1 } else { 12 }, PIPELINES);
    let began = Instant::now();
    let (mut tried, mut right, mut wrong, mut measured) = (Vec::new(), 0, Vec::new(), 0);
    for number in 0..count {
        let pipeline = Pipeline::numbered(number, effort.pick(100, 400));
        let runs = effort.times(1, RUNS);
        if began.elapsed() > MOST {
            break;
        }
        let Some(one) = pipeline.measure(number, runs) else { continue };
        measured += 1;
        let halved: Vec<&Tried> = one.iter().filter(|t| t.what == "twice as fast").collect();
        let best = |time: fn(&Tried) -> f64| {
            halved.iter().min_by(|a, b| time(a).total_cmp(&time(b))).copied()
        };
        if let (Some(named), Some(fastest)) = (best(|t| t.predicted_ns), best(|t| t.measured_ns)) {
            if named.measured_ns <= fastest.measured_ns * (1.0 + EQUAL) {
                right += 1;
            } else {
                wrong.push(format!("{} rather than {}", named.line, fastest.line));
            }
        }
        tried.extend(one);
    }
    rows(&tried, measured, right, wrong)
}

impl Pipeline {
    /// Pipelines of six kinds in turn, with costs that the number decides.
    fn numbered(number: u64, blocks: u64) -> Self {
        let mut random = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
        let mut between = |least: u64, most: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            least + random % (most - least)
        };
        let mut computes = |least, most| Part {
            compute_us: Some(between(least, most)),
            sleep_us: 0,
            more: String::new(),
        };
        let program = |text: &str| Part { compute_us: None, sleep_us: 0, more: text.to_owned() };
        let (mut first, mut middle, last) =
            (computes(300, 1800), computes(300, 1800), computes(300, 1800));
        let burst = [256, 512, 1024, 2048][usize::try_from(number / 6 % 4).unwrap()];
        let (kind, parts) = match number % 6 {
            0 => ("two stages", vec![first, last]),
            1 => ("three stages", vec![first, middle, last]),
            2 => {
                first.more = format!("--burst {burst}K");
                ("bursts", vec![first, last])
            }
            3 => {
                middle.sleep_us = middle.compute_us.unwrap_or(0) / 2;
                ("a stage that sleeps", vec![first, middle, last])
            }
            4 => {
                middle.more = format!("--read-block {burst}K");
                middle.compute_us = middle.compute_us.map(|us| us * burst / 64);
                ("large blocks", vec![first, middle])
            }
            _ if number % 12 == 5 => ("sorting", vec![first, program("LC_ALL=C sort"), last]),
            _ => ("reversing", vec![first, program("tac"), last]),
        };
        Self { kind, blocks, parts }
    }

    /// The line for the shell, with something put behind the first stage.
    fn line(&self, behind_first: &str) -> String {
        let last = self.parts.len() - 1;
        let command = |(place, part): (usize, &Part)| {
            let Some(compute_us) = part.compute_us else { return part.more.clone() };
            let mut command = "{stage}".to_owned();
            if place == 0 {
                let _ = write!(command, " --no-read --total {}K", self.blocks * BLOCK / 1024);
            }
            if place == last {
                command.push_str(" --no-write");
            }
            let _ = write!(command, " --compute-us {compute_us}");
            if part.sleep_us > 0 {
                let _ = write!(command, " --sleep-us {}", part.sleep_us);
            }
            if !part.more.is_empty() {
                let _ = write!(command, " {}", part.more);
            }
            if place == 0 { format!("{command}{behind_first}") } else { command }
        };
        let commands: Vec<String> = self.parts.iter().enumerate().map(command).collect();
        commands.join(" | ")
    }

    /// Runs it as it is and with each change; `None` when a program is missing or other programs used the CPUs all the time.
    fn measure(&self, number: u64, runs: usize) -> Option<Vec<Tried>> {
        let place = Sandbox::new();
        let programs = self.parts.iter().filter(|part| part.compute_us.is_none());
        let mut names = programs.filter_map(|part| part.more.split(' ').next_back());
        if !names.all(is_installed) {
            return None;
        }
        let run = |options: &[&str], line: &str| {
            let once = || undisturbed(&place, OTHERS_PERCENT, || place.reporting(options, line));
            (0..runs).map(|_| once()).collect::<Option<Vec<_>>>().map(Runs)
        };
        let unchanged = run(&["--no-tune"], &self.line(""))?;
        let record = unchanged.median();
        let forecasts = [forecast(record).ok()?, forecast(&unchanged.0[0]).ok()?];
        let mut tried = Vec::new();
        let mut add = |what: &str, change: Change, line: String, changed: Option<Runs>| {
            let one = changed.and_then(|runs| Tried::of(what, &forecasts, change, line, &runs));
            let is_there = one.is_some();
            tried.extend(one);
            is_there.then_some(())
        };
        for stage in (0..self.parts.len()).filter(|&p| self.parts[p].compute_us.is_some()) {
            let line = self.halved(stage, record)?.line("");
            let change = Change::TwiceAsFast(record.stages.get(stage)?.stage);
            add("twice as fast", change, line.clone(), run(&["--no-tune"], &line))?;
        }
        let pipe = record.pipes.iter().find(|pipe| pipe.writers == [record.stages[0].stage])?.pipe;
        let larger = match record.pipes.len() {
            1 => Change::PipeOf { pipe, bytes: PIPE },
            _ => Change::AllPipesOf { bytes: PIPE },
        };
        let (line, size) = (self.line(""), ["--pipe-size", "1M"]);
        add("pipes of 1 MiB", larger, format!("--pipe-size 1M: {line}"), run(&size, &line))?;
        let line = self.line(" | {fullbore} buffer -q -m 256M");
        let buffer = Change::BufferOf { pipe, bytes: ROOM };
        add("buffer of 256 MiB", buffer, line.clone(), run(&["--no-tune"], &line))?;
        keep(number, record, &tried);
        for one in &tried {
            println!(
                "   {number:2} {:20} {:18} {:6.3} s → {:6.3} s, measured {:6.3} s ({:+.1} %)",
                self.kind,
                one.what,
                record.elapsed_ns as f64 / 1e9,
                one.predicted_ns / 1e9,
                one.measured_ns / 1e9,
                100.0 * (one.predicted_ns / one.measured_ns - 1.0)
            );
        }
        Some(tried)
    }

    /// The same with a stage that needs half its CPU time, system calls included.
    fn halved(&self, stage: usize, record: &RunRecord) -> Option<Self> {
        let mut halved = self.clone();
        let part = &mut halved.parts[stage];
        let block = if part.more.contains("--read-block") {
            let kib = part.more.trim_end_matches('K').rsplit(' ').next()?;
            kib.parse::<u64>().ok()? * 1024
        } else {
            BLOCK
        };
        let blocks = (self.blocks * BLOCK / block).max(1);
        let computes_us = part.compute_us?;
        let spent_us = record.stages.get(stage)?.cpu_ns / 1000 / blocks;
        let calls_us = spent_us.saturating_sub(computes_us);
        part.compute_us = Some((spent_us / 2).saturating_sub(calls_us));
        Some(halved)
    }
}

/// Runs a command until other programs took at most this share of the CPUs, in percent; `None` when that does not happen.
pub(crate) fn undisturbed(
    place: &Sandbox,
    most_percent: f64,
    command: impl Fn() -> Command,
) -> Option<RunRecord> {
    for _ in 0..TRIES {
        let before = CpuTimes::read();
        let record = place.record_of_silent(command());
        if CpuTimes::read().of_others_percent(before) <= most_percent {
            return Some(record);
        }
    }
    None
}

impl Tried {
    fn of(
        what: &str,
        [of_median, of_first]: &[Forecast; 2],
        change: Change,
        line: String,
        changed: &Runs,
    ) -> Option<Self> {
        let predicted_ns = |forecast: &Forecast| {
            let found = forecast.predictions.iter().find(|one| one.change == change)?;
            Some(found.elapsed_ns as f64)
        };
        let first_ns = changed.0[0].elapsed_ns as f64;
        Some(Self {
            what: what.to_owned(),
            predicted_ns: predicted_ns(of_median)?,
            measured_ns: changed.median().elapsed_ns as f64,
            spread_percent: changed.spread_percent(),
            single_error_percent: 100.0 * (predicted_ns(of_first)? / first_ns - 1.0),
            change,
            line,
        })
    }

    fn error_percent(&self) -> f64 {
        100.0 * (self.predicted_ns / self.measured_ns - 1.0)
    }
}

/// Leaves the record and what was measured, for whoever wants to look into an error.
fn keep(number: u64, record: &RunRecord, tried: &[Tried]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("what-if");
    std::fs::create_dir_all(&folder).unwrap();
    let record = serde_json::to_string(record).unwrap();
    std::fs::write(folder.join(format!("{number}.json")), record).unwrap();
    let lines: String = tried
        .iter()
        .map(|one| {
            format!("{:?}\t{}\t{}\t{}\n", one.change, one.measured_ns, one.predicted_ns, one.line)
        })
        .collect();
    std::fs::write(folder.join(format!("{number}.tsv")), lines).unwrap();
}

/// Median and 95th percentile, without their signs.
fn spread(percents: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut errors: Vec<f64> = percents.map(f64::abs).collect();
    errors.sort_by(f64::total_cmp);
    let at = |part: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a number of errors"
        )]
        let place = (errors.len() as f64 * part).ceil() as usize;
        errors.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
    };
    (at(0.5), at(0.95))
}

fn rows(tried: &[Tried], measured: usize, right: usize, wrong: Vec<String>) -> Vec<Row> {
    let (median, late) = spread(tried.iter().map(Tried::error_percent));
    let mut notes: Vec<String> = ["twice as fast", "pipes of 1 MiB", "buffer of 256 MiB"]
        .into_iter()
        .map(|what| {
            let these = tried.iter().filter(|one| one.what == what);
            let (median, late) = spread(these.map(Tried::error_percent));
            format!("{what}: median {median:.1} %, 95th percentile {late:.1} %")
        })
        .collect();
    let (median_single, late_single) = spread(tried.iter().map(|one| one.single_error_percent));
    notes.push(format!(
        "each from one run for one run: median {median_single:.1} %, 95th percentile {late_single:.1} %"
    ));
    let (median_span, late_span) = spread(tried.iter().map(|one| one.spread_percent));
    notes.push(format!(
        "longest less shortest of the runs of one changed line: median {median_span:.1} %, 95th percentile {late_span:.1} %"
    ));
    let mut worst: Vec<&Tried> = tried.iter().collect();
    worst.sort_by(|a, b| b.error_percent().abs().total_cmp(&a.error_percent().abs()));
    notes.extend(worst.iter().take(8).map(|one| {
        format!("{:+.1} %: {}: `{}`", one.error_percent(), one.what, readable(&one.line))
    }));
    let command = "fullbore run --no-tune --report run.json LINE; fullbore what-if run.json; the changed LINE";
    let row = |claim: &str, bar: &str, measured: String, is_met, notes| Row {
        claim: claim.to_owned(),
        bar: bar.to_owned(),
        measured,
        outcome: Outcome::met_if(is_met),
        command: command.to_owned(),
        notes,
    };
    let claim =
        format!("{} changes of {measured} pipelines: error of predicted ÷ measured", tried.len());
    let share = 100.0 * right as f64 / measured.max(1) as f64;
    let wrong = wrong.iter().map(|line| readable(line)).collect();
    vec![
        row(&format!("{claim}, median"), "≤ 4 %", format!("{median:.1} %"), median <= 4.0, notes),
        row(
            &format!("{claim}, 95th percentile"),
            "≤ 12 %",
            format!("{late:.1} %"),
            late <= 12.0,
            vec![],
        ),
        row(
            "the stage whose speed is predicted to gain most really gains most, or less by 2 % at most",
            "≥ 95 %",
            format!("{right} of {measured} ({share:.0} %)"),
            share >= 95.0,
            wrong,
        ),
    ]
}
