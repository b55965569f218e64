//! From records to the workflow: every step in its order.

use std::collections::BTreeMap;

use crate::cause::Cause;
use crate::critical::{Chain, chain};
use crate::findings::{Facts, findings};
use crate::hosts::{Slow, compared, slow_hosts, slow_rules};
use crate::input::Input;
use crate::jobs::Jobs;
use crate::outliers::{Long, outliers};
use crate::phrases::whole;
use crate::rules::{host_rows, rule_rows};
use crate::run::Run;
use crate::stages::{cpu_waits, stages, turns};
use crate::workflow::{Costly, Files, JobRow, Outlier, SCHEMA, Totals, Workflow};

/// Gathers runs into a workflow; lists of what cost most have at most `top` rows.
#[must_use]
pub fn gather(runs: &[Run], files: Files, top: usize) -> Workflow {
    let jobs = Jobs::of(runs);
    let input = Input::of(&jobs);
    let chain = chain(&jobs);
    let totals = totals(&jobs, &chain);
    let compared = compared(&input);
    let slow_hosts = slow_hosts(&input, &compared);
    let slow_rules = slow_rules(&input, &compared, &slow_hosts);
    let slow: Vec<Slow> = slow_hosts.iter().chain(&slow_rules).cloned().collect();
    let outliers = outliers(&input, &compared, &slow, chain.span_ns());
    let mut costly = Costly {
        stages: stages(&jobs),
        turns: turns(&jobs),
        cpu_waits: cpu_waits(&jobs),
        outliers: outliers.iter().map(|long| outlier(&input, long)).collect(),
    };
    costly.stages.truncate(top);
    costly.turns.truncate(top);
    costly.cpu_waits.truncate(top);
    costly.outliers.truncate(top);
    let rules = rule_rows(&input, &chain);
    let hosts = host_rows(&input, &compared, &slow_hosts);
    let facts = Facts {
        input: &input,
        totals: &totals,
        rules: &rules,
        slow_hosts: &slow_hosts,
        slow_rules: &slow_rules,
        costly: &costly,
    };
    let findings = findings(&facts);
    let rows = job_rows(&jobs, &chain);
    let workflow = Workflow {
        schema: SCHEMA.to_owned(),
        fullbore_version: env!("CARGO_PKG_VERSION").to_owned(),
        files,
        totals,
        findings,
        hosts,
        rules,
        costly,
        jobs: rows,
        against: None,
    };
    ordered(workflow)
}

fn totals(jobs: &Jobs<'_>, chain: &Chain) -> Totals {
    let mut totals = Totals {
        jobs: jobs.all.len() as u64,
        started_unix_ns: chain.span.map(|(start, _)| start),
        elapsed_ns: chain.span_ns(),
        job_time_ns: jobs.total_ns(),
        idle_ns: chain.idle_ns,
        ..Totals::default()
    };
    for job in &jobs.all {
        totals.failed += u64::from(job.has_failed());
        totals.unknown_status += u64::from(job.run.exit_status.is_none());
        totals.in_part += u64::from(job.run.is_part);
        totals.without_time += u64::from(job.span().is_none());
        totals.causes.add(&job.causes);
    }
    totals
}

fn outlier(input: &Input<'_>, long: &Long) -> Outlier {
    let job = &input.jobs.all[long.job];
    let siblings: Vec<usize> =
        input.groups[job.rule].iter().copied().filter(|other| *other != long.job).collect();
    let main = input.extra(&[long.job], &siblings).main().map(|(cause, _)| cause);
    let cause = main.filter(|cause| *cause != Cause::Unseen);
    Outlier {
        job: long.job,
        times: long.times,
        expected_ns: whole(long.expected_ns),
        cause,
        cause_percent: cause.map_or(0.0, |cause| job.causes.percent(cause)),
    }
}

fn job_rows(jobs: &Jobs<'_>, chain: &Chain) -> Vec<JobRow> {
    let first = chain.span.map_or(0, |(start, _)| start);
    let row = |job: &crate::jobs::Job<'_>| JobRow {
        file: job.run.file.clone(),
        rule: job.rule,
        host: job.host,
        // One that starts the others may begin before them.
        start_ns: job.span().map(|(start, _)| start.saturating_sub(first)),
        elapsed_ns: job.run.elapsed_ns,
        exit_status: job.run.exit_status,
        causes: job.causes,
    };
    jobs.all.iter().map(row).collect()
}

/// Puts the lists into the order in which they are shown: rules and hosts by their time, jobs by their start.
fn ordered(mut workflow: Workflow) -> Workflow {
    let rules = order(&workflow.rules, |rule| std::cmp::Reverse(rule.job_time_ns));
    let hosts = order(&workflow.hosts, |host| std::cmp::Reverse(host.job_time_ns));
    let jobs = order(&workflow.jobs, |job| (job.start_ns.is_none(), job.start_ns));
    let (to_rule, to_host, to_job) = (inverse(&rules), inverse(&hosts), inverse(&jobs));
    workflow.rules = rules.iter().map(|place| workflow.rules[*place].clone()).collect();
    workflow.hosts = hosts.iter().map(|place| workflow.hosts[*place].clone()).collect();
    workflow.jobs = jobs.iter().map(|place| workflow.jobs[*place].clone()).collect();
    for job in &mut workflow.jobs {
        (job.rule, job.host) = (to_rule[&job.rule], to_host[&job.host]);
    }
    for finding in &mut workflow.findings {
        finding.rule = finding.rule.map(|rule| to_rule[&rule]);
        finding.host = finding.host.map(|host| to_host[&host]);
    }
    for stage in &mut workflow.costly.stages {
        stage.rule = to_rule[&stage.rule];
    }
    for turns in &mut workflow.costly.turns {
        turns.rule = to_rule[&turns.rule];
    }
    for wait in &mut workflow.costly.cpu_waits {
        wait.host = to_host[&wait.host];
    }
    for outlier in &mut workflow.costly.outliers {
        outlier.job = to_job[&outlier.job];
    }
    workflow
}

/// The places of the rows in the order of their keys; rows with equal keys stay in their order.
fn order<T, K: Ord>(rows: &[T], key: impl Fn(&T) -> K) -> Vec<usize> {
    let mut places: Vec<usize> = (0..rows.len()).collect();
    places.sort_by_key(|place| key(&rows[*place]));
    places
}

fn inverse(order: &[usize]) -> BTreeMap<usize, usize> {
    order.iter().enumerate().map(|(new, old)| (*old, new)).collect()
}
