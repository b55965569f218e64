//! What follows from all jobs together. The first finding is the verdict: what limits the workflow.

use std::collections::BTreeMap;

use fullbore_measure::seconds;

use crate::cause::Cause;
use crate::hosts::Slow;
use crate::input::Input;
use crate::phrases::{counted, does, doing, listed, percent, share, times};
use crate::workflow::{Costly, Finding, FindingKind, RuleRow, Totals};

/// A slow host is the verdict when it costs this part of all job time, in percent.
const SLOW_HOST_PERCENT: f64 = 3.0;

/// Waits for CPUs are the verdict when they take this part of all job time, and a finding from the second figure on.
const CPU_VERDICT_PERCENT: f64 = 30.0;
const CPU_PERCENT: f64 = 20.0;

/// One rule with so much of all waits for CPUs is the one to look at, in percent.
const ONE_RULE_PERCENT: f64 = 70.0;

/// That no job ran is the verdict when it was so for this part of the time, and a finding from the second figure on.
const IDLE_VERDICT_PERCENT: f64 = 50.0;
const IDLE_PERCENT: f64 = 10.0;

/// A rule limits the workflow when it takes half of the critical time, or one and a half times as much as any other.
const HALF_PERCENT: f64 = 50.0;
const STANDS_OUT: f64 = 1.5;

/// Rules that a sentence names.
const NAMED: usize = 3;

/// What findings rest on.
pub(crate) struct Facts<'a> {
    pub(crate) input: &'a Input<'a>,
    pub(crate) totals: &'a Totals,
    pub(crate) rules: &'a [RuleRow],
    pub(crate) slow_hosts: &'a [Slow],
    pub(crate) slow_rules: &'a [Slow],
    pub(crate) costly: &'a Costly,
}

/// All findings.
pub(crate) fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let job_time_ns = facts.totals.job_time_ns;
    let mut all: Vec<(bool, Finding)> = Vec::new();
    for slow in facts.slow_hosts {
        let is_large = slow.lost_ns >= job_time_ns as f64 * SLOW_HOST_PERCENT / 100.0;
        all.push((is_large, slow_host(facts, slow)));
    }
    let idle = share(facts.totals.idle_ns, facts.totals.elapsed_ns);
    if idle >= IDLE_PERCENT && facts.totals.jobs > 1 {
        all.push((idle >= IDLE_VERDICT_PERCENT, self::idle(facts, idle)));
    }
    let cpu = facts.totals.causes.percent(Cause::Cpu);
    if cpu >= CPU_PERCENT {
        all.push((cpu >= CPU_VERDICT_PERCENT && is_widespread(facts), waits_for_cpus(facts, cpu)));
    }
    if let Some(limit) = limiting_rule(facts) {
        all.push((true, limit));
    }
    // What is large enough to be the verdict stands before what is not; otherwise the order stays.
    all.sort_by_key(|(is_large, _)| !is_large);
    let mut findings: Vec<Finding> = all.into_iter().map(|(_, finding)| finding).collect();
    findings.extend(facts.slow_rules.iter().map(|slow| slow_rule(facts, slow)));
    findings.extend(outliers(facts));
    findings.extend(turns(facts));
    findings.extend(failed(facts));
    findings.extend(crate::outliers::larger_inputs(facts.input));
    findings
}

fn slow_host(facts: &Facts<'_>, slow: &Slow) -> Finding {
    let jobs = facts.input.jobs;
    let named: Vec<String> = slow
        .rules
        .iter()
        .take(NAMED)
        .map(|(rule, longer)| format!("{} {}", jobs.rules[*rule].short(), times(*longer)))
        .collect();
    let host = jobs.host_in_words(slow.host);
    let where_ = match (slow.rules.len(), slow.compared) {
        (1, 1) => format!("the jobs of {}", jobs.rules[slow.rules[0].0].in_words()),
        (some, all) if some == all => format!("the jobs of all {all} rules that can be compared"),
        (some, all) => format!("the jobs of {some} of {all} rules"),
    };
    let message = format!("On {host}, {where_} take {} as long as elsewhere", times(slow.times));
    let mut finding = Finding::new(FindingKind::SlowHost, with_cause(message, slow))
        .about_host(slow.host)
        .with("times", slow.times)
        .with("lost_ns", slow.lost_ns)
        .with("rules_slow", slow.rules.len() as f64)
        .with("rules_compared", slow.compared as f64);
    if slow.compared > 1 {
        finding.detail = format!("With most time there: {}.", listed(&named));
    }
    finding
}

