//! How much of the machine there is for a pipeline: CPUs and memory.

use fullbore_doctor::{Level, examine};

use crate::fake::{self, Fake};
use crate::{names, only};

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
