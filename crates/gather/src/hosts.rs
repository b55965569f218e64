//! Slow hosts: jobs of several rules take longer there than jobs of the same rules elsewhere.

use fullbore_measure::median;

use crate::cause::Cause;
use crate::expect::spread;
use crate::input::{Extra, Input};

/// Jobs of a rule on a host, and elsewhere, below which it is not compared.
const LEAST_JOBS: usize = 3;

/// A host with only one rule to compare needs so many jobs of it, and as many elsewhere.
const LEAST_JOBS_OF_ONE: usize = 8;

/// A slow host takes at least 1.2 times as long (as a logarithm) …
const SLOW: f64 = 0.182;

/// … in two thirds of the rules at least 1.1 times …
const SLOW_HERE: f64 = 0.0953;
const SLOW_RULES: f64 = 2.0 / 3.0;

/// … which is not chance: so many standard errors.
const SURE: f64 = 5.0;

/// A rule alone is slow on a host when it takes at least 1.5 times as long.
const SLOW_ALONE: f64 = 0.405;

/// A difference between inputs that matters (as a logarithm), when it is so many standard errors.
const OTHER_INPUT: f64 = 0.2;
const SURELY_OTHER_INPUT: f64 = 3.0;

/// Even steady programs differ by this much from run to run.
const LEAST_SPREAD: f64 = 0.03;

/// Time lost on a slow host must be this part of the time of all jobs, and so many nanoseconds.
const LOST_PART: f64 = 0.01;
const LOST_NS: f64 = 1e9;

/// One rule on one host, against the same rule elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Compared {
    pub(crate) host: usize,
    pub(crate) rule: usize,
    /// Its jobs there.
    pub(crate) here: Vec<usize>,
    /// Its jobs on other hosts.
    elsewhere: Vec<usize>,
    /// How many times as long, as a logarithm.
    pub(crate) longer: f64,
    /// Standard error of that.
    error: f64,
}

/// A host, or a rule on a host, that is slow.
#[derive(Clone, Debug)]
pub(crate) struct Slow {
    pub(crate) host: usize,
    /// How many times as long as elsewhere.
    pub(crate) times: f64,
    /// The slow rules, the one with most time there first: place, times as long.
    pub(crate) rules: Vec<(usize, f64)>,
    /// Rules that could be compared.
    pub(crate) compared: usize,
    /// What it cost, in nanoseconds of job time.
    pub(crate) lost_ns: f64,
    /// The cause of most of the extra time, and its share in percent.
    pub(crate) cause: Option<(Cause, f64)>,
}

/// Compares each rule on each host with the same rule elsewhere.
pub(crate) fn compared(input: &Input<'_>) -> Vec<Compared> {
    let mut all = Vec::new();
    for (rule, group) in input.groups.iter().enumerate() {
        let mut by_host: std::collections::BTreeMap<usize, Vec<usize>> = Default::default();
        for &job in group {
            by_host.entry(input.jobs.all[job].host).or_default().push(job);
        }
        for (&host, here) in by_host.iter().filter(|(_, here)| here.len() >= LEAST_JOBS) {
            let is_elsewhere = |job: &&usize| input.jobs.all[**job].host != host;
            let elsewhere: Vec<usize> = group.iter().filter(is_elsewhere).copied().collect();
            if elsewhere.len() >= LEAST_JOBS {
                let (longer, error) = longer(input, here, &elsewhere);
                all.push(Compared { host, rule, here: here.clone(), elsewhere, longer, error });
            }
        }
    }
    all
}

/// How many times as long some jobs took as others of their rule, given their inputs, as a logarithm with its standard error.
pub(crate) fn longer(input: &Input<'_>, here: &[usize], elsewhere: &[usize]) -> (f64, f64) {
    let residuals =
        |jobs: &[usize]| jobs.iter().map(|job| input.residual(*job)).collect::<Vec<f64>>();
    let times =
        |jobs: &[usize]| jobs.iter().map(|job| input.points[*job].time).collect::<Vec<f64>>();
    let bytes = |jobs: &[usize]| {
        let known: Vec<f64> = jobs.iter().filter_map(|job| input.points[*job].bytes).collect();
        if known.len() == jobs.len() { known } else { Vec::new() }
    };
    let (difference, error) = difference(&residuals(here), &residuals(elsewhere));
    let (above, _) = self::difference(&times(here), &times(elsewhere));
    let (bytes_here, bytes_elsewhere) = (bytes(here), bytes(elsewhere));
    if bytes_here.is_empty() || bytes_elsewhere.is_empty() {
        return (difference, error);
    }
    let (more, more_error) = self::difference(&bytes_here, &bytes_elsewhere);
    if more.abs() < OTHER_INPUT.max(SURELY_OTHER_INPUT * more_error) {
        return (difference, error);
    }
    // The inputs differ as much as the times: what is certain under every reading of that counts.
    (difference.min(above).min(above - more), error)
}

