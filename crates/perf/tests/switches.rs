//! What is seen of processes whose switches are known.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]
#![allow(clippy::print_stderr, reason = "a test says what it skips")]

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fullbore_perf::{Kind, Switch, Switches};
use wait4::Wait4;

/// `None`, with the reason printed, where Linux allows no perf events; CI runs where it does.
fn watched(start: impl FnOnce()) -> Option<Vec<Switch>> {
    let mut switches = match Switches::of_descendants() {
        Ok(switches) => switches,
        Err(why) => {
            assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: {why}");
            eprintln!("skipped: {why}");
            return None;
        }
    };
    start();
    // What happened last is complete a moment later.
    let ended = Instant::now();
    let mut all = Vec::new();
    while ended.elapsed() < Duration::from_millis(1) {
        let reading = switches.read();
        assert_eq!(reading.lost, 0);
        all.extend(reading.switches);
    }
    Some(all)
}

fn run(line: &str) {
    assert!(Command::new("sh").args(["-c", line]).stdin(Stdio::null()).status().unwrap().success());
}

/// The time that each process was on a CPU.
fn on_cpu(switches: &[Switch]) -> BTreeMap<i32, u64> {
    let mut since = BTreeMap::new();
    let mut sums = BTreeMap::<i32, u64>::new();
    for switch in switches {
        match switch.kind {
            Kind::On => drop(since.insert(switch.tid, switch.at_ns)),
            Kind::Off | Kind::Preempted | Kind::Ended => {
                if let Some(on_ns) = since.remove(&switch.tid) {
                    *sums.entry(switch.pid).or_default() += switch.at_ns - on_ns;
                }
            }
            _ => {}
        }
    }
    sums
}

#[test]
fn every_process_begins_gets_a_cpu_and_ends_in_this_order() {
    let Some(switches) = watched(|| run("sleep 0.01; (exit 0); sleep 0.01 | cat")) else { return };
    assert!(switches.is_sorted_by_key(|switch| switch.at_ns));
    let begun: Vec<i32> = switches
        .iter()
        .filter(|switch| matches!(switch.kind, Kind::Begun { .. }))
        .map(|switch| switch.tid)
        .collect();
    // The shell, two times sleep, the subshell and cat; dash executes none of them in its own place.
    assert_eq!(begun.len(), 5, "{switches:?}");
    for tid in begun {
        let kinds: Vec<Kind> =
            switches.iter().filter(|switch| switch.tid == tid).map(|switch| switch.kind).collect();
        assert!(matches!(kinds[0], Kind::Begun { .. }), "{kinds:?}");
        assert_eq!(kinds[1], Kind::On, "{kinds:?}");
        assert_eq!(kinds.last(), Some(&Kind::Ended), "{kinds:?}");
        // On and off take turns.
        let turns = kinds[1..kinds.len() - 1].windows(2);
        assert!(
            turns.into_iter().all(|two| (two[0] == Kind::On) != (two[1] == Kind::On)),
            "{kinds:?}"
        );
    }
}

#[test]
fn time_on_a_cpu_is_the_time_that_linux_counts() {
    let mut used = Duration::ZERO;
    let Some(switches) = watched(|| {
        let line = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let usage = Command::new("sh").args(["-c", line]).spawn().unwrap().wait4().unwrap().rusage;
        used = usage.utime + usage.stime;
    }) else {
        return;
    };
    let seen: u64 = on_cpu(&switches).values().sum();
    let counted = u64::try_from(used.as_nanos()).unwrap();
    assert!(seen.abs_diff(counted) < counted / 20 + 500_000, "{seen} seen, {counted} counted");
}

#[test]
fn a_sleep_is_a_wait_and_no_lost_cpu() {
    let Some(switches) = watched(|| run("exec sleep 0.05")) else { return };
    let longest = switches
        .windows(2)
        .filter(|two| two[0].tid == two[1].tid && two[0].kind == Kind::Off)
        .map(|two| two[1].at_ns - two[0].at_ns)
        .max();
    assert!(longest.is_some_and(|ns| (49_000_000..1_000_000_000).contains(&ns)), "{longest:?}");
}
