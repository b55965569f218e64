//! What is not known is neither fine nor a finding.

use std::fs;

use fullbore_doctor::{Attempts, Machine, Places, examine};

use crate::fake::Fake;
use crate::names;

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
    let guest = Fake::new().with("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lm\n");
    let machine = guest.without("sys").machine();
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
    let machine = Machine::read(Places::system(), Attempts::make());
    for finding in examine(&machine) {
        assert!(!finding.what.is_empty() && !finding.consequence.is_empty(), "{finding:?}");
    }
}
