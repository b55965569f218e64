//! Samples of an engine at a point → what the record says about it.

use std::collections::BTreeMap;

use fullbore_measure::{Summary, median};

use super::entrant::{Entrant, Taken};
use crate::record::{EngineRun, Outcome};
use crate::statistics::{self, Estimate};
use crate::suite::{Case, Quantity};
use crate::{Latency, TrialResult};

/// The number of a trial that a case is about.
pub(super) fn value(quantity: &Quantity, sample: &TrialResult) -> Option<f64> {
    let elapsed_ns = sample.elapsed_ns.max(1) as f64;
    let per_second = |count: u64| count as f64 / elapsed_ns * 1e9;
    let value = match quantity {
        Quantity::BytesPerSecond => per_second(sample.bytes?),
        Quantity::OperationsPerSecond => per_second(sample.operations?),
        Quantity::LatencyNs => sample.latency.as_ref()?.p50_ns as f64,
        Quantity::Seconds => elapsed_ns / 1e9,
        Quantity::NsPerOperation => elapsed_ns / sample.operations? as f64,
        Quantity::Counter(name) => (*sample.counters.get(name)?)? as f64,
    };
    // Logarithms are taken of it: a counter at zero counts as the least there is.
    let value = if matches!(quantity, Quantity::Counter(_)) { value.max(0.01) } else { value };
    (value.is_finite() && value > 0.0).then_some(value)
}

/// What [`value`] looked for.
pub(super) fn wanted(quantity: &Quantity) -> String {
    match quantity {
        Quantity::BytesPerSecond => "how many bytes it moved".to_owned(),
        Quantity::OperationsPerSecond | Quantity::NsPerOperation => {
            "how many operations it did".to_owned()
        }
        Quantity::LatencyNs => "a latency".to_owned(),
        Quantity::Seconds => "its time".to_owned(),
        Quantity::Counter(name) => format!("the counter {name}"),
    }
}