fn with_cause(message: String, slow: &Slow) -> String {
    let lost = seconds(crate::phrases::whole(slow.lost_ns));
    let cause = slow.cause.filter(|(cause, _)| *cause != Cause::Unseen);
    match cause {
        Some((cause, part)) => format!(
            "{message}; {} of the extra time they spend {}. That costs {lost} of job time.",
            percent(part),
            doing(cause)
        ),
        None => format!("{message}. That costs {lost} of job time."),
    }
}

fn slow_rule(facts: &Facts<'_>, slow: &Slow) -> Finding {
    let jobs = facts.input.jobs;
    let rule = slow.rules[0].0;
    let message = format!(
        "Jobs of {} take {} as long on {} as elsewhere",
        jobs.rules[rule].in_words(),
        times(slow.times),
        jobs.host_in_words(slow.host)
    );
    Finding::new(FindingKind::SlowOnHost, with_cause(message, slow))
        .about_rule(rule)
        .about_host(slow.host)
        .with("times", slow.times)
        .with("lost_ns", slow.lost_ns)
}

fn idle(facts: &Facts<'_>, idle: f64) -> Finding {
    let message = format!(
        "No job ran for {} of the {} ({}).",
        seconds(facts.totals.idle_ns),
        seconds(facts.totals.elapsed_ns),
        percent(idle)
    );
    let mut finding = Finding::new(FindingKind::Idle, message).with("idle_percent", idle);
    finding.detail =
        "Jobs that were not recorded, a queue, or the program that starts jobs took that \
        time; or the folder holds the records of several workflows."
            .to_owned();
    finding
}

/// Whether jobs of several rules wait for CPUs; of a single rule, the finding about the rule says it.
fn is_widespread(facts: &Facts<'_>) -> bool {
    let most = facts.rules.iter().map(|rule| rule.causes.cpu_ns).max().unwrap_or(0);
    share(most, facts.totals.causes.cpu_ns) <= ONE_RULE_PERCENT
}

fn waits_for_cpus(facts: &Facts<'_>, cpu: f64) -> Finding {
    let mut message = format!("Jobs wait for a CPU {} of their time", percent(cpu));
    let worst = facts.costly.cpu_waits.first();
    if let Some(worst) = worst.filter(|_| facts.input.jobs.hosts.len() > 1) {
        let host = facts.input.jobs.host_in_words(worst.host);
        message.push_str(&format!(", on {host} {}", percent(worst.percent)));
    }
    let mut finding =
        Finding::new(FindingKind::WaitsForCpus, format!("{message}.")).with("cpu_percent", cpu);
    finding.host = worst.map(|worst| worst.host);
    finding.detail =
        "More jobs run at once than there are CPUs; fewer at once would be done as soon."
            .to_owned();
    finding
}

fn limiting_rule(facts: &Facts<'_>) -> Option<Finding> {
    let mut order: Vec<usize> = (0..facts.rules.len()).collect();
    // Without times on an axis, the sum of all job times has to do.
    let is_placed = facts.rules.iter().any(|rule| rule.critical_ns > 0);
    let weight = |rule: &RuleRow| if is_placed { rule.critical_ns } else { rule.job_time_ns };
    order.sort_by_key(|rule| std::cmp::Reverse(weight(&facts.rules[*rule])));
    let all: u64 = facts.rules.iter().map(weight).fold(0, u64::saturating_add);
    let (first, second) = (*order.first()?, order.get(1));
    let of = |rule: usize| share(weight(&facts.rules[rule]), all);
    if all == 0 {
        return None;
    }
    let what = if is_placed { "critical time" } else { "time of all jobs" };
    let stands_out = of(first) >= HALF_PERCENT
        || second.is_none_or(|second| of(first) >= STANDS_OUT * of(*second));
    if !stands_out {
        let name = |rule: &usize| {
            format!("{} {}", facts.input.jobs.rules[*rule].short(), percent(of(*rule)))
        };
        let named: Vec<String> = order.iter().take(NAMED).map(name).collect();
        let message = format!("No rule stands out; most of the {what}: {}.", listed(&named));
        return Some(
            Finding::new(FindingKind::NoSingleRule, message).with("share_percent", of(first)),
        );
    }
    let row = &facts.rules[first];
    let main = row.causes.main();
    let rule = facts.input.jobs.rules[first].in_words();
    let rule = rule.replacen("rule ", "Rule ", usize::from(rule.starts_with("rule ")));
    let doing = if main == Cause::Unseen {
        String::new()
    } else {
        format!("; it {} {} of its time", does(main), percent(row.causes.percent(main)))
    };
    let message = format!(
        "{rule} takes {} of the {what} ({} of {}){doing}.",
        percent(of(first)),
        seconds(weight(row)),
        seconds(all)
    );
    let said = longest_verdict(facts, first).unwrap_or_default();
    let finding = Finding::new(FindingKind::LimitingRule, message)
        .about_rule(first)
        .with("share_percent", of(first));
    Some(finding.seen(said))
}

