//! Rules and hosts, each with what its jobs did together.

use fullbore_measure::median;

use crate::critical::Chain;
use crate::hosts::{Compared, Slow, pooled};
use crate::input::Input;
use crate::phrases::whole;
use crate::workflow::{HostRow, RuleRow};

/// The rules in the order of the jobs.
pub(crate) fn rule_rows(input: &Input<'_>, chain: &Chain) -> Vec<RuleRow> {
    let of_rule = |rule: &crate::jobs::Rule| RuleRow {
        name: rule.name.clone(),
        is_named: rule.is_named,
        command: rule.example.clone(),
        ..RuleRow::default()
    };
    let mut rows: Vec<RuleRow> = input.jobs.rules.iter().map(of_rule).collect();
    for job in &input.jobs.all {
        let row = &mut rows[job.rule];
        row.jobs += 1;
        row.failed += u64::from(job.has_failed());
        row.job_time_ns = row.job_time_ns.saturating_add(job.elapsed_ns());
        row.causes.add(&job.causes);
    }
    for (job, ns) in &chain.links {
        rows[input.jobs.all[*job].rule].critical_ns += ns;
    }
    for (row, group) in rows.iter_mut().zip(&input.groups) {
        let times: Vec<f64> =
            group.iter().map(|job| input.jobs.all[*job].elapsed_ns() as f64).collect();
        row.median_ns = median(&times).map(whole);
        row.longest_ns = group.iter().map(|job| input.jobs.all[*job].elapsed_ns()).max();
        let bytes = group.iter().filter_map(|job| input.jobs.all[*job].run.input_bytes);
        let bytes: Vec<f64> = bytes.map(|bytes| bytes as f64).collect();
        row.median_input_bytes = median(&bytes).map(whole);
    }
    rows
}

/// The hosts in the order of the jobs.
pub(crate) fn host_rows(input: &Input<'_>, compared: &[Compared], slow: &[Slow]) -> Vec<HostRow> {
    let of_host = |(place, name): (usize, &String)| {
        let here: Vec<&Compared> = compared.iter().filter(|it| it.host == place).collect();
        HostRow {
            name: name.clone(),
            times_as_long: pooled(&here).map(|(longer, _)| longer.exp()),
            is_slow: slow.iter().any(|slow| slow.host == place),
            ..HostRow::default()
        }
    };
    let mut rows: Vec<HostRow> = input.jobs.hosts.iter().enumerate().map(of_host).collect();
    for job in &input.jobs.all {
        let row = &mut rows[job.host];
        row.cpus = row.cpus.max(job.run.cpus);
        row.jobs += 1;
        row.failed += u64::from(job.has_failed());
        row.job_time_ns = row.job_time_ns.saturating_add(job.elapsed_ns());
        row.causes.add(&job.causes);
    }
    rows
}