/// Where the engines that are left stand: their ratios, or the value itself when there is nothing to compare with.
pub(super) fn estimates(case: &Case, entrants: &[Entrant<'_>]) -> Vec<Estimate> {
    let is_left = |entrant: &&Entrant<'_>| entrant.out.is_none();
    let baseline = entrants.iter().filter(is_left).find(|e| e.engine.name == case.baseline);
    let others = entrants.iter().filter(is_left).filter(|e| e.engine.name != case.baseline);
    match baseline {
        Some(baseline) if entrants.iter().filter(is_left).count() > 1 => others
            .filter_map(|entrant| speed(case, &entrant.taken.values, &baseline.taken.values))
            .collect(),
        _ => entrants
            .iter()
            .filter(is_left)
            .filter_map(|entrant| statistics::of_values(&entrant.taken.values))
            .collect(),
    }
}

/// How many times as fast as the baseline.
fn speed(case: &Case, values: &[f64], baseline: &[f64]) -> Option<Estimate> {
    if case.more_is_better() {
        statistics::of_ratios(values, baseline)
    } else {
        statistics::of_ratios(baseline, values)
    }
}

/// The engines as the record has them, but for their intervals.
pub(super) fn engines(entrants: &[Entrant<'_>]) -> Vec<EngineRun> {
    let engine = |entrant: &Entrant<'_>| {
        let name = &entrant.engine.name;
        match &entrant.out {
            Some(outcome) => {
                let answer = entrant.taken.check.as_ref().and_then(|sample| sample.answer.clone());
                EngineRun { answer, ..not_measured(name, outcome.clone()) }
            }
            None => EngineRun {
                remark: entrant.engine.is_unchecked.then(|| remark(&entrant.taken)).flatten(),
                ..measured(name, &entrant.taken)
            },
        }
    };
    entrants.iter().map(engine).collect()
}

/// What an answer that is not judged was, when it was not the right one.
fn remark(taken: &Taken) -> Option<String> {
    let expected = taken.expected.as_ref()?;
    let answers = taken
        .check
        .iter()
        .chain(&taken.samples)
        .filter_map(|s| s.answer.as_ref())
        .filter(|answer| !answer.is_empty());
    let wrong: Vec<&String> = answers.filter(|answer| *answer != expected).collect();
    let first = wrong.first()?;
    Some(format!(
        "answered '{first}', not '{expected}', in {} of {} trials",
        wrong.len(),
        taken.samples.len() + 1
    ))
}

/// An engine without numbers.
fn not_measured(engine: &str, outcome: Outcome) -> EngineRun {
    EngineRun {
        engine: engine.to_owned(),
        outcome,
        values: Vec::new(),
        value: None,
        mad: None,
        speed: None,
        answer: None,
        remark: None,
        cpu_ns: None,
        elapsed_ns: None,
        sides: Vec::new(),
        latency: None,
        counters: BTreeMap::new(),
        missing_counters: BTreeMap::new(),
        outliers: 0,
        drift_percent: None,
    }
}

fn measured(name: &str, taken: &Taken) -> EngineRun {
    let check = taken.check.as_ref();
    let last = taken.samples.last();
    let cpu =
        |sample: &TrialResult| sample.sides.iter().map(|side| side.cpu_ns).sum::<u64>() as f64;
    // Peaks are looked at while an answer is checked: looking takes time.
    let has_peaks =
        |sample: &&TrialResult| sample.sides.iter().any(|s| s.peak_memory_bytes.is_some());
    let shown = last.filter(has_peaks).or(check.filter(has_peaks)).or(last);
    let of_all = |number: &dyn Fn(&TrialResult) -> f64| {
        median(&taken.samples.iter().map(number).collect::<Vec<_>>()).map(whole)
    };
    EngineRun {
        mad: Summary::of(&taken.values).map(|summary| summary.mad),
        answer: check.and_then(|sample| sample.answer.clone()),
        cpu_ns: of_all(&cpu).filter(|cpu_ns| *cpu_ns > 0),
        elapsed_ns: of_all(&|sample| sample.elapsed_ns as f64),
        sides: shown.map_or_else(Vec::new, |sample| sample.sides.clone()),
        latency: together(&taken.samples),
        missing_counters: missing(taken),
        counters: counters(taken),
        outliers: u32::try_from(statistics::outliers(&taken.values)).unwrap_or(u32::MAX),
        drift_percent: statistics::drift_percent(&taken.values),
        values: taken.values.clone(),
        ..not_measured(name, Outcome::Measured)
    }
}

/// The latencies of all trials as if they had been one: percentiles of all buckets added up, not medians of percentiles, which
/// would hide a state that fewer than half of the trials were in.
fn together(samples: &[TrialResult]) -> Option<Latency> {
    let latencies: Vec<&Latency> = samples.iter().filter_map(|s| s.latency.as_ref()).collect();
    if let [only] = latencies.as_slice() {
        return Some((*only).clone());
    }
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for (bound, count) in latencies.iter().flat_map(|latency| &latency.buckets) {
        *buckets.entry(*bound).or_default() += count;
    }
    let max_ns = latencies.iter().map(|latency| latency.max_ns).max()?;
    let count = buckets.values().sum();
    let at = |share: f64| percentile(&buckets, count, share).min(max_ns);
    let (p50_ns, p99_ns, p999_ns) = (at(0.5), at(0.99), at(0.999));
    Some(Latency { count, p50_ns, p99_ns, p999_ns, max_ns, buckets: buckets.into_iter().collect() })
}

/// Upper bound of the bucket in which so large a share of the values has come: up to a tenth above the value itself.
fn percentile(buckets: &BTreeMap<u64, u64>, count: u64, share: f64) -> u64 {
    let mut below = 0;
    let reached = buckets.iter().find(|(_, bucket)| {
        below += **bucket;
        below as f64 >= share * count as f64
    });
    reached.map_or(0, |(bound, _)| *bound)
}

/// The counters of the timed trials; what only the check counted is better than nothing.
fn counters(taken: &Taken) -> BTreeMap<String, Option<f64>> {
    let names = taken.samples.iter().chain(&taken.check).flat_map(|sample| sample.counters.keys());
    let of = |samples: &mut dyn Iterator<Item = &TrialResult>, name: &String| -> Option<f64> {
        let values = samples.filter_map(|sample| sample.counters.get(name).copied()?);
        median(&values.map(|value| value as f64).collect::<Vec<_>>())
    };
    let known = |name: &String| {
        of(&mut taken.samples.iter(), name).or_else(|| of(&mut taken.check.iter(), name))
    };
    names.map(|name| (name.clone(), known(name))).collect()
}

/// Why counters are not there, unless they are.
fn missing(taken: &Taken) -> BTreeMap<String, String> {
    let all = taken.samples.iter().chain(&taken.check);
    let known = counters(taken);
    let mut missing: BTreeMap<String, String> =
        all.flat_map(|sample| sample.missing.clone()).collect();
    missing.retain(|name, _| known.get(name).copied().flatten().is_none());
    missing
}

#[expect(clippy::cast_possible_truncation, reason = "nanoseconds are whole, and a cast saturates")]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}
