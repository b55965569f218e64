//! The exit status is the one the shell would have returned, a death by signal included.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::bad_input::assert_message;
use crate::sandbox::{Sandbox, finish, fullbore, is_installed, status_text};

fn status_of(args: &[&str]) -> String {
    status_text(Sandbox::new().run(args).status)
}

#[test]
fn every_kind_of_code_is_passed_on() {
    for code in [0, 1, 2, 3, 42, 124, 125, 126, 127, 128, 130, 141, 143, 200, 255] {
        assert_eq!(status_of(&["run", "-q", &format!("exit {code}")]), format!("exit {code}"));
    }
}

#[test]
fn a_shell_that_dies_by_a_signal_makes_fullbore_die_by_it() {
    for (name, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("KILL", 9),
        ("SEGV", 11),
        ("PIPE", 13),
        ("TERM", 15),
    ] {
        let line = format!("ulimit -c 0; kill -{name} $$");
        assert_eq!(status_of(&["run", "-q", &line]), format!("signal {number}"), "{line}");
    }
}

#[test]
fn a_calling_shell_sees_128_plus_the_signal() {
    let place = Sandbox::new();
    let mut command = place.command("sh");
    command.args(["-c", r#""$@"; echo $?"#, "around"]).arg(crate::sandbox::fullbore());
    command.args(["run", "-q", "kill -TERM $$"]);
    assert_eq!(finish(command).stdout, b"143\n");
}

#[test]
fn a_command_without_a_shell_gets_its_words_untouched() {
    let ended = Sandbox::new()
        .run(&["run", "-q", "--", "printf", "<%s>", "a b", "*", "$HOME", "", "--help", "-q", "ž"]);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "<a b><*><$HOME><><--help><-q><ž>");
    assert_eq!(status_text(ended.status), "exit 0");
}

#[test]
fn a_command_without_a_shell_passes_its_status_on() {
    assert_eq!(status_of(&["run", "-q", "--", "true"]), "exit 0");
    assert_eq!(status_of(&["run", "-q", "--", "false"]), "exit 1");
    assert_eq!(status_of(&["run", "-q", "--", "sh", "-c", "exit 42"]), "exit 42");
    assert_eq!(status_of(&["run", "-q", "--", "sh", "-c", "kill -TERM $$"]), "signal 15");
}

#[test]
fn a_command_that_is_not_found_is_127() {
    let ended = Sandbox::new().run(&["run", "--", "no-such-command-here", "x"]);
    assert_eq!(status_text(ended.status), "exit 127");
    assert!(ended.stderr.starts_with("fullbore: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("no-such-command-here"), "{}", ended.stderr);
    assert_eq!(status_of(&["run", "-q", "--", "/no/such/place/command"]), "exit 127");
}

#[test]
fn a_command_that_cannot_be_executed_is_126() {
    let place = Sandbox::new();
    std::fs::write(place.path("plain"), "text").unwrap();
    let ended = place.run(&["run", "--", "./plain"]);
    assert_eq!(status_text(ended.status), "exit 126");
    assert!(ended.stderr.starts_with("fullbore: "), "{}", ended.stderr);
    assert!(ended.stderr.contains("./plain"), "{}", ended.stderr);
    assert_eq!(status_of(&["run", "-q", "--", "/"]), "exit 126");
}

#[test]
fn a_thread_that_is_refused_is_125_and_nothing_was_started() {
    require!(
        rustix::process::geteuid().is_root() && is_installed("setpriv"),
        "only root can become another user"
    );
    let place = Sandbox::new();
    place.copy_program(fullbore(), "fullbore-copy");
    fs::set_permissions(place.path("."), fs::Permissions::from_mode(0o777)).unwrap();
    // A user of its own for each run of the tests: the limit counts the processes and threads of a user.
    let user = 60_000 + std::process::id() % 5_000;
    let limited_to = |count: u32, command: &str| {
        let become_user = format!("setpriv --reuid {user} --regid {user} --clear-groups");
        let mut bash = place.command("bash");
        bash.args(["-c", &format!("ulimit -u {count}; exec {become_user} {command}")]);
        finish(bash)
    };
    let is_limited = !limited_to(1, "sh -c '(:); :'").status.success();
    require!(is_limited, "this machine does not limit the processes of a user");
    let run = "./fullbore-copy run -q 'touch ran'";
    // Room for fullbore alone: it cannot listen for signals. With one thread more, it cannot wait for the pipeline.
    for count in [1, 2] {
        let ended = limited_to(count, run);
        assert_eq!(status_text(ended.status), "exit 125", "{count}: {}", ended.stderr);
        assert_message(&ended, "run: starting a thread: Resource temporarily unavailable");
        assert!(!place.path("ran").exists(), "{count}: the pipeline ran");
    }
    // With both threads there is no room for the shell, which was not tried before.
    let ended = limited_to(3, run);
    assert_eq!(status_text(ended.status), "exit 126", "{}", ended.stderr);
    assert!(!place.path("ran").exists(), "the pipeline was started before the threads");
    let ended = limited_to(100, run);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert!(place.path("ran").exists());
}

#[test]
fn the_record_has_the_status_too() {
    assert_eq!(Sandbox::new().record(&[], "seq 3 | cat >/dev/null; exit 9").exit_status, Some(9));
    assert_eq!(Sandbox::new().record(&[], "kill -TERM $$").exit_status, Some(143));
}
