//! Settings of Linux, and what it refuses.

use fullbore_doctor::{Attempt, Level, examine};
use fullbore_measure::Bytes;

use crate::fake::{self, Fake};
use crate::only;

#[test]
fn a_low_limit_of_pipes_is_named_with_the_command_and_its_undoing() {
    let found =
        only(&Fake::new().with("proc/sys/fs/pipe-max-size", "65536"), "pipe_size", Level::Costs);
    assert!(found.what.contains("64 KiB"), "{found:?}");
    assert_eq!(found.commands, ["sudo sysctl -w fs.pipe-max-size=1048576"]);
    assert_eq!(found.undo, ["sudo sysctl -w fs.pipe-max-size=65536"]);
}

#[test]
fn few_pages_for_the_pipes_of_a_user_are_named() {
    let found = only(
        &Fake::new().with("proc/sys/fs/pipe-user-pages-soft", "512"),
        "pipe_pages",
        Level::Costs,
    );
    assert_eq!(found.commands, ["sudo sysctl -w fs.pipe-user-pages-soft=16384"]);
    only(
        &Fake::new().with("proc/sys/fs/pipe-user-pages-hard", "64"),
        "pipe_pages_hard",
        Level::Costs,
    );
}

#[test]
fn a_user_whose_new_pipes_are_small_is_over_the_limit() {
    let mut fake = Fake::new();
    fake.attempts.new_pipe = Some(Bytes(8192));
    let found = only(&fake, "pipe_pages", Level::Costs);
    assert!(found.what.contains("8 KiB") && found.what.contains("64 MiB"), "{found:?}");
    let mut fake = Fake::new();
    fake.attempts.enlarge_pipe = Attempt::Refused("Operation not permitted".to_owned());
    only(&fake, "pipe_pages", Level::Costs);
}

#[test]
fn pipes_of_this_user_are_counted_once_each_and_those_of_others_are_not() {
    let mut fake = Fake::new();
    for pid in [100, 101] {
        fake = fake.with(&format!("proc/{pid}/status"), "Uid:\t1000\t1000\t1000\t1000\n");
    }
    // Two processes have the two ends of each pipe.
    for (pid, inode) in (0..1000).flat_map(|inode| [(100, inode), (101, inode)]) {
        fake = fake.link(&format!("proc/{pid}/fd/{inode}"), &format!("pipe:[{inode}]"));
    }
    assert_eq!(fake.machine().pipes.held, 1000);
    let found = only(&fake, "pipe_pages", Level::Costs);
    assert!(found.what.contains("1000 pipes"), "{found:?}");
    let other = fake.with("proc/self/status", &fake::STATUS.replace("1000", "1001"));
    assert_eq!(examine(&other.machine()), []);
}

#[test]
fn limits_of_all_pipes_do_not_count_for_root() {
    let fake = Fake::new().with("proc/sys/fs/pipe-user-pages-soft", "64");
    let fake = fake
        .with("proc/self/status", &fake::STATUS.replace("0000000000000000", "000001ffffffffff"));
    assert_eq!(examine(&fake.machine()), []);
}

#[test]
fn yama_that_hides_what_a_program_started_is_named() {
    let scope = "proc/sys/kernel/yama/ptrace_scope";
    let found = only(&Fake::new().with(scope, "1"), "ptrace_scope", Level::Note);
    assert!(found.what.contains("did not start") && found.undo.is_empty(), "{found:?}");
    let root = fake::STATUS.replace("0000000000000000", "000001ffffffffff");
    for seen_by_root in ["1", "2"] {
        let fake = Fake::new().with(scope, seen_by_root).with("proc/self/status", &root);
        assert_eq!(examine(&fake.machine()), [], "{seen_by_root}");
    }
    let found = only(&Fake::new().with(scope, "2"), "ptrace_scope", Level::Hides);
    assert_eq!(found.undo, ["sudo sysctl -w kernel.yama.ptrace_scope=2"]);
    let found = only(&Fake::new().with(scope, "3"), "ptrace_scope", Level::Hides);
    assert!(found.undo.is_empty() && found.consequence.contains("started again"), "{found:?}");
}

