//! `run --counters`: what is counted is that of the whole stage, and what cannot be counted is said to be unknown.

use std::fs;

use crate::sandbox::{Sandbox, fullbore};

#[test]
fn counters_are_shown_for_each_stage() {
    let place = Sandbox::new();
    let record = place.record(&["--counters"], "seq 500000 | sort -n | tail -1");
    let sort = record.stages.iter().find(|stage| stage.command.starts_with("sort")).unwrap();
    let counters = sort.counters.expect("Linux itself counts faults and switches");
    assert!(counters.page_faults.unwrap() > 100, "{counters:?}");
    assert!(counters.context_switches.is_some() && counters.migrations.is_some(), "{counters:?}");
    match counters.instructions {
        Some(instructions) => assert!(instructions > 10_000_000, "{counters:?}"),
        None => {
            assert!(record.gaps.iter().any(|gap| gap.starts_with("counters:")), "{:?}", record.gaps)
        }
    }
    let ended = place.run(&["run", "--counters", "seq 500000 | sort -n | tail -1"]);
    assert!(
        ended.stderr.contains("counters") && ended.stderr.contains("faults"),
        "{}",
        ended.stderr
    );
}

/// A user may not look into the kernel, where threads are switched: unknown is not 0.
#[test]
fn what_a_user_cannot_count_is_unknown() {
    require_programs!("setpriv");
    require!(rustix::process::geteuid().is_root(), "only root can become another user");
    let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap();
    require!(level.trim() == "2", "kernel.perf_event_paranoid is {}, not 2", level.trim());
    let place = Sandbox::new();
    let copy = place.copy_program(fullbore(), "fullbore-copy");
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(place.path("."), permissions).unwrap();
    let mut command = place.command("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(copy);
    command.args(["run", "-q", "--counters", "--report", "report.json", "sleep 0.3"]);
    let record = place.record_of(command);
    let counters = record.stages[0].counters.unwrap();
    assert!(counters.page_faults.is_some(), "{counters:?}");
    assert_eq!((counters.context_switches, counters.migrations), (None, None));
    assert!(
        record.gaps.iter().any(|gap| gap.contains("perf_event_paranoid=1")),
        "{:?}",
        record.gaps
    );
}

/// The same events, counted by perf for the same stage. What perf does itself is a hundredth of that at most.
#[test]
fn counters_agree_with_perf_stat() {
    require_programs!("perf");
    let place = Sandbox::new();
    let record = place.record(
        &["--counters"],
        "seq 4000000 | perf stat -x, -o perf.out -e page-faults,instructions sort --parallel=1 -S 400M | tail -1",
    );
    let sort = record.stages.iter().find(|stage| stage.command.contains("sort")).unwrap();
    let counters = sort.counters.unwrap();
    let text = fs::read_to_string(place.path("perf.out")).unwrap();
    let of_perf = |event: &str| {
        let line = text.lines().find(|line| line.contains(event)).unwrap();
        line.split(',').next().unwrap().parse::<u64>().ok()
    };
    let agree = |event: &str, ours: Option<u64>, theirs: Option<u64>| {
        assert_eq!(ours.is_some(), theirs.is_some(), "{event}: {ours:?}, perf {theirs:?}");
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return };
        let off = ours as f64 / theirs as f64 - 1.0;
        assert!(off.abs() < 0.05, "{event}: {ours}, perf {theirs}");
    };
    agree("page-faults", counters.page_faults, of_perf("page-faults"));
    agree("instructions", counters.instructions, of_perf("instructions"));
}
