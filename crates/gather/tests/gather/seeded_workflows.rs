//! Workflows with one fault each: it is named, and nothing is named where there is none.

use fullbore_gather::{Cause, Files, FindingKind, Workflow, compare, gather};

use crate::seeded::{Blame, Seeded};

/// Workflows of each kind; the promise is about 20.
const WORKFLOWS: u64 = 100;

/// Of a hundred, so many must be named.
const NAMED: u64 = 95;

fn gathered(seeded: &mut Seeded) -> Workflow {
    gather(&seeded.run(), Files::default(), 10)
}

/// Fails when too few workflows are right, and shows those that are not.
fn most(what: &str, is_right: impl Fn(u64) -> Result<(), String>) {
    let wrong: Vec<String> = (1..=WORKFLOWS)
        .filter_map(|seed| is_right(seed).err().map(|why| format!("seed {seed}: {why}")))
        .collect();
    let right = WORKFLOWS - wrong.len() as u64;
    println!("{what}: {right} of {WORKFLOWS}");
    assert!(
        right * 100 >= NAMED * WORKFLOWS,
        "{what}: {right} of {WORKFLOWS}\n{}",
        wrong.join("\n")
    );
}

fn messages(workflow: &Workflow) -> String {
    workflow
        .findings
        .iter()
        .map(|finding| format!("\n    {:?}: {}", finding.kind, finding.message))
        .collect()
}

fn names_of(workflow: &Workflow, kind: FindingKind) -> Vec<String> {
    let found = workflow.findings.iter().filter(|finding| finding.kind == kind);
    found.filter_map(|finding| Some(workflow.hosts[finding.host?].name.clone())).collect()
}

const BLAMES: [(Blame, Cause); 4] = [
    (Blame::Disk, Cause::Disk),
    (Blame::Network, Cause::Network),
    (Blame::Cpu, Cause::Cpu),
    (Blame::Running, Cause::Running),
];

#[test]
fn a_slow_host_is_named_with_its_cause() {
    most("slow hosts", |seed| {
        let mut seeded = Seeded::new(seed);
        let (blame, cause) = BLAMES[seed as usize % 4];
        let slow = seed as usize % seeded.hosts;
        let times = 1.5 + 2.0 * seeded.random.unit();
        seeded.fault.slow_host = Some((slow, times, Some(blame)));
        let workflow = gathered(&mut seeded);
        let name = Seeded::host(slow);
        let found = names_of(&workflow, FindingKind::SlowHost);
        let text = messages(&workflow);
        let wait = match cause {
            Cause::Disk => "waiting for disk",
            Cause::Network => "waiting for the network",
            Cause::Cpu => "waiting for a CPU",
            _ => "on a CPU",
        };
        let first = &workflow.findings[0];
        if found != [name.clone()] {
            Err(format!("{name} is {times:.1} times as slow, found {found:?}{text}"))
        } else if first.kind != FindingKind::SlowHost || !first.message.contains(wait) {
            Err(format!("{name} is {times:.1} times as slow by {blame:?}{text}"))
        } else {
            Ok(())
        }
    });
}

#[test]
fn a_slow_rule_is_the_verdict() {
    most("slow rules", |seed| {
        let mut seeded = Seeded::new(seed + 1000);
        let slow = seed as usize % seeded.rules.len();
        let times = seeded.times_for_share(slow);
        let blame = BLAMES[seed as usize % 4].0;
        seeded.fault.slow_rule = Some((slow, times, Some(blame)));
        let workflow = gathered(&mut seeded);
        let verdict = &workflow.findings[0];
        let example = verdict.rule.map(|rule| workflow.rules[rule].command.clone());
        let rightly = match verdict.rule {
            Some(rule) if workflow.rules[rule].is_named => {
                workflow.rules[rule].name.starts_with(&seeded.rules[slow].name)
            }
            _ => example == Some(seeded_command(slow)),
        };
        let kinds = [FindingKind::LimitingRule];
        let heaviest = &workflow.rules[0];
        if kinds.contains(&verdict.kind) && rightly {
            Ok(())
        } else {
            Err(format!(
                "{} is slow; heaviest {}{}",
                seeded.rules[slow].name,
                heaviest.name,
                messages(&workflow)
            ))
        }
    });
}

