//! One engine at one point as a row of cells: the same in every kind of report.

use fullbore_lab::record::{CaseRun, EngineRun, LabRun, Outcome, PointRun, Stopped};
use fullbore_lab::suite::Quantity;
use fullbore_measure::Bytes;

use super::figures;
use crate::visible;

/// The cells of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) engine: String,
    pub(super) value: String,
    pub(super) spread: String,
    pub(super) ratio: String,
    /// Percentiles of the latency, where the case has one.
    pub(super) percentiles: Vec<String>,
    /// Counters of the case.
    pub(super) counters: Vec<String>,
    pub(super) cpu: String,
    pub(super) memory: String,
    pub(super) published: String,
    pub(super) notes: String,
    /// Why there are no numbers; empty when there are.
    pub(super) trouble: String,
}

/// Heads of [`Row::percentiles`].
pub(super) fn percentile_heads(case: &CaseRun) -> Vec<String> {
    if !has_latency(case) {
        return Vec::new();
    }
    // The median is the value of the case, as a rule.
    let first = usize::from(case.quantity == Quantity::LatencyNs);
    ["p50", "p99", "p99.9", "max"][first..].iter().map(|head| (*head).to_owned()).collect()
}

/// Heads of [`Row::counters`].
pub(super) fn counter_heads(case: &CaseRun) -> Vec<String> {
    case.columns.iter().map(|name| figures::counter_head(name)).collect()
}

fn has_latency(case: &CaseRun) -> bool {
    case.points.iter().flat_map(|point| &point.engines).any(|run| run.latency.is_some())
}

/// The rows of a point, in the order of the engines.
pub(super) fn rows(case: &CaseRun, point: &PointRun) -> Vec<Row> {
    point.engines.iter().map(|run| row(case, run)).collect()
}

fn row(case: &CaseRun, run: &EngineRun) -> Row {
    let note = case.engine(&run.engine);
    let label = note.map_or(run.engine.as_str(), |note| note.label.as_str());
    let marks = note.map_or(String::new(), |note| note.marks.join(", "));
    let published = note.and_then(|note| note.published.clone()).unwrap_or_default();
    let engine = visible::line(label);
    let trouble = trouble(&run.outcome);
    if !trouble.is_empty() {
        return Row {
            engine,
            published: visible::line(&published),
            notes: visible::line(&marks),
            trouble,
            ..Row::default()
        };
    }
    let value = run.value.as_ref();
    Row {
        engine,
        value: value.map_or("?".to_owned(), |value| figures::value(&case.quantity, value.middle)),
        spread: value.map_or("?".to_owned(), figures::spread),
        ratio: match &run.speed {
            Some(speed) => figures::ratio(case, speed),
            None if run.engine == case.baseline => "1".to_owned(),
            None => "?".to_owned(),
        },
        percentiles: percentiles(case, run),
        counters: counters(case, run),
        cpu: cpu(run),
        memory: memory(run),
        published: visible::line(&published),
        notes: visible::line(&notes(&marks, run)),
        trouble,
    }
}

fn percentiles(case: &CaseRun, run: &EngineRun) -> Vec<String> {
    let count = percentile_heads(case).len();
    let Some(l) = &run.latency else {
        return vec!["?".to_owned(); count];
    };
    let all = [l.p50_ns, l.p99_ns, l.p999_ns, l.max_ns].map(figures::nanoseconds);
    all[all.len() - count..].to_vec()
}

fn counters(case: &CaseRun, run: &EngineRun) -> Vec<String> {
    let counter = |name: &String| figures::counter(name, run.counters.get(name).copied().flatten());
    case.columns.iter().map(counter).collect()
}

/// How many CPUs were busy, all processes together.
fn cpu(run: &EngineRun) -> String {
    match (run.cpu_ns, run.elapsed_ns) {
        (Some(cpu_ns), Some(elapsed_ns)) if elapsed_ns > 0 => {
            format!("{:.2}", cpu_ns as f64 / elapsed_ns as f64)
        }
        _ => "?".to_owned(),
    }
}

/// The largest process.
fn memory(run: &EngineRun) -> String {
    let largest = run.sides.iter().filter_map(|side| side.peak_memory_bytes).max();
    largest.map_or("?".to_owned(), |bytes| Bytes(bytes).to_string())
}

fn notes(marks: &str, run: &EngineRun) -> String {
    let mut notes: Vec<String> = if marks.is_empty() { Vec::new() } else { vec![marks.to_owned()] };
    notes.extend(run.remark.clone());
    if run.outliers > 0 {
        notes.push(format!("{} of {} far off", run.outliers, run.values.len()));
    }
    if let Some(percent) = run.drift_percent {
        notes.push(format!("drifted {percent:+.0} %"));
    }
    notes.join("; ")
}

/// Why there are no numbers.
pub(super) fn trouble(outcome: &Outcome) -> String {
    visible::line(&match outcome {
        Outcome::Measured => String::new(),
        Outcome::NotAvailable { what, remedy } => format!("not available: {what} ({remedy})"),
        Outcome::Failed { why } => format!("FAILED: {why}"),
        Outcome::WrongAnswer { expected, found } => {
            format!("WRONG ANSWER: {}, not {}", visible::cut(found, 60), visible::cut(expected, 60))
        }
        Outcome::Disputed { found, other, others } => format!(
            "DISPUTED: {}, but {other} answered {}; the lab cannot tell which is right",
            visible::cut(found, 60),
            visible::cut(others, 60)
        ),
        Outcome::NoTime => "not measured: the time of the suite was over".to_owned(),
    })
}

/// How much a point was measured: `9 rounds in 3 passes, steady enough`.
pub(super) fn effort(point: &PointRun) -> String {
    let why = match point.stopped {
        Stopped::Tight => ", steady enough",
        Stopped::Budget => ", then its time was over",
        Stopped::Rounds | Stopped::Nothing => "",
    };
    let s = if point.rounds == 1 { "" } else { "s" };
    let passes = match point.passes.len() {
        0 | 1 => String::new(),
        passes => format!(" in {passes} passes"),
    };
    format!("{} round{s}{passes}{why}", point.rounds)
}

/// The largest numbers of the whole run in one sentence.
pub(super) fn sentence(run: &LabRun) -> String {
    let cases: usize = run.suites.iter().map(|suite| suite.cases.len()).sum();
    let count =
        |is: fn(&Outcome) -> bool| run.engine_runs().filter(|(.., run)| is(&run.outcome)).count();
    let plural = |count: usize, one: &str, many: &str| {
        format!("{count} {}", if count == 1 { one } else { many })
    };
    let mut parts = vec![
        plural(cases, "case", "cases"),
        plural(count(|o| *o == Outcome::Measured), "measurement", "measurements"),
    ];
    for (number, one, many) in [
        (count(|o| matches!(o, Outcome::WrongAnswer { .. })), "WRONG ANSWER", "WRONG ANSWERS"),
        (
            count(|o| matches!(o, Outcome::Disputed { .. })),
            "answer in dispute",
            "answers in dispute",
        ),
        (count(|o| matches!(o, Outcome::Failed { .. })), "failure", "failures"),
        (
            count(|o| matches!(o, Outcome::NotAvailable { .. })),
            "not available here",
            "not available here",
        ),
        (count(|o| *o == Outcome::NoTime), "left out for time", "left out for time"),
    ] {
        if number > 0 {
            parts.push(plural(number, one, many));
        }
    }
    parts.join(", ")
}
