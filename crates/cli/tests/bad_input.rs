//! Bad input and hostile surroundings: a clear message or a marked gap, never a panic, never a changed result.

use std::os::unix::fs::PermissionsExt;

use crate::sandbox::{Ended, Sandbox, finish, fullbore, is_installed, status_text};
use crate::terminal::Terminal;

const NOBODY: &str = "65534";

/// What a message of ours must look like.
pub(crate) fn assert_message(ended: &Ended, about: &str) {
    let text = &ended.stderr;
    assert!(
        text.starts_with("fullbore: ") || text.starts_with("error: "),
        "not a message of ours: {text}"
    );
    assert!(text.contains(about), "'{about}' is not named: {text}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(text.lines().filter(|line| line.starts_with("hint:")).count() <= 1, "{text}");
    assert_eq!(ended.stdout, b"", "stdout is for data");
    crate::advice::assert_hint_is_understood(text);
}

fn program() -> String {
    fullbore().to_str().unwrap().to_owned()
}

#[test]
fn a_missing_pipeline_is_bad_usage() {
    let ended = Sandbox::new().run(&["run"]);
    assert_eq!(status_text(ended.status), "exit 2");
    assert_message(&ended, "PIPELINE");
    assert_eq!(status_text(Sandbox::new().run(&["run", "--"]).status), "exit 2");
}

#[test]
fn an_unknown_option_or_command_is_bad_usage() {
    let ended = Sandbox::new().run(&["run", "--no-such-option", "true"]);
    assert_eq!(status_text(ended.status), "exit 2");
    assert_message(&ended, "--no-such-option");
    let ended = Sandbox::new().run(&["no-such-command"]);
    assert_eq!(status_text(ended.status), "exit 2");
    assert_message(&ended, "no-such-command");
    assert_eq!(
        status_text(Sandbox::new().run(&["run", "--live", "sometimes", "true"]).status),
        "exit 2"
    );
    assert_eq!(status_text(Sandbox::new().run(&["run", "true", "two lines"]).status), "exit 2");
}

#[test]
fn an_unknown_shell_is_named() {
    for shell in ["no-such-shell", "/no/such/shell"] {
        let place = Sandbox::new();
        let ended = place.run(&["run", "--shell", shell, "touch ran"]);
        assert!(
            ["exit 125", "exit 127"].contains(&status_text(ended.status).as_str()),
            "{:?}",
            ended.status
        );
        assert_message(&ended, shell);
        assert!(!place.path("ran").exists());
    }
}

#[test]
fn a_size_out_of_range_is_named_before_anything_runs() {
    for size in ["0", "-1", "1Q", "", "1.5M", "99999999T", "8G", "K"] {
        let place = Sandbox::new();
        let ended = place.run(&["run", &format!("--pipe-size={size}"), "touch ran"]);
        assert_eq!(status_text(ended.status), "exit 2", "{size}: {}", ended.stderr);
        assert_message(&ended, size);
        assert!(!place.path("ran").exists(), "{size}: the pipeline ran");
    }
}

#[test]
fn a_report_that_cannot_be_written_is_said_before_the_pipeline_starts() {
    for path in ["no/such/folder/x.json", "/proc/x.json", "folder.json", "x.pdf", "x"] {
        let place = Sandbox::new();
        std::fs::create_dir(place.path("folder.json")).unwrap();
        let ended = place.run(&["run", "--report", path, "touch ran"]);
        assert!(
            ["exit 2", "exit 125"].contains(&status_text(ended.status).as_str()),
            "{path}: {:?}",
            ended.status
        );
        assert_message(&ended, path);
        assert!(!place.path("ran").exists(), "{path}: the pipeline ran");
    }
}

#[test]
fn a_report_on_a_full_disk_does_not_change_the_result() {
    let place = Sandbox::new();
    std::os::unix::fs::symlink("/dev/full", place.path("full.json")).unwrap();
    let ended = place.run(&["run", "-q", "--report", "full.json", "seq 3 | cat; exit 3"]);
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 3", &b"1\n2\n3\n"[..])
    );
    assert!(
        ended.stderr.contains("full.json") && !ended.stderr.contains("panicked"),
        "{}",
        ended.stderr
    );
}

#[test]
fn errors_of_the_shell_are_the_shells() {
    for (line, status) in
        [("echo a | | cat", "exit 2"), ("no-such-command-here", "exit 127"), ("/", "exit 126")]
    {
        let place = Sandbox::new();
        let mut plain = place.command("sh");
        plain.args(["-c", line]);
        let (plain, ours) = (finish(plain), place.run(&["run", "-q", line]));
        assert_eq!(status_text(plain.status), status);
        assert_eq!(
            (status_text(ours.status), ours.stderr),
            (status_text(plain.status), plain.stderr)
        );
    }
}