/// The verdict about the longest job of a rule.
fn longest_verdict<'a>(facts: &Facts<'a>, rule: usize) -> Option<&'a str> {
    let jobs = facts.input.jobs.all.iter().filter(|job| job.rule == rule);
    let longest = jobs.max_by_key(|job| job.elapsed_ns())?;
    longest.run.findings.first().map(|verdict| verdict.message.as_str())
}

/// Outliers by rule and host.
fn outliers(facts: &Facts<'_>) -> Vec<Finding> {
    let jobs = facts.input.jobs;
    let mut groups: Vec<((usize, usize), Vec<usize>)> = Vec::new();
    for (place, outlier) in facts.costly.outliers.iter().enumerate() {
        let job = &jobs.all[outlier.job];
        let key = (job.rule, job.host);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, places)) => places.push(place),
            None => groups.push((key, vec![place])),
        }
    }
    let finding = |((rule, host), places): ((usize, usize), Vec<usize>)| {
        let worst = &facts.costly.outliers[places[0]];
        let job = &jobs.all[worst.job];
        let mut message =
            format!("{}, {}: ", jobs.rules[rule].in_words(), jobs.host_in_words(host));
        if places.len() > 1 {
            message.push_str(&format!(
                "{} are far too long, the worst ",
                counted(places.len() as u64, "job")
            ));
        }
        message.push_str(&format!("{} the median", times(worst.times)));
        if let Some(cause) = worst.cause {
            message.push_str(&format!(", {} {}", does(cause), percent(worst.cause_percent)));
        }
        let lasted = format!(
            "; {} instead of {} ({}).",
            seconds(job.elapsed_ns()),
            seconds(worst.expected_ns),
            job.run.file
        );
        let mut finding = Finding::new(FindingKind::Outliers, message + &lasted)
            .about_rule(rule)
            .about_host(host);
        finding = finding.with("jobs", places.len() as f64).with("times", worst.times);
        finding
    };
    groups.into_iter().map(finding).collect()
}

/// Rules whose pipelines took turns, as one finding about the one with most time.
fn turns(facts: &Facts<'_>) -> Option<Finding> {
    let first = facts.costly.turns.first()?;
    let jobs: u64 = facts.costly.turns.iter().map(|turns| turns.jobs).sum();
    let rule = facts.input.jobs.rules[first.rule].in_words();
    let mut message = format!("In {} of {rule}", counted(first.jobs, "job"));
    let others = facts.costly.turns.len() - 1;
    if others > 0 {
        let rules = counted(others as u64, "other rule");
        message.push_str(&format!(" and {} of {rules}", jobs - first.jobs));
    }
    message.push_str(", two stages wait for each other in turn.");
    let finding = Finding::new(FindingKind::TakesTurns, message).about_rule(first.rule);
    Some(finding.with("jobs", jobs as f64).seen(&first.message))
}

/// Jobs that failed, and what became of them.
fn failed(facts: &Facts<'_>) -> Option<Finding> {
    let jobs = &facts.input.jobs.all;
    let failed: Vec<_> = jobs.iter().filter(|job| job.has_failed()).collect();
    if failed.is_empty() {
        return None;
    }
    let lost_ns = failed.iter().fold(0_u64, |sum, job| sum.saturating_add(job.elapsed_ns()));
    let mut later: BTreeMap<&str, u64> = BTreeMap::new();
    for job in jobs.iter().filter(|job| !job.has_failed()) {
        let start = later.entry(&job.run.command).or_default();
        *start = job.run.started_unix_ns.max(*start);
    }
    let again = failed
        .iter()
        .filter(|job| {
            later.get(job.run.command.as_str()).is_some_and(|at| *at > job.run.started_unix_ns)
        })
        .count() as u64;
    let count = failed.len() as u64;
    let mut message =
        format!("{} failed, after {} in all", counted(count, "job"), seconds(lost_ns));
    if again > 0 {
        message.push_str(&format!("; {again} of them ran again and succeeded"));
    }
    let finding = Finding::new(FindingKind::Failed, message + ".").with("jobs", count as f64);
    Some(finding.with("again", again as f64).with("lost_ns", lost_ns as f64))
}
