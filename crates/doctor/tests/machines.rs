//! Machines with one thing wrong, each as files and folders: it is named, and nothing else is.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod fake;

use std::fs;

use fake::Fake;
use fullbore_doctor::{Attempt, Finding, Level, Machine, examine};
use fullbore_measure::Bytes;

fn names(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.name).collect()
}

/// The only finding of a machine of which everything is known.
fn only(fake: &Fake, name: &str, level: Level) -> Finding {
    let machine = fake.machine();
    assert_eq!(machine.unread, [], "{name}");
    let findings = examine(&machine);
    assert_eq!(names(&findings), [name], "{findings:#?}");
    assert_eq!(findings[0].level, level, "{findings:#?}");
    assert!(!findings[0].consequence.is_empty(), "{findings:#?}");
    findings[0].clone()
}

fn unread(machine: &Machine) -> Vec<&str> {
    machine.unread.iter().map(|unread| unread.what.as_str()).collect()
}

#[test]
fn a_clean_machine_has_no_finding() {
    let machine = Fake::new().machine();
    assert_eq!(machine.unread, []);
    assert_eq!(names(&examine(&machine)), Vec::<&str>::new());
}

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
    for harmless in ["0", "1"] {
        assert_eq!(examine(&Fake::new().with(scope, harmless).machine()), []);
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
fn a_quota_of_the_second_version_is_named_with_how_often_it_stopped() {
    let fake = Fake::new().with("sys/fs/cgroup/job/cpu.max", "150000 100000");
    let fake =
        fake.with("sys/fs/cgroup/job/cpu.stat", "usage_usec 9\nnr_periods 100\nnr_throttled 40\n");
    let found = only(&fake, "cpu_quota", Level::Costs);
    assert!(found.what.contains("1.5 of 4 CPUs") && found.what.contains("40 of 100"), "{found:?}");
    assert_eq!(found.commands, ["echo max | sudo tee /sys/fs/cgroup/job/cpu.max"]);
    assert_eq!(found.undo, ["echo '150000 100000' | sudo tee /sys/fs/cgroup/job/cpu.max"]);
}

#[test]
fn of_nested_quotas_the_tightest_counts_and_all_tight_ones_are_lifted() {
    let fake = Fake::new().with("proc/self/cgroup", "0::/a/b/c\n");
    let fake = fake.with("sys/fs/cgroup/a/b/c/cpu.max", "800000 100000");
    let fake = fake
        .with("sys/fs/cgroup/a/b/cpu.max", "200000 100000")
        .with("sys/fs/cgroup/a/cpu.max", "50000 100000");
    let found = only(&fake, "cpu_quota", Level::Costs);
    assert!(found.what.contains(" 0.5 of 4"), "{found:?}");
    assert_eq!(found.commands.len(), 2, "{found:?}");
    assert!(
        found.undo[0].contains("/a/b/cpu.max") && found.undo[1].contains("/a/cpu.max"),
        "{found:?}"
    );
}

#[test]
fn a_quota_above_the_cpus_costs_only_if_it_stopped_the_group() {
    let fake = Fake::new().with("sys/fs/cgroup/job/cpu.max", "800000 100000");
    assert_eq!(examine(&fake.machine()), []);
    let fake = fake.with("sys/fs/cgroup/job/cpu.stat", "nr_periods 9\nnr_throttled 3\n");
    only(&fake, "cpu_quota", Level::Costs);
}

#[test]
fn a_quota_of_the_first_version_is_named() {
    let fake = Fake::new().with("proc/self/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/job\n0::/\n");
    let fake = fake.with("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000");
    let fake = fake.with("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
    let fake = fake.with(
        "sys/fs/cgroup/cpu,cpuacct/job/cpu.stat",
        "nr_periods 7\nnr_throttled 7\nthrottled_time 1\n",
    );
    let found = only(&fake, "cpu_quota", Level::Costs);
    assert!(found.what.contains("0.5 of 4") && found.what.contains("7 of 7"), "{found:?}");
    assert_eq!(
        found.commands,
        ["echo -1 | sudo tee /sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us"]
    );
    let none = fake.with("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1");
    assert_eq!(examine(&none.machine()), []);
}

#[test]
fn the_quota_of_a_container_is_set_from_outside() {
    let fake = Fake::new()
        .with("proc/self/cgroup", "0::/docker/0123\n")
        .with("sys/fs/cgroup/cpu.max", "100000 100000");
    let found = only(&fake, "cpu_quota", Level::Costs);
    assert!(found.commands[0].starts_with("docker update --cpus 4 "), "{found:?}");
    assert!(found.undo[0].starts_with("docker update --cpus 1 "), "{found:?}");
}

#[test]
fn a_group_that_was_stopped_to_give_memory_back_is_named() {
    let fake = Fake::new().with("sys/fs/cgroup/job/memory.high", "1000000");
    assert_eq!(examine(&fake.machine()), []);
    let found = only(
        &fake.with("sys/fs/cgroup/job/memory.events", "low 0\nhigh 12\nmax 0\n"),
        "memory_high",
        Level::Costs,
    );
    assert!(found.what.contains("12 times"), "{found:?}");
}

#[test]
fn a_memory_limit_is_named_when_little_is_left_or_programs_were_killed() {
    let group = "sys/fs/cgroup/job";
    let fake = Fake::new().with(&format!("{group}/memory.max"), "1073741824");
    let roomy = fake.with(&format!("{group}/memory.current"), "1073000000");
    let roomy = roomy
        .with(&format!("{group}/memory.stat"), "anon 1\ninactive_file 900000000\nactive_file 0\n");
    assert_eq!(examine(&roomy.machine()), [], "page cache can be taken back");
    let found = only(
        &roomy.with(&format!("{group}/memory.stat"), "anon 1\n"),
        "memory_limit",
        Level::Costs,
    );
    assert_eq!(found.undo, ["echo 1073741824 | sudo tee /sys/fs/cgroup/job/memory.max"]);
    let fake = Fake::new().with(&format!("{group}/memory.max"), "1073741824");
    let found = only(
        &fake.with(&format!("{group}/memory.events"), "max 9\noom 3\noom_kill 3\n"),
        "memory_limit",
        Level::Costs,
    );
    assert!(found.what.contains("killed 3"), "{found:?}");
}

#[test]
fn a_memory_limit_of_the_first_version_is_named() {
    let fake = Fake::new().with("proc/self/cgroup", "4:memory:/job\n");
    let fake = fake.with("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000000000");
    let fake = fake.with("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "990000000");
    let fake = fake.with("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    let found = only(&fake, "memory_limit", Level::Costs);
    assert_eq!(
        found.commands,
        ["echo -1 | sudo tee /sys/fs/cgroup/memory/job/memory.limit_in_bytes"]
    );
}

#[test]
fn pressure_is_named_by_what_programs_wait_for() {
    let some = |share: &str| {
        format!(
            "some avg10=0.00 avg60={share} avg300=0.00 total=1\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
        )
    };
    only(&Fake::new().with("proc/pressure/cpu", &some("61.00")), "cpu_pressure", Level::Costs);
    only(&Fake::new().with("proc/pressure/memory", &some("9.50")), "memory_pressure", Level::Costs);
    let full = some("90.00").replace("full avg10=0.00 avg60=0.00", "full avg10=0.00 avg60=45.00");
    only(&Fake::new().with("proc/pressure/io", &full), "disk_pressure", Level::Costs);
    assert_eq!(examine(&Fake::new().with("proc/pressure/cpu", &some("3.00")).machine()), []);
}

#[test]
fn time_that_the_host_took_is_named() {
    let found = only(
        &Fake::new().with("proc/stat", "cpu  100 0 100 600 0 0 0 200 0 0\n"),
        "stolen_time",
        Level::Costs,
    );
    assert!(found.what.contains("20 %"), "{found:?}");
}

#[test]
fn swap_in_use_matters_when_memory_is_short() {
    let memory = |available: u32, free: u32| {
        format!(
            "MemTotal: 8000000 kB\nMemAvailable: {available} kB\nSwapTotal: 8000000 kB\nSwapFree: {free} kB\n"
        )
    };
    assert_eq!(
        examine(&Fake::new().with("proc/meminfo", &memory(4_000_000, 7_000_000)).machine()),
        []
    );
    only(&Fake::new().with("proc/meminfo", &memory(4_000_000, 1_000_000)), "memory", Level::Note);
    only(&Fake::new().with("proc/meminfo", &memory(400_000, 1_000_000)), "memory", Level::Costs);
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

#[test]
fn cpus_at_their_lowest_speed_are_named_but_not_where_powersave_is_the_usual_mode() {
    let policy = |governor: &str, driver: &str| {
        let folder = "sys/devices/system/cpu/cpufreq/policy0";
        let fake = Fake::new().with(&format!("{folder}/scaling_governor"), governor);
        let fake = fake.with(&format!("{folder}/scaling_driver"), driver);
        fake.with(&format!("{folder}/scaling_min_freq"), "800000")
            .with(&format!("{folder}/cpuinfo_max_freq"), "3600000")
    };
    let found = only(&policy("powersave", "acpi-cpufreq"), "governor", Level::Costs);
    assert!(found.consequence.contains("0.8 of 3.6 GHz"), "{found:?}");
    only(&policy("schedutil", "acpi-cpufreq"), "governor", Level::Note);
    for (governor, driver) in [
        ("powersave", "intel_pstate"),
        ("powersave", "amd-pstate-epp"),
        ("performance", "acpi-cpufreq"),
    ] {
        assert_eq!(examine(&policy(governor, driver).machine()), [], "{governor} {driver}");
    }
}

#[test]
fn threads_that_share_cores_are_only_good_to_know() {
    let smt = "sys/devices/system/cpu/smt";
    only(&Fake::new().with(&format!("{smt}/active"), "1"), "smt", Level::Note);
    let off = Fake::new()
        .with(&format!("{smt}/control"), "off")
        .with("sys/devices/system/cpu/online", "0-1");
    let off = off.with("proc/self/status", &fake::STATUS.replace("0-3", "0-1"));
    only(&off, "cpus_off", Level::Note);
}

#[test]
fn sleeping_cpus_of_a_virtual_machine_are_named() {
    let guest = Fake::new().with("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lm\n");
    only(&guest, "wake_ups", Level::Note);
    let idle = "sys/devices/system/cpu/cpuidle/current_governor";
    let poll = "sys/module/haltpoll/parameters/guest_halt_poll_ns";
    let guest = guest.with(idle, "haltpoll").with(poll, "0");
    let found = only(&guest, "wake_ups", Level::Costs);
    assert_eq!(found.commands, [format!("echo 200000 | sudo tee /{poll}")]);
    assert_eq!(found.source, "docs/wake-ups.md");
    assert_eq!(examine(&guest.with(poll, "200000").machine()), []);
    let one = guest.with("proc/self/status", &fake::STATUS.replace("0-3", "0"));
    assert_eq!(names(&examine(&one.machine())), ["cpus"], "one CPU wakes no other");
}

#[test]
fn fewer_usable_cpus_are_named_with_who_allows_fewer() {
    let few = fake::STATUS.replace("0-3", "1");
    let found = only(&Fake::new().with("proc/self/status", &few), "cpus", Level::Costs);
    assert!(found.what.contains("1 of 4") && found.commands == ["taskset -pc 0-3 $$"], "{found:?}");
    let fake =
        Fake::new().with("proc/self/status", &few).with("sys/fs/cgroup/job/cpuset.cpus", "1\n");
    let found = only(&fake, "cpus", Level::Costs);
    assert_eq!(found.commands, ["echo 0-3 | sudo tee /sys/fs/cgroup/job/cpuset.cpus"]);
    assert_eq!(found.undo, ["echo 1 | sudo tee /sys/fs/cgroup/job/cpuset.cpus"]);
}

#[test]
fn cpus_that_are_switched_off_are_named_and_those_that_could_be_plugged_in_are_not() {
    let fake = Fake::new().with("sys/devices/system/cpu/online", "0-1");
    let fake = fake.with("proc/self/status", &fake::STATUS.replace("0-3", "0-1"));
    let found = only(&fake, "cpus_off", Level::Costs);
    assert!(found.commands[0].starts_with("for n in 2 3; do echo 1 "), "{found:?}");
    assert_eq!(
        examine(&Fake::new().with("sys/devices/system/cpu/possible", "0-127").machine()),
        []
    );
}

#[test]
fn what_costs_comes_first() {
    let fake = Fake::new().with("sys/devices/system/cpu/smt/active", "1");
    let fake = fake
        .with("proc/sys/kernel/yama/ptrace_scope", "2")
        .with("proc/sys/fs/pipe-max-size", "4096");
    assert_eq!(names(&examine(&fake.machine())), ["pipe_size", "ptrace_scope", "smt"]);
}

#[test]
fn empty_and_nonsensical_files_are_unknown_and_no_finding() {
    for text in ["", "\n", "nonsense\n", "-7 x\n", "99999999999999999999999\n", "\u{0}\u{1}"] {
        for file in [
            "proc/sys/fs/pipe-max-size",
            "proc/sys/fs/pipe-user-pages-soft",
            "proc/sys/kernel/yama/ptrace_scope",
            "proc/sys/kernel/osrelease",
            "proc/meminfo",
            "proc/stat",
            "proc/self/mounts",
            "proc/pressure/cpu",
            "sys/kernel/mm/transparent_hugepage/enabled",
            "sys/devices/system/cpu/online",
        ] {
            let machine = Fake::new().with(file, text).machine();
            assert_eq!(unread(&machine), [format!("/{file}")], "{file} {text:?}");
            assert_eq!(examine(&machine), [], "{file} {text:?}");
        }
        let machine = Fake::new().with("sys/fs/cgroup/job/cpu.max", text).machine();
        assert_eq!(unread(&machine), ["/sys/fs/cgroup/job/cpu.max"], "{text:?}");
        assert_eq!(examine(&machine), [], "cpu.max {text:?}");
    }
}

#[test]
fn missing_files_that_every_linux_has_are_unknown() {
    for file in [
        "proc/sys/fs/pipe-max-size",
        "proc/meminfo",
        "proc/stat",
        "proc/cpuinfo",
        "proc/pressure/cpu",
    ] {
        let machine = Fake::new().without(file).machine();
        assert_eq!(unread(&machine), [format!("/{file}")]);
        assert_eq!(examine(&machine), [], "{file}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_unknown_with_the_reason() {
    // A folder in its place cannot be read even by root.
    let fake = Fake::new().without("proc/sys/kernel/perf_event_paranoid");
    fs::create_dir(fake.path("proc/sys/kernel/perf_event_paranoid")).unwrap();
    let machine = fake.machine();
    assert_eq!(unread(&machine), ["/proc/sys/kernel/perf_event_paranoid"]);
    assert_eq!(machine.unread[0].why, "Is a directory");
}

#[test]
fn a_container_without_sys_says_so_in_one_line() {
    let machine = Fake::new().without("sys").machine();
    assert_eq!(unread(&machine), ["/sys"]);
    assert_eq!(examine(&machine), []);
}

#[test]
fn without_proc_nothing_is_taken_as_fine() {
    let machine = Fake::new().without("proc").machine();
    assert!(machine.unread.len() >= 8, "{:#?}", machine.unread);
    assert_eq!(examine(&machine), []);
}

#[test]
fn this_machine_can_be_examined() {
    let machine =
        Machine::read(fullbore_doctor::Places::system(), fullbore_doctor::Attempts::make());
    for finding in examine(&machine) {
        assert!(!finding.what.is_empty() && !finding.consequence.is_empty(), "{finding:?}");
    }
}