#[test]
fn hidepid_is_named_unless_the_user_is_in_its_group() {
    let mounts = |options: &str| {
        format!("sysfs /sys sysfs rw 0 0\nproc /proc proc rw,relatime,{options} 0 0\n")
    };
    for options in ["hidepid=2", "hidepid=invisible", "gid=7,hidepid=1"] {
        let found =
            only(&Fake::new().with("proc/self/mounts", &mounts(options)), "hidepid", Level::Hides);
        assert!(found.undo[0].contains("hidepid="), "{found:?}");
    }
    for options in ["hidepid=0", "hidepid=off", "gid=1000,hidepid=2", "nosuid"] {
        assert_eq!(
            examine(&Fake::new().with("proc/self/mounts", &mounts(options)).machine()),
            [],
            "{options}"
        );
    }
}

#[test]
fn a_filter_that_refuses_vmsplice_is_named() {
    let mut fake = Fake::new();
    fake.attempts.lend_page = Attempt::Refused("Operation not permitted (os error 1)".to_owned());
    let found = only(&fake, "vmsplice", Level::Costs);
    assert!(found.what.contains("vmsplice: Operation not permitted)"), "{found:?}");
}

#[test]
fn perf_events_that_are_refused_are_named_with_what_refuses_them() {
    let mut fake = Fake::new();
    fake.attempts.count_switches =
        Attempt::Refused("perf_event_open: Operation not permitted (os error 1)".to_owned());
    let found = only(&fake, "perf_events", Level::Hides);
    assert!(
        found.commands[0].contains("docker") && found.what.contains("not permitted"),
        "{found:?}"
    );
    let fake = fake.with("proc/sys/kernel/perf_event_paranoid", "4");
    let found = only(&fake, "perf_events", Level::Hides);
    assert_eq!(found.commands, ["sudo sysctl -w kernel.perf_event_paranoid=2"]);
    assert_eq!(found.undo, ["sudo sysctl -w kernel.perf_event_paranoid=4"]);
}

#[test]
fn a_kernel_without_a_fact_about_processes_is_named() {
    let found =
        only(&Fake::new().without("proc/42/task/42/syscall"), "process_facts", Level::Hides);
    assert!(found.what.contains("syscall") && found.consequence.contains("wait for"), "{found:?}");
}

#[test]
fn no_huge_pages_are_named_and_both_usual_settings_are_not() {
    let enabled = "sys/kernel/mm/transparent_hugepage/enabled";
    let found =
        only(&Fake::new().with(enabled, "always madvise [never]"), "huge_pages", Level::Costs);
    assert!(found.commands[0].starts_with("echo madvise | sudo tee /sys/kernel/mm/"), "{found:?}");
    assert_eq!(examine(&Fake::new().with(enabled, "[always] madvise never").machine()), []);
}

#[test]
fn a_cpu_without_counters_is_only_good_to_know() {
    let fake = Fake::new().without("sys/bus/event_source/devices/cpu");
    only(&fake, "counters", Level::Note);
}

#[test]
fn a_kernel_whose_enlarged_pipes_may_stand_still_is_named() {
    let found = only(
        &Fake::new().with("proc/sys/kernel/osrelease", "6.1.66-91.160.amzn2023.x86_64\n"),
        "kernel",
        Level::Costs,
    );
    assert_eq!((found.source, found.commands[0].contains("--no-tune")), ("CVE-2023-52672", true));
    let debian = Fake::new().with("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    let debian = debian
        .with("proc/version", "Linux version 6.1.0-18-amd64 (x@y) #1 SMP Debian 6.1.76-1 (2024)\n");
    assert_eq!((examine(&debian.machine()), debian.machine().unread), (vec![], vec![]));
    let ubuntu = Fake::new().with("proc/sys/kernel/osrelease", "5.15.0-105-generic\n").machine();
    assert_eq!(examine(&ubuntu), []);
    assert!(ubuntu.unread[0].what.contains("CVE-2023-52672"), "{ubuntu:?}");
}
