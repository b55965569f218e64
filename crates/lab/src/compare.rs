//! Two runs → what got faster, what got slower, and what cannot be told. A pure function of the records.

use crate::Parameter;
use crate::passes::{self, Drifts};
use crate::record::{CaseRun, EngineRun, LabRun, PointRun, SuiteRun};
use crate::runner::point_text;
use crate::statistics::{Estimate, Spread, difference};
use crate::suite::BEFORE;

/// Two runs side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What both have.
    pub rows: Vec<Row>,
    /// What only one of them has, or could measure.
    pub unmatched: Vec<String>,
    /// What makes the two hard to compare.
    pub warnings: Vec<String>,
}

/// One engine at one point, in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// `suite/case`
    pub case: String,
    /// The swept values, for people.
    pub point: String,
    /// Name of the engine.
    pub engine: String,
    /// What was compared.
    pub basis: Basis,
    /// How many times as fast it is in the second run; the interval holds for all rows at once.
    pub change: Estimate,
    /// What that means.
    pub verdict: Verdict,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The ratio to the baseline: what changed on the machine changed both.
    Ratio,
    /// The ratio of two builds that were measured in the same rounds.
    Builds,
    /// The value itself: the case has nothing to hold it against, so that a change of the machine shows too.
    Value,
}

/// What a change means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The whole interval lies above 1.
    Faster,
    /// The whole interval lies below 1.
    Slower,
    /// The interval holds 1, or there is none.
    CannotTell,
}

/// Where an engine stood in one run.
struct Standing {
    case: String,
    /// The swept values: how they are told to people may change from version to version.
    swept: Vec<Parameter>,
    point: String,
    engine: String,
    basis: Basis,
    spread: Spread,
}

/// Compares the second run with the first.
#[must_use]
pub fn compare(first: &LabRun, second: &LabRun) -> Comparison {
    let (before, after) = (standings(first), standings(second));
    let pairs: Vec<(&Standing, &Standing)> = before
        .iter()
        .filter_map(|old| Some((old, after.iter().find(|new| is_same(old, new))?)))
        .collect();
    let rows = pairs.iter().map(|(old, new)| row(old, new, pairs.len())).collect();
    let only = |these: &[Standing], others: &[Standing], run: &str| -> Vec<String> {
        let alone = these.iter().filter(|this| !others.iter().any(|other| is_same(this, other)));
        alone.map(|s| format!("{} {} {}: only in {run}", s.case, s.point, s.engine)).collect()
    };
    let mut unmatched = only(&before, &after, "the first");
    unmatched.extend(only(&after, &before, "the second"));
    Comparison { rows, unmatched, warnings: warnings(first, second) }
}

/// Compares two builds of fullbore that one run measured in turn (see [`Suite::pair_builds`](crate::suite::Suite::pair_builds)):
/// what changes on the machine changes both, so that less is enough to tell them apart than between two runs.
#[must_use]
pub fn compare_builds(run: &LabRun) -> Comparison {
    let mut pairs = Vec::new();
    for (suite, case, point, engine) in run.engine_runs() {
        let Some(before) = point.engine(&format!("{}{BEFORE}", engine.engine)) else { continue };
        let rounds = passes::build(case, before, engine);
        pairs.extend(rounds.map(|spread| (suite, case, point, engine, spread)));
    }
    let comparisons = pairs.len();
    let rows = pairs.into_iter().map(|(suite, case, point, engine, spread)| {
        let change = spread.of_this_run(comparisons);
        Row {
            case: format!("{}/{}", suite.name, case.name),
            point: point_text(&case.sweep, &point.parameters),
            engine: engine.engine.clone(),
            basis: Basis::Builds,
            change,
            verdict: verdict(change),
        }
    });
    let mut warnings = Vec::new();
    if !run.is_complete {
        warnings.push("the run was ended early".to_owned());
    }
    Comparison { rows: rows.collect(), unmatched: Vec::new(), warnings }
}

