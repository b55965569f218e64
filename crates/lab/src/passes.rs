//! Passes over a suite → what drifts between them, and intervals that know it. A pure function of the record.
//!
//! The rounds of a point within one pass follow each other within seconds, and see nothing of what changes more slowly:
//! where memory and processes were placed, what neighbours do, how fast the host clocks. Passes see it. Two or
//! three passes of one point say little about it, but all points of a suite together say much.
//!
//! What the passes differ by holds a share of the spread of their rounds too. It is not taken off: on a restless machine
//! that spread is a mixture of two speeds, and with it the drift would go.

use crate::record::{CaseRun, EngineRun, PointRun, SuiteRun};
use crate::statistics::{Spread, hodges_lehmann, spread_of_ratios, spread_of_values};

/// Median of a chi-squared variable of two degrees of freedom over its mean: the natural logarithm of 2.
const MEDIAN_OF_TWO_DEGREES: f64 = std::f64::consts::LN_2;

/// What drifts between the passes of a suite, or of one point: variance of logarithms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Drift {
    pub(crate) variance: f64,
    pub(crate) degrees: f64,
}

/// The drift of ratios and that of values, which is mostly larger.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Drifts {
    pub(crate) ratios: Drift,
    pub(crate) values: Drift,
}

/// The rounds of one engine at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Series {
    /// By all rounds, as if nothing drifted.
    rounds: Spread,
    /// What its own passes differ by; `None` for a single pass.
    own: Option<Drift>,
}

impl Series {
    /// The spread with what drifts: the next run differs from this one as the passes of this one do from each other.
    /// Slow changes do not average out over the passes of one run, so their variance is not divided by their number.
    pub(crate) fn spread(self, suite: Drift) -> Spread {
        let own = self.own.unwrap_or_default();
        let variance = suite.variance.max(own.variance);
        self.rounds.with(variance, suite.degrees.max(own.degrees))
    }
}

impl Drifts {
    /// Of all engines at all points.
    pub(crate) fn of(suite: &SuiteRun) -> Self {
        let mut ratios = Vec::new();
        let mut values = Vec::new();
        for case in &suite.cases {
            for point in &case.points {
                for engine in &point.engines {
                    ratios.extend(own_drift(&logarithms_of_ratios(case, point, engine), point));
                    values.extend(own_drift(&logarithms(&engine.values), point));
                }
            }
        }
        Self { ratios: together(&ratios), values: together(&values) }
    }
}

/// The drift that most points share: by the median, so that one engine that jumps does not widen all intervals. Where
/// half of them jump (a baseline, one engine beside it that is calm, one that is not), it is that of the calm half: the lower of
/// the two in the middle.
fn together(points: &[Drift]) -> Drift {
    let mut variances: Vec<f64> = points.iter().map(|drift| drift.variance).collect();
    variances.sort_by(f64::total_cmp);
    let middle = variances.get(variances.len().saturating_sub(1) / 2).copied();
    let variance = middle.unwrap_or_default() / MEDIAN_OF_TWO_DEGREES;
    Drift { variance, degrees: points.iter().map(|drift| drift.degrees).sum() }
}

/// Puts the intervals of all engines into a case.
pub(crate) fn estimate(case: &mut CaseRun, drifts: Drifts) {
    let mut points = std::mem::take(&mut case.points);
    for point in &mut points {
        let known: Vec<_> = point
            .engines
            .iter()
            .map(|engine| (value(point, engine), speed(case, point, engine)))
            .collect();
        for (engine, (value, speed)) in point.engines.iter_mut().zip(known) {
            engine.value = value.map(|series| series.spread(drifts.values).estimate());
            engine.speed = speed.map(|series| series.spread(drifts.ratios).estimate());
        }
    }
    case.points = points;
}

/// The values of an engine.
pub(crate) fn value(point: &PointRun, engine: &EngineRun) -> Option<Series> {
    let rounds = spread_of_values(&engine.values)?;
    Some(Series { rounds, own: own_drift(&logarithms(&engine.values), point) })
}

/// How many times as fast as the baseline an engine is; `None` for the baseline itself.
pub(crate) fn speed(case: &CaseRun, point: &PointRun, engine: &EngineRun) -> Option<Series> {
    let (above, below) = sides(case, point, engine)?;
    let rounds = spread_of_ratios(above, below)?;
    Some(Series { rounds, own: own_drift(&logarithms_of_ratios(case, point, engine), point) })
}

/// How many times as fast as another build an engine is, by the rounds in which both were measured; they drift alike.
pub(crate) fn build(case: &CaseRun, before: &EngineRun, after: &EngineRun) -> Option<Spread> {
    let (above, below) = if case.quantity.more_is_better() {
        (&after.values, &before.values)
    } else {
        (&before.values, &after.values)
    };
    spread_of_ratios(above, below)
}

/// The values whose ratio is the speed.
fn sides<'a>(
    case: &CaseRun,
    point: &'a PointRun,
    engine: &'a EngineRun,
) -> Option<(&'a [f64], &'a [f64])> {
    let baseline = point.engine(&case.baseline)?;
    if engine.engine == case.baseline || baseline.values.is_empty() || engine.values.is_empty() {
        return None;
    }
    let (engine, baseline) = (engine.values.as_slice(), baseline.values.as_slice());
    Some(if case.quantity.more_is_better() { (engine, baseline) } else { (baseline, engine) })
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

fn logarithms_of_ratios(case: &CaseRun, point: &PointRun, engine: &EngineRun) -> Vec<f64> {
    let (above, below) = sides(case, point, engine).unwrap_or_default();
    above.iter().zip(below).map(|(above, below)| (above / below).ln()).collect()
}

/// What the estimates of a point's passes differ by; `None` when there are no two passes.
fn own_drift(logarithms: &[f64], point: &PointRun) -> Option<Drift> {
    let mut rest = logarithms;
    let mut middles = Vec::with_capacity(point.passes.len());
    for rounds in &point.passes {
        let (pass, after) = rest.split_at_checked(*rounds as usize)?;
        if pass.is_empty() {
            return None;
        }
        middles.push(hodges_lehmann(pass));
        rest = after;
    }
    if middles.len() < 2 {
        return None;
    }
    let mean = middles.iter().sum::<f64>() / middles.len() as f64;
    let squares: f64 = middles.iter().map(|middle| (middle - mean).powi(2)).sum();
    let degrees = (middles.len() - 1) as f64;
    Some(Drift { variance: squares / degrees, degrees })
}
