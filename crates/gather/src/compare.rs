//! Two runs of a workflow: which rule became slower or faster, by how much, and by which cause.

use fullbore_measure::{median, seconds};

use crate::cause::{Cause, Causes};
use crate::critical::chain;
use crate::hosts::longer;
use crate::input::{Extra, Input};
use crate::jobs::Jobs;
use crate::phrases::{counted, doing, times};
use crate::run::Run;
use crate::workflow::{ChangedRule, Comparison, Files, Side};

/// A job takes surely longer or shorter when the difference is so many standard errors …
const SURE: f64 = 4.0;

/// … with so many jobs in both runs …
const LEAST_JOBS: usize = 3;

/// … and by a tenth (as a logarithm) …
const LEAST: f64 = 0.0953;

/// … or, with fewer jobs, by half.
const LEAST_OF_FEW: f64 = 0.405;

/// Differences below this matter to nobody.
const LEAST_NS: f64 = 1e9;

/// Inputs that differ by less than this are the same (as a logarithm).
const OTHER_INPUT: f64 = 0.2;

/// Elapsed times that differ by less than this are the same (as a logarithm).
const SAME: f64 = 0.05;

/// Compares a run of a workflow with one before, of which `files` were read.
#[must_use]
pub fn compare(before: &[Run], after: &[Run], files: Files) -> Comparison {
    let jobs = Jobs::of(before.iter().chain(after));
    let input = Input::of(&jobs);
    let (mut rules, mut gone, mut new) = (Vec::new(), Vec::new(), Vec::new());
    let mut sides = vec![(Vec::new(), Vec::new()); jobs.rules.len()];
    for (place, job) in jobs.all.iter().enumerate() {
        let (old, now) = &mut sides[job.rule];
        if place < before.len() { old.push(place) } else { now.push(place) }
    }
    for (rule, (old, now)) in sides.into_iter().enumerate() {
        if old.is_empty() {
            new.push(jobs.rules[rule].name.clone());
        } else if now.is_empty() {
            gone.push(jobs.rules[rule].name.clone());
        } else {
            rules.push(changed(&input, rule, &old, &now));
        }
    }
    let difference = |rule: &ChangedRule| rule.time_after_ns.abs_diff(rule.time_before_ns);
    rules.sort_by_key(|rule| (!rule.is_certain, std::cmp::Reverse(difference(rule))));
    let (before, after) = (side(before), side(after));
    let message = message(before, after, &rules);
    Comparison { message, before, after, rules, gone, new, files }
}

fn side(runs: &[Run]) -> Side {
    let jobs = Jobs::of(runs);
    let elapsed_ns = chain(&jobs).span_ns();
    Side { jobs: runs.len() as u64, elapsed_ns, job_time_ns: jobs.total_ns() }
}

fn changed(input: &Input<'_>, rule: usize, old: &[usize], now: &[usize]) -> ChangedRule {
    let jobs = input.jobs;
    let time = |some: &[usize]| {
        some.iter().fold(0_u64, |sum, job| sum.saturating_add(jobs.all[*job].elapsed_ns()))
    };
    let known = &jobs.rules[rule];
    let mut row = ChangedRule {
        name: known.name.clone(),
        is_named: known.is_named,
        jobs_before: old.len() as u64,
        jobs_after: now.len() as u64,
        time_before_ns: time(old),
        time_after_ns: time(now),
        ..ChangedRule::default()
    };
    let comparable = |some: &[usize]| -> Vec<usize> {
        some.iter().copied().filter(|job| jobs.all[*job].is_comparable()).collect()
    };
    let (old, now) = (comparable(old), comparable(now));
    if old.is_empty() || now.is_empty() {
        row.message = "no job of both runs can be compared".to_owned();
        return row;
    }
    let (longer, error) = longer(input, &now, &old);
    let (mean_old, mean_now) = (mean(jobs, &old), mean(jobs, &now));
    let extra = Extra::between(&mean_old, &mean_now);
    let is_few = old.len().min(now.len()) < LEAST_JOBS;
    let least = if is_few { LEAST_OF_FEW } else { LEAST.max(SURE * error) };
    let cost_ns = (time(&now) as f64 * (1.0 - (-longer).exp())).abs();
    row.times = Some(longer.exp());
    row.is_certain = longer.abs() >= least && cost_ns >= LEAST_NS;
    row.times_the_input = more_input(input, &old, &now).map(f64::exp);
    let main = if longer > 0.0 { extra.main() } else { extra.main_saving() };
    row.cause =
        main.map(|(cause, _)| cause).filter(|cause| row.is_certain && *cause != Cause::Unseen);
    row.message = sentence(&row, longer, old.len(), now.len());
    row
}

