//! `fullbore par` in lines of many shells: quoting, statuses of pipelines, and Ctrl-C.

use rustix::process::{Pid, Signal, kill_process_group};

use crate::processes::{marked, running};
use crate::sandbox::{Sandbox, eventually, finish, fullbore, is_installed, wait_or_kill};

/// Shells that understand a line of POSIX, and how they name the statuses of the last pipeline.
const SHELLS: [(&str, Option<&str>); 8] = [
    ("dash", None),
    ("bash", Some("${PIPESTATUS[*]}")),
    ("zsh", Some("$pipestatus")),
    ("ksh93", None),
    ("mksh", Some("${PIPESTATUS[*]}")),
    ("yash", None),
    ("fish", Some("$pipestatus")),
    ("busybox", None),
];

/// Shells with `set -o pipefail` in every version that is in use.
const PIPEFAIL: [&str; 6] = ["bash", "zsh", "ksh93", "mksh", "yash", "busybox"];

fn command(place: &Sandbox, shell: &str, text: &str) -> std::process::Command {
    let mut command = place.command(shell);
    if shell == "busybox" {
        command.arg("sh");
    }
    command.args(["-c", text]).env("fullbore", fullbore());
    command
}

/// What the shell prints; `None` if it is not installed.
fn prints(shell: &str, text: &str) -> Option<String> {
    if !is_installed(shell) {
        crate::require::skipped(&format!("{shell} is not installed"));
        return None;
    }
    let ended = finish(command(&Sandbox::new(), shell, text));
    assert_eq!(ended.stderr, "", "{shell}: {text}");
    Some(String::from_utf8(ended.stdout).unwrap())
}

#[test]
fn words_arrive_as_they_were_quoted() {
    for (shell, _) in SHELLS {
        // In fish, a dollar sign that begins no name needs a backslash.
        let end = if shell == "fish" { "\\$" } else { "$" };
        let script = format!("\"s/\\(.\\){end}/<\\1> 'q' \\\"x\\\" \\$HOME {{}} */\"");
        let text = format!(
            "seq 2000 | \"$fullbore\" par --block 100 sed {script} | cksum; seq 2000 | sed {script} | cksum"
        );
        if let Some(printed) = prints(shell, &text) {
            let sums: Vec<&str> = printed.lines().collect();
            assert_eq!(sums.len(), 2, "{shell}: {printed}");
            assert_eq!(sums[0], sums[1], "{shell}");
        }
    }
}

#[test]
fn the_status_is_seen_in_a_pipeline() {
    let fails = "seq 3 | \"$fullbore\" par -N1 -c 'exit 3' | cat";
    for (shell, statuses) in SHELLS {
        if let Some(statuses) = statuses {
            let printed = prints(shell, &format!("{fails}; echo {statuses}"));
            assert!(printed.is_none_or(|printed| printed == "0 3 0\n"), "{shell}");
        }
        if PIPEFAIL.contains(&shell) {
            let printed = prints(shell, &format!("set -o pipefail; {fails}; echo $?"));
            assert!(printed.is_none_or(|printed| printed == "3\n"), "{shell}");
        }
    }
}

#[test]
fn ctrl_c_ends_the_whole_line() {
    for (shell, _) in SHELLS {
        if !is_installed(shell) {
            crate::require::skipped(&format!("{shell} is not installed"));
            continue;
        }
        let place = Sandbox::new();
        let text = "yes abc | \"$fullbore\" par -j2 --block 10K sh -c 'cat; :' | cat >/dev/null";
        let mut child = command(&place, shell, text).spawn().unwrap();
        let started = eventually(|| running(place.mark(), "sh -c cat"));
        assert!(started.is_some(), "{shell}: no copy");
        kill_process_group(Pid::from_child(&child), Signal::INT).unwrap();
        wait_or_kill(&mut child, shell);
        let gone = eventually(|| marked(place.mark()).is_empty().then_some(()));
        assert!(gone.is_some(), "{shell}: something is left");
    }
}