#[test]
fn a_line_that_is_not_utf8_is_a_line() {
    use std::os::unix::ffi::OsStrExt;
    let line = std::ffi::OsStr::from_bytes(b"printf '\xff\xfe' | cat");
    let mut command = Sandbox::new().command(fullbore());
    command.current_dir("/").args(["run", "-q"]).arg(line);
    let ended = finish(command);
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 0", &b"\xff\xfe"[..])
    );
}

#[test]
fn no_escape_sequence_leaves_when_stderr_is_no_terminal() {
    let ended = Sandbox::new().run(&["run", "seq 200000 | sort | tail -1"]);
    assert!(!ended.stderr.contains('\x1b'), "{:?}", ended.stderr);
    assert!(
        ended.stderr.lines().all(|line| line.chars().count() <= 100),
        "too wide: {}",
        ended.stderr
    );
}

#[test]
fn no_color_and_a_dumb_terminal_are_respected() {
    let line = "seq 1000000 | sort | tail -1";
    let place = Sandbox::new();
    let mut terminal = Terminal::start(
        &place,
        80,
        24,
        &[&program(), "run", "--live", "never", line],
        &[("NO_COLOR", "1")],
    );
    let (status, shown) = terminal.wait_for_end();
    assert_eq!(status_text(status), "exit 0", "{shown}");
    assert!(shown.contains("sort") && !shown.contains("\x1b[3"), "{shown:?}");

    let place = Sandbox::new();
    let mut terminal =
        Terminal::start(&place, 80, 24, &[&program(), "run", line], &[("TERM", "dumb")]);
    let (status, shown) = terminal.wait_for_end();
    assert_eq!(status_text(status), "exit 0", "{shown}");
    assert!(shown.contains("999999") && shown.contains("sort"), "{shown:?}");
    assert!(!shown.contains('\x1b'), "{shown:?}");
}

#[test]
fn a_tiny_terminal_changes_nothing() {
    for (columns, rows) in [(20, 10), (1, 1), (0, 0), (300, 2)] {
        let place = Sandbox::new();
        let line = "seq 2000000 | sort | tail -1 >result; exit 3";
        let mut terminal = Terminal::start(
            &place,
            columns,
            rows,
            &[&program(), "run", "--live", "always", line],
            &[],
        );
        let (status, shown) = terminal.wait_for_end();
        assert_eq!(status_text(status), "exit 3", "{columns}×{rows}: {shown}");
        assert!(!shown.contains("panicked"), "{shown}");
        assert_eq!(std::fs::read(place.path("result")).unwrap(), b"999999\n");
        terminal.assert_settings_unchanged();
    }
}

#[test]
fn live_always_without_a_terminal_changes_nothing() {
    let ended = Sandbox::new().run(&["run", "--live", "always", "seq 300000 | tail -1; exit 3"]);
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 3", &b"300000\n"[..])
    );
    // Nothing is drawn where nobody could see it: no escape code, and of the run no more than without a live view.
    assert!(!ended.stderr.contains(['\x1b', '\r']), "{:?}", ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

/// Runs a script as root in a mount namespace of its own; `None` when that is not allowed.
pub(crate) fn in_own_mounts(place: &Sandbox, prepare: &str, run: &str) -> Option<Ended> {
    let mut command = place.command("unshare");
    command.args([
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        &format!("{{ {prepare}; }} || exit 99\n{run}"),
        "around",
    ]);
    command.arg(fullbore());
    let ended = finish(command);
    (is_root() && ended.status.code() != Some(99)).then_some(ended)
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn everyone_may_enter(place: &Sandbox) {
    std::fs::set_permissions(place.path(""), std::fs::Permissions::from_mode(0o777)).unwrap();
}

/// A copy of the binary that a user without rights can reach.
fn reachable_copy(place: &Sandbox) {
    place.copy_program(fullbore(), "fullbore-copy");
    everyone_may_enter(place);
}

#[test]
fn proc_with_hidepid_changes_nothing() {
    require_programs!("unshare", "setpriv");
    let place = Sandbox::new();
    reachable_copy(&place);
    let as_nobody = format!(
        "exec setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups ./fullbore-copy run -q --report report.json \
         'seq 3000000 | sort | tail -1; exit 3'"
    );
    let ended = in_own_mounts(&place, "mount -t proc -o hidepid=2 proc /proc", &as_nobody);
    require!(ended.is_some(), "mounting /proc with hidepid is not allowed here");
    let ended = ended.unwrap();
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 3", &b"999999\n"[..]),
        "{}",
        ended.stderr
    );
    assert_eq!(place.read_record().stages.len(), 3, "own processes are visible with hidepid, too");
}

#[test]
fn without_proc_the_pipeline_runs_and_the_gap_is_marked() {
    require_programs!("unshare");
    let place = Sandbox::new();
    let run = r#"exec "$1" run -q --report report.json 'seq 300000 | sort | tail -1; exit 3'"#;
    let ended = in_own_mounts(&place, "mount -t tmpfs none /proc", run);
    require!(ended.is_some(), "covering /proc is not allowed here");
    let ended = ended.unwrap();
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 3", &b"99999\n"[..]),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    assert!(
        !place.read_record().gaps.is_empty(),
        "nothing could be observed, and the record does not say so"
    );
}

