//! What cost most over all jobs: stages, turns, waits for CPUs.

use std::collections::HashMap;

use fullbore_record::FindingKind;

use crate::cause::{Cause, own_causes, own_ns};
use crate::jobs::Jobs;
use crate::shape::shape;
use crate::workflow::{CostlyStage, CpuWait, Turns};

/// A job waits for CPUs when this share of its time goes to that.
const WAITS_PERCENT: f64 = 10.0;

/// All stages, the one that cost most first.
pub(crate) fn stages(jobs: &Jobs<'_>) -> Vec<CostlyStage> {
    let mut places: HashMap<(usize, String), usize> = HashMap::new();
    let mut shapes: HashMap<&str, String> = HashMap::new();
    let mut rows: Vec<(CostlyStage, usize)> = Vec::new();
    for (place, job) in jobs.all.iter().enumerate() {
        for stage in &job.run.stages {
            let command =
                shapes.entry(&stage.command).or_insert_with(|| shape(&stage.command).text);
            let key = (job.rule, command.clone());
            let at = *places.entry(key).or_insert_with(|| {
                let row =
                    CostlyStage { rule: job.rule, command: command.clone(), ..Default::default() };
                rows.push((row, usize::MAX));
                rows.len() - 1
            });
            let (row, last) = &mut rows[at];
            // The same command may stand in a pipeline twice.
            row.jobs += u64::from(*last != place);
            *last = place;
            row.own_ns = row.own_ns.saturating_add(own_ns(stage));
            row.cpu_ns = row.cpu_ns.saturating_add(stage.cpu_ns);
            row.causes.add(&own_causes(stage));
        }
    }
    let mut rows: Vec<CostlyStage> = rows.into_iter().map(|(row, _)| row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.own_ns));
    rows
}

/// Rules whose pipelines took turns, the one with most time first.
pub(crate) fn turns(jobs: &Jobs<'_>) -> Vec<Turns> {
    let mut rows: Vec<(Turns, u64)> = Vec::new();
    for job in &jobs.all {
        let found = job.run.findings.iter().find(|it| it.kind == FindingKind::TakingTurns);
        let Some(found) = found else { continue };
        let at = rows.iter().position(|(row, _)| row.rule == job.rule).unwrap_or_else(|| {
            rows.push((Turns { rule: job.rule, ..Turns::default() }, 0));
            rows.len() - 1
        });
        let (row, longest) = &mut rows[at];
        row.jobs += 1;
        row.job_time_ns = row.job_time_ns.saturating_add(job.elapsed_ns());
        if row.message.is_empty() || job.elapsed_ns() > *longest {
            *longest = job.elapsed_ns();
            row.message.clone_from(&found.message);
        }
    }
    let mut rows: Vec<Turns> = rows.into_iter().map(|(row, _)| row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.job_time_ns));
    rows
}

/// Hosts whose jobs waited for CPUs, the one with the longest waits first.
pub(crate) fn cpu_waits(jobs: &Jobs<'_>) -> Vec<CpuWait> {
    let mut rows: Vec<(CpuWait, u64)> =
        (0..jobs.hosts.len()).map(|host| (CpuWait { host, ..CpuWait::default() }, 0)).collect();
    for job in &jobs.all {
        let (row, time_ns) = &mut rows[job.host];
        row.jobs += u64::from(job.causes.percent(Cause::Cpu) >= WAITS_PERCENT);
        row.waited_ns = row.waited_ns.saturating_add(job.causes.cpu_ns);
        *time_ns = time_ns.saturating_add(job.elapsed_ns());
    }
    let with_percent = |(mut row, time_ns): (CpuWait, u64)| {
        row.percent = crate::phrases::share(row.waited_ns, time_ns);
        row
    };
    let mut rows: Vec<CpuWait> =
        rows.into_iter().map(with_percent).filter(|row| row.jobs > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.waited_ns));
    rows
}