/// The command of the first job of a rule.
fn seeded_command(rule: usize) -> String {
    crate::seeded::COMMANDS[rule].replace("{n}", "0")
}

#[test]
fn nothing_is_wrong_with_a_clean_workflow() {
    const ALARMS: [FindingKind; 5] = [
        FindingKind::SlowHost,
        FindingKind::SlowOnHost,
        FindingKind::Outliers,
        FindingKind::WaitsForCpus,
        FindingKind::TakesTurns,
    ];
    let mut alarms = Vec::new();
    for seed in 1..=2 * WORKFLOWS {
        let mut seeded = Seeded::new(seed + 2000);
        let workflow = gathered(&mut seeded);
        if workflow.findings.iter().any(|finding| ALARMS.contains(&finding.kind)) {
            alarms.push(format!("seed {seed}{}", messages(&workflow)));
        }
    }
    println!("clean workflows with an alarm: {} of {}", alarms.len(), 2 * WORKFLOWS);
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

#[test]
fn jobs_that_are_far_too_long_are_named_with_their_cause() {
    most("outliers", |seed| {
        let mut seeded = Seeded::new(seed + 3000);
        let rule = seed as usize % seeded.rules.len();
        let times = 4.0 + 2.0 * seeded.random.unit();
        seeded.fault.outliers = Some((rule, 1, times));
        let workflow = gathered(&mut seeded);
        let outliers = &workflow.costly.outliers;
        let is_right = outliers.len() == 1
            && workflow.jobs[outliers[0].job].file.contains(&format!("/{rule}-"))
            && outliers[0].cause == Some(Cause::Disk);
        if is_right {
            Ok(())
        } else {
            Err(format!("rule {rule}, {times:.1} times{}", messages(&workflow)))
        }
    });
}

#[test]
fn a_host_that_reads_more_is_not_called_slow() {
    for seed in 1..=WORKFLOWS {
        let mut seeded = Seeded::new(seed + 4000);
        seeded.fault.more_input = Some((seed as usize % seeded.hosts, 3.0));
        let workflow = gathered(&mut seeded);
        let alarms = [FindingKind::SlowHost, FindingKind::SlowOnHost, FindingKind::Outliers];
        assert!(
            !workflow.findings.iter().any(|finding| alarms.contains(&finding.kind)),
            "seed {seed}{}",
            messages(&workflow)
        );
    }
}

#[test]
fn the_rule_that_became_slower_is_named_and_no_other() {
    most("slower rules", |seed| {
        let before = Seeded::new(seed + 5000).run();
        let mut seeded = Seeded::new(seed + 5000);
        // Another run of the same workflow: other noise.
        seeded.random = crate::seeded::Random::new(seed + 9000);
        let slow = seed as usize % seeded.rules.len();
        let (blame, cause) = BLAMES[seed as usize % 4];
        let times = 1.4 + seeded.random.unit();
        seeded.fault.slow_rule = Some((slow, times, Some(blame)));
        let comparison = compare(&before, &seeded.run(), Files::default());
        let certain: Vec<_> = comparison
            .rules
            .iter()
            .filter(|rule| rule.is_certain && rule.jobs_after > 10)
            .collect();
        let is_right = certain.len() == 1
            && certain[0].cause == Some(cause)
            && certain[0].times.is_some_and(|found| (found / times - 1.0).abs() < 0.3);
        if is_right {
            Ok(())
        } else {
            Err(format!("rule {slow}, {times:.1} times by {blame:?}: {certain:#?}"))
        }
    });
}