/// Difference of the medians of two sets and its standard error.
fn difference(here: &[f64], elsewhere: &[f64]) -> (f64, f64) {
    let (Some(middle), Some(other)) = (median(here), median(elsewhere)) else {
        return (0.0, f64::INFINITY);
    };
    // The standard error of a median is 1.2533 times that of a mean, where values are distributed normally.
    let error =
        |values: &[f64]| 1.2533 * spread(values).max(LEAST_SPREAD) / (values.len() as f64).sqrt();
    // A spread from a handful of values may be far too small by chance.
    let few = 1.0 + 2.0 / here.len().min(elsewhere.len()) as f64;
    (middle - other, error(here).hypot(error(elsewhere)) * few)
}

/// The hosts that are slow, the one that cost most first.
pub(crate) fn slow_hosts(input: &Input<'_>, compared: &[Compared]) -> Vec<Slow> {
    let hosts = 0..input.jobs.hosts.len();
    let of_host = |host: usize| compared.iter().filter(move |it| it.host == host);
    let mut slow: Vec<Slow> = hosts
        .filter_map(|host| slow_host(input, &of_host(host).collect::<Vec<_>>()))
        .filter(|slow| matters(input, slow))
        .collect();
    slow.sort_by(|a, b| b.lost_ns.total_cmp(&a.lost_ns));
    slow
}

/// How many times as long jobs take on a host, as a logarithm, with its standard error; weighted by how sure each rule is.
pub(crate) fn pooled(rules: &[&Compared]) -> Option<(f64, f64)> {
    let weight = |it: &&Compared| 1.0 / (it.error * it.error).max(1e-6);
    let weights: f64 = rules.iter().map(weight).sum();
    let sum: f64 = rules.iter().map(|it| it.longer * weight(it)).sum();
    (weights > 0.0).then(|| (sum / weights, weights.sqrt().recip()))
}

fn slow_host(input: &Input<'_>, rules: &[&Compared]) -> Option<Slow> {
    let (longer, error) = pooled(rules)?;
    let is_enough = match rules {
        [only] => only.here.len().min(only.elsewhere.len()) >= LEAST_JOBS_OF_ONE,
        _ => true,
    };
    let slow_rules: Vec<&Compared> =
        rules.iter().filter(|it| it.longer >= SLOW_HERE).copied().collect();
    let is_everywhere = slow_rules.len() as f64 >= SLOW_RULES * rules.len() as f64
        && slow_rules.len() >= rules.len().min(2);
    if !is_enough || !is_everywhere || longer < SLOW || longer < SURE * error {
        return None;
    }
    Some(slow_of(input, &slow_rules, rules.len(), longer.exp()))
}

/// Rules that are slow on one host only, although the host is not; `slow` are the hosts that are.
pub(crate) fn slow_rules(input: &Input<'_>, compared: &[Compared], slow: &[Slow]) -> Vec<Slow> {
    let mut found: Vec<Slow> = compared
        .iter()
        .filter(|it| slow.iter().all(|slow| slow.host != it.host))
        .filter(|it| it.longer >= SLOW_ALONE && it.longer >= SURE * it.error)
        .filter(|it| it.here.len().min(it.elsewhere.len()) >= LEAST_JOBS + 2)
        .map(|it| slow_of(input, &[it], 1, it.longer.exp()))
        .filter(|slow| matters(input, slow))
        .collect();
    found.sort_by(|a, b| b.lost_ns.total_cmp(&a.lost_ns));
    found
}

fn matters(input: &Input<'_>, slow: &Slow) -> bool {
    slow.lost_ns >= LOST_NS && slow.lost_ns >= LOST_PART * input.jobs.total_ns() as f64
}

fn slow_of(input: &Input<'_>, rules: &[&Compared], compared: usize, times: f64) -> Slow {
    let (mut lost_ns, mut extra) = (0.0, Extra::default());
    for it in rules {
        let spent: f64 = it.here.iter().map(|job| input.jobs.all[*job].elapsed_ns() as f64).sum();
        lost_ns += spent * (1.0 - (-it.longer).exp());
        extra.add(&input.extra(&it.here, &it.elsewhere), spent);
    }
    let spent = |it: &Compared| -> u64 {
        it.here.iter().map(|job| input.jobs.all[*job].elapsed_ns()).fold(0, u64::saturating_add)
    };
    let mut order: Vec<&&Compared> = rules.iter().collect();
    order.sort_by_key(|it| std::cmp::Reverse(spent(it)));
    let named = order.iter().map(|it| (it.rule, it.longer.exp())).collect();
    let host = rules.first().map_or(0, |it| it.host);
    Slow { host, times, rules: named, compared, lost_ns, cause: extra.main() }
}
