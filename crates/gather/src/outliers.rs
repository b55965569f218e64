//! Jobs that took far longer than others of their rule, although they did not read more.

use crate::expect::spread;
use crate::hosts::{Compared, Slow};
use crate::input::Input;
use crate::phrases::{counted, times};
use crate::workflow::{Finding, FindingKind};

/// Fewer jobs of a rule say nothing about one of them.
const LEAST_SIBLINGS: usize = 8;

/// An outlier takes at least twice as long as expected (as a logarithm) …
const LONGER: f64 = 0.693;

/// … and so many deviations more than its siblings, with more in small groups, whose spread is uncertain …
const DEVIATIONS: f64 = 5.0;
const DEVIATIONS_OF_FEW: f64 = 30.0;

/// … where jobs of a rule differ by at least this much …
const LEAST_SPREAD: f64 = 0.05;

/// … and it costs so much time that somebody could care: a second, and one part in a thousand of the whole workflow.
const LEAST_NS: f64 = 1e9;
const LEAST_PART: f64 = 0.001;

/// What larger inputs cost is said when it is this part of the time of all jobs.
const SAID_PART: f64 = 0.01;

/// When more of the jobs take so long, they are no outliers, but another kind of job.
const MOST_SHARE: f64 = 0.2;

/// A job that took too long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Long {
    /// Its place among the jobs.
    pub(crate) job: usize,
    /// How many times as long as expected.
    pub(crate) times: f64,
    /// What was expected, in nanoseconds.
    pub(crate) expected_ns: f64,
}

/// The jobs that took too long, the one that cost most first. Time that a slow host explains is taken off.
pub(crate) fn outliers(
    input: &Input<'_>,
    compared: &[Compared],
    slow: &[Slow],
    span_ns: u64,
) -> Vec<Long> {
    let explained = |job: usize| {
        let (rule, host) = (input.jobs.all[job].rule, input.jobs.all[job].host);
        let is_slow = slow.iter().any(|slow| {
            slow.host == host && slow.rules.iter().any(|(slow_rule, _)| *slow_rule == rule)
        });
        if !is_slow {
            return 0.0;
        }
        let found = compared.iter().find(|it| it.rule == rule && it.host == host);
        found.map_or(0.0, |it| it.longer.max(0.0))
    };
    let least_ns = LEAST_NS.max(span_ns as f64 * LEAST_PART);
    let mut all = Vec::new();
    for (rule, group) in input.groups.iter().enumerate() {
        if group.len() < LEAST_SIBLINGS {
            continue;
        }
        let expectation = &input.expectations[rule];
        let rests: Vec<f64> =
            group.iter().map(|job| input.residual(*job) - explained(*job)).collect();
        let middle = fullbore_measure::median(&rests).unwrap_or_default();
        let deviations = DEVIATIONS + DEVIATIONS_OF_FEW / group.len() as f64;
        let least = LONGER.max(deviations * spread(&rests).max(LEAST_SPREAD));
        let found: Vec<Long> = group
            .iter()
            .map(|&job| {
                (job, expectation.surely(input.points[job]) - explained(job) - middle.max(0.0))
            })
            .filter(|(_, longer)| *longer >= least)
            .map(|(job, longer)| {
                let elapsed_ns = input.jobs.all[job].elapsed_ns() as f64;
                Long { job, times: longer.exp(), expected_ns: elapsed_ns / longer.exp() }
            })
            .filter(|long| long.cost_ns() >= least_ns)
            .collect();
        if found.len() as f64 <= MOST_SHARE * group.len() as f64 {
            all.extend(found);
        }
    }
    all.sort_by(|a, b| b.cost_ns().total_cmp(&a.cost_ns()));
    all
}

impl Long {
    /// What it took more than expected, in nanoseconds.
    pub(crate) fn cost_ns(&self) -> f64 {
        self.expected_ns * (self.times - 1.0)
    }
}

/// Jobs that took long because they read much: no outliers, but said.
pub(crate) fn larger_inputs(input: &Input<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (rule, group) in input.groups.iter().enumerate() {
        let expectation = &input.expectations[rule];
        let Some(bytes) = expectation.bytes.filter(|_| group.len() >= LEAST_SIBLINGS) else {
            continue;
        };
        let (mut count, mut most, mut longest, mut cost_ns) = (0_u64, 0.0_f64, 0.0_f64, 0.0);
        let mut hosts = std::collections::BTreeSet::new();
        for job in group {
            let point = input.points[*job];
            let above = point.time - expectation.time;
            let more = point.bytes.map_or(0.0, |own| own - bytes);
            // What its input explains, but for a third.
            if above >= LONGER && more >= LONGER && expectation.surely(point) < LONGER / 2.0 {
                count += 1;
                hosts.insert(input.jobs.all[*job].host);
                most = most.max(more);
                longest = longest.max(above);
                cost_ns += input.jobs.all[*job].elapsed_ns() as f64 * (1.0 - (-above).exp());
            }
        }
        if count > 0 && cost_ns >= LEAST_NS.max(SAID_PART * input.jobs.total_ns() as f64) {
            let place = match hosts.first() {
                Some(host) if hosts.len() == 1 && count > 1 && input.jobs.hosts.len() > 1 => {
                    format!(", all on {},", input.jobs.host_in_words(*host))
                }
                _ => String::new(),
            };
            let message = format!(
                "{} of {}{place} took up to {} the median because they read up to {} as much.",
                counted(count, "job"),
                input.jobs.rules[rule].in_words(),
                times(longest.exp()),
                times(most.exp())
            );
            found.push(
                Finding::new(FindingKind::MoreInput, message)
                    .about_rule(rule)
                    .with("jobs", count as f64),
            );
        }
    }
    found
}
