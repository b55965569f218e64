//! The writer under a kernel that refuses: every byte arrives all the same, by a slower way.

use std::process::Command;

use crate::sandbox::{Sandbox, finish, with_fixture};

/// Runs `… write auto 24M | check`, the writer started by `prefix`; returns the way the writer ended with.
fn way_of(prefix: &str) -> String {
    let place = Sandbox::new();
    let line = format!(
        "set -o pipefail; FULLBORE_SEQUENCE_SAYS=1 {prefix} {{sequence}} write auto 24M | {{sequence}} check"
    );
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(&line)]);
    let ended = finish(command);
    assert!(ended.status.success(), "{line}: {:?}: {}", ended.status, ended.stderr);
    ended.stderr.lines().last().unwrap_or_default().to_owned()
}

/// A writer for which Linux answers a system call with an error.
fn injected(what: &str) -> String {
    let call = what.split(':').next().unwrap();
    way_of(&format!("strace -qq -o trace -e trace={call} -e inject={what}"))
}

/// Huge pages are refused to the writer and its children: prctl(2), PR_SET_THP_DISABLE on x86-64.
const NO_HUGE_PAGES: &str = "perl -e 'syscall(157, 41, 1, 0, 0, 0); exec @ARGV'";

/// A seccomp filter that answers splice (275) and vmsplice (278 on x86-64) with EPERM, as the profiles of containers do:
/// seccomp(2), and the instructions of linux/filter.h.
const FORBIDDEN: &str = r#"perl -e '$filter = join "", map { pack "SCCL", @$_ } [0x20, 0, 0, 0],
    [0x15, 0, 1, 278], [0x06, 0, 0, 0x50001], [0x15, 0, 1, 275], [0x06, 0, 0, 0x50001], [0x06, 0, 0, 0x7fff0000];
    $program = pack "S x6 P", 6, $filter;
    syscall(157, 38, 1, 0, 0, 0) == 0 and syscall(157, 22, 2, $program) == 0 or die "no filter: $!";
    exec @ARGV' "#;

#[test]
fn a_container_may_forbid_splice_and_vmsplice() {
    require!(cfg!(target_arch = "x86_64"), "the numbers of system calls are those of x86-64");
    require_programs!("perl");
    assert_eq!(way_of(FORBIDDEN), "copy");
    let place = Sandbox::new();
    for stage in ["buffer -q -m 8M", "utf8 check"] {
        let line = format!(
            "set -o pipefail; {{fullbore}} gen jsonl --rows 60000 | {FORBIDDEN} {{fullbore}} {stage} | \
             cmp - <({{fullbore}} gen jsonl --rows 60000)"
        );
        let mut command = place.command("bash");
        command.args(["-c", &with_fixture(&line)]);
        let ended = finish(command);
        assert!(ended.status.success(), "{stage}: {}", ended.stderr);
    }
}

#[test]
fn the_ring_is_used_where_nothing_stands_against_it() {
    assert_eq!(way_of(""), "ring");
}

#[test]
fn vmsplice_may_be_forbidden_from_the_start() {
    require_programs!("strace");
    for error in ["EPERM", "ENOSYS", "EOPNOTSUPP", "EINVAL"] {
        assert_eq!(injected(&format!("vmsplice:error={error}")), "copy", "{error}");
    }
}

#[test]
fn vmsplice_may_fail_in_the_middle() {
    require_programs!("strace");
    for error in ["ENOMEM", "EPERM"] {
        assert_eq!(injected(&format!("vmsplice:error={error}:when=7+")), "copy", "{error}");
    }
}

#[test]
fn vmsplice_may_be_interrupted() {
    require_programs!("strace");
    assert_eq!(injected("vmsplice:error=EINTR:when=5+3"), "ring");
}

#[test]
fn write_may_be_interrupted_or_find_no_room() {
    require_programs!("strace");
    for error in ["EINTR", "EAGAIN"] {
        assert_eq!(injected(&format!("write:error={error}:when=2..6+2")), "ring", "{error}");
    }
}

#[test]
fn a_write_that_fails_ends_the_stage_with_its_name_and_what_came_before() {
    require_programs!("strace");
    let place = Sandbox::new();
    let line = "set -o pipefail; strace -qq -o trace -e trace=write -e inject=write:error=EIO:when=3 \
                {fullbore} gen zero --bytes 8M | wc -c";
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(line)]);
    let ended = finish(command);
    assert_eq!(ended.status.code(), Some(2), "{}", ended.stderr);
    let said = "fullbore: gen: writing: standard output: Input/output error (after 262144 bytes)\n";
    assert_eq!(ended.stderr, said);
    assert_eq!(String::from_utf8(ended.stdout).unwrap().trim(), "262144");
}

#[test]
fn no_child_process_may_be_had_at_the_start_or_later() {
    require_programs!("strace");
    assert_eq!(injected("clone:error=EAGAIN"), "fresh");
    assert_eq!(injected("clone:error=EAGAIN:when=2+"), "fresh");
}

#[test]
fn the_pipe_may_not_be_grown() {
    require_programs!("strace");
    assert_eq!(injected("fcntl:error=EPERM"), "ring");
}

#[test]
fn memory_may_be_refused() {
    require_programs!("strace");
    // The first ones are the loader's and the allocator's own.
    let place = Sandbox::new();
    let line =
        "strace -qq -o trace -e trace=mmap {sequence} write auto 8 > /dev/null; grep -c mmap trace";
    let mut command = place.command("bash");
    command.args(["-c", &with_fixture(line)]);
    let needed: u32 = String::from_utf8(finish(command).stdout).unwrap().trim().parse().unwrap();
    assert_eq!(injected(&format!("mmap:error=ENOMEM:when={}+", needed + 1)), "copy");
}

#[test]
fn without_huge_pages_everything_is_copied() {
    require!(cfg!(target_arch = "x86_64"), "the number of prctl(2) is that of x86-64");
    require_programs!("perl");
    assert_eq!(way_of(NO_HUGE_PAGES), "copy");
}

#[test]
fn an_unprivileged_user_without_processes_or_pipe_pages_is_served() {
    require!(rustix::process::geteuid().is_root(), "only root can become another user");
    require_programs!("setpriv", "prlimit");
    let user = "setpriv --reuid 65534 --clear-groups";
    let is_reachable = Command::new("setpriv")
        .args(["--reuid", "65534", "--clear-groups", "test", "-x"])
        .arg(with_fixture("{sequence}"))
        .status();
    require!(
        is_reachable.is_ok_and(|status| status.success()),
        "another user cannot read the build folder"
    );
    assert_eq!(way_of(user), "ring");
    assert_eq!(way_of(&format!("prlimit --nproc=0 {user}")), "fresh");
}

#[test]
fn a_reader_that_leaves_ends_a_stage_that_lends_pages() {
    let place = Sandbox::new();
    let mut command = place.command("bash");
    let line = "{sequence} write auto 1G | head -c 5M | wc -c; echo ${PIPESTATUS[0]}";
    command.args(["-c", &with_fixture(line)]);
    let ended = finish(command);
    assert_eq!(ended.stdout, b"5242880\n1\n");
    assert!(ended.stderr.contains("Broken pipe"), "{}", ended.stderr);
}