#[test]
fn a_stage_of_another_user_is_a_marked_gap() {
    require!(is_root(), "only root can make a program that runs as another user");
    require_programs!("setpriv");
    let place = Sandbox::new();
    reachable_copy(&place);
    let cat = place.copy_program("/bin/cat", "cat-of-root");
    std::fs::set_permissions(&cat, std::fs::Permissions::from_mode(0o4755)).unwrap();
    let mut command = place.command("setpriv");
    command.args([
        "--reuid",
        NOBODY,
        "--regid",
        NOBODY,
        "--clear-groups",
        "./fullbore-copy",
        "run",
        "-q",
    ]);
    command.args([
        "--report",
        "report.json",
        "{ seq 100000; sleep 0.6; seq 5; } | ./cat-of-root | tail -1; exit 3",
    ]);
    let ended = finish(command);
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 3", &b"5\n"[..]),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    let record = place.read_record();
    let foreign = record.stages.iter().find(|stage| stage.command.contains("cat-of-root"));
    let is_unknown = foreign
        .is_some_and(|stage| stage.blocked_reading_percent.is_none() && stage.read_bytes.is_none());
    assert!(is_unknown, "what cannot be seen is made up: {record:#?}");
    let is_said = record.gaps.iter().any(|gap| gap.contains("cat-of-root"));
    assert!(is_said, "the gap is not said: {record:#?}");
}

#[test]
fn calls_that_are_forbidden_change_nothing() {
    require_programs!("strace");
    let line = "seq 300000 | sort -n | tail -1; exit 3";
    for call in [
        "pidfd_open",
        "pidfd_send_signal",
        "sched_getaffinity",
        "fcntl",
        "prctl",
        "getrusage",
        "sysinfo",
    ] {
        for error in ["EPERM", "ENOSYS"] {
            let inject = format!("inject={call}:error={error}");
            let under_strace = |words: &[&str]| {
                // Without -f: the calls of fullbore fail, not those of the stages.
                let mut command = Sandbox::new().command("strace");
                command
                    .current_dir("/")
                    .args(["-qq", "-o", "/dev/null", "-e", &inject])
                    .args(words);
                finish(command)
            };
            let ended = under_strace(&[&program(), "run", "-q", line]);
            assert_eq!(status_text(ended.status), "exit 3", "{call} {error}: {}", ended.stderr);
            assert_eq!(ended.stdout, b"300000\n", "{call} {error}");
            assert!(!ended.stderr.contains("panicked"), "{call} {error}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_user_over_quota_gets_the_same_result() {
    require!(is_root() && is_installed("setpriv"), "only root can become another user");
    let place = Sandbox::new();
    reachable_copy(&place);
    let fill = "for i in 1 2 3 4 5 6 7 8; do yes | head -c 100000; done | cat | wc -c; exit 3";
    let mut command = place.command("setpriv");
    command.args([
        "--reuid",
        "65533",
        "--regid",
        "65533",
        "--clear-groups",
        "./fullbore-copy",
        "run",
        "-q",
    ]);
    command.args(["--pipe-size", "1M", fill]);
    let ended = finish(command);
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 3", &b"800000\n"[..]),
        "{}",
        ended.stderr
    );
}

#[test]
fn few_descriptors_are_enough() {
    let mut command = Sandbox::new().command("sh");
    command.current_dir("/").args([
        "-c",
        r#"ulimit -n 16; exec "$1" run -q 'seq 9 | cat | tail -1'"#,
        "around",
    ]);
    let ended = finish({
        command.arg(fullbore());
        command
    });
    assert_eq!(
        (status_text(ended.status).as_str(), &ended.stdout[..]),
        ("exit 0", &b"9\n"[..]),
        "{}",
        ended.stderr
    );
}