impl Comparison {
    /// Rows that are slower, and by more than to `limit` times the speed.
    pub fn regressions(&self, limit: f64) -> impl Iterator<Item = &Row> {
        let is_regression =
            move |row: &&Row| row.verdict == Verdict::Slower && row.change.middle < limit;
        self.rows.iter().filter(is_regression)
    }
}

fn is_same(one: &Standing, other: &Standing) -> bool {
    (&one.case, &one.swept, &one.engine, one.basis)
        == (&other.case, &other.swept, &other.engine, other.basis)
}

fn row(old: &Standing, new: &Standing, comparisons: usize) -> Row {
    let change = difference(old.spread, new.spread, comparisons);
    Row {
        case: old.case.clone(),
        point: old.point.clone(),
        engine: old.engine.clone(),
        basis: old.basis,
        change,
        verdict: verdict(change),
    }
}

fn verdict(change: Estimate) -> Verdict {
    match (change.low, change.high) {
        (Some(low), _) if low > 1.0 => Verdict::Faster,
        (_, Some(high)) if high < 1.0 => Verdict::Slower,
        _ => Verdict::CannotTell,
    }
}

/// Every engine that can be held against something: the baseline only where it is alone.
fn standings(run: &LabRun) -> Vec<Standing> {
    run.suites.iter().flat_map(suite_standings).collect()
}

fn suite_standings(suite: &SuiteRun) -> Vec<Standing> {
    let drifts = Drifts::of(suite);
    let standing = |case: &CaseRun, point: &PointRun, engine: &EngineRun| {
        let is_baseline = engine.engine == case.baseline;
        let is_alone = point.engines.iter().filter(|run| !run.values.is_empty()).count() == 1;
        let has_baseline = point.engine(&case.baseline).is_some_and(|run| !run.values.is_empty());
        let (basis, spread) = if has_baseline && !is_baseline {
            (Basis::Ratio, passes::speed(case, point, engine)?.spread(drifts.ratios))
        } else if is_alone || !has_baseline {
            let spread = passes::value(point, engine)?.spread(drifts.values);
            (Basis::Value, as_speed(case, spread))
        } else {
            return None;
        };
        Some(Standing {
            case: format!("{}/{}", suite.name, case.name),
            swept: swept(case, point),
            point: point_text(&case.sweep, &point.parameters),
            engine: engine.engine.clone(),
            basis,
            spread,
        })
    };
    let of_point = |case, point: &PointRun| -> Vec<Standing> {
        point.engines.iter().filter_map(|engine| standing(case, point, engine)).collect()
    };
    let cases = suite.cases.iter();
    cases.flat_map(|case| case.points.iter().flat_map(move |point| of_point(case, point))).collect()
}

fn swept(case: &CaseRun, point: &PointRun) -> Vec<Parameter> {
    case.sweep.iter().filter_map(|axis| point.parameters.0.get(&axis.name).cloned()).collect()
}

/// More is faster, or less is.
fn as_speed(case: &CaseRun, spread: Spread) -> Spread {
    if case.quantity.more_is_better() {
        spread
    } else {
        Spread { middle: -spread.middle, ..spread }
    }
}

fn warnings(first: &LabRun, second: &LabRun) -> Vec<String> {
    let (a, b) = (&first.machine, &second.machine);
    let mut warnings = Vec::new();
    let mut differ = |what: &str, one: &str, other: &str| {
        if one != other {
            warnings.push(format!("{what} differs: {one}, then {other}"));
        }
    };
    differ("the CPU", &a.host.cpu, &b.host.cpu);
    differ("the number of CPUs", &a.host.cpus.to_string(), &b.host.cpus.to_string());
    differ("the kernel", &a.host.kernel, &b.host.kernel);
    differ("the tier", &a.tier, &b.tier);
    differ("--pin", &format!("{:?}", a.pinned_cpus), &format!("{:?}", b.pinned_cpus));
    let differing = |name: &&String| {
        second.programs.get(*name).is_some_and(|version| Some(version) != first.programs.get(*name))
    };
    for name in first.programs.keys().filter(differing) {
        warnings.push(format!("the version of {name} differs"));
    }
    if !first.is_complete || !second.is_complete {
        warnings.push("one of the runs was ended early".to_owned());
    }
    warnings
}