fn sentence(row: &ChangedRule, longer: f64, old: usize, now: usize) -> String {
    let mut text = if row.is_certain {
        let what = if longer > 0.0 { "longer" } else { "shorter" };
        format!("{what}: a job takes {} as long", times(longer.exp()))
    } else {
        "about as long a job".to_owned()
    };
    if let (Some(cause), true) = (row.cause, row.is_certain) {
        let saved = if longer > 0.0 { "most of the extra time" } else { "most of the saving" };
        text.push_str(&format!(", {saved} {}", doing(cause)));
    }
    if let Some(more) = row.times_the_input.filter(|more| more.ln().abs() >= OTHER_INPUT) {
        text.push_str(&format!("; it reads {} as much", times(more)));
    }
    if row.jobs_before != row.jobs_after {
        text.push_str(&format!(
            "; {} instead of {}",
            counted(row.jobs_after, "job"),
            row.jobs_before
        ));
    }
    if old.min(now) < LEAST_JOBS && row.is_certain {
        text.push_str("; too few jobs to be sure");
    }
    text
}

/// Mean time by cause of some jobs.
fn mean(jobs: &Jobs<'_>, some: &[usize]) -> Causes {
    let mut sum = Causes::default();
    for job in some {
        sum.add(&jobs.all[*job].causes);
    }
    sum.divided(some.len() as u64)
}

/// How much more some jobs read, as a logarithm; `None` when unknown.
fn more_input(input: &Input<'_>, old: &[usize], now: &[usize]) -> Option<f64> {
    let bytes = |some: &[usize]| {
        let known: Vec<f64> = some.iter().filter_map(|job| input.points[*job].bytes).collect();
        median(&known)
    };
    Some(bytes(now)? - bytes(old)?)
}

fn message(before: Side, after: Side, rules: &[ChangedRule]) -> String {
    let (old, now) = (before.elapsed_ns, after.elapsed_ns);
    let change = (now.max(1) as f64 / old.max(1) as f64).ln();
    let mut text = if change.abs() < SAME {
        format!("The workflow took {}, as before ({})", seconds(now), seconds(old))
    } else {
        format!(
            "The workflow took {} instead of {} ({})",
            seconds(now),
            seconds(old),
            times(change.exp())
        )
    };
    let gained = |rule: &&ChangedRule| rule.time_after_ns as f64 - rule.time_before_ns as f64;
    let certain = rules.iter().filter(|rule| rule.is_certain);
    let slower = certain.clone().filter(|rule| rule.times.is_some_and(|times| times > 1.0));
    let faster = certain.filter(|rule| rule.times.is_some_and(|times| times < 1.0));
    let worst = slower.max_by(|a, b| gained(a).total_cmp(&gained(b)));
    let best = faster.min_by(|a, b| gained(a).total_cmp(&gained(b)));
    let named = |rule: &ChangedRule| {
        let name =
            if rule.is_named { format!("rule {}", rule.name) } else { format!("`{}`", rule.name) };
        let cause = rule.cause.map_or(String::new(), |cause| format!(", mostly {}", doing(cause)));
        format!("a job of {name} takes {} as long{cause}", times(rule.times.unwrap_or(1.0)))
    };
    let (first, second) = if change < 0.0 { (best, worst) } else { (worst, best) };
    for (sign, rule) in [(": ", first), ("; ", second)] {
        if let Some(rule) = rule {
            let sign = if sign == "; " && first.is_none() { ": " } else { sign };
            text.push_str(&format!("{sign}{}", named(rule)));
        }
    }
    text + "."
}
