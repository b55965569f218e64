//! `fullbore sh` is the shell that it stands for.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::processes::{marked, running};
use crate::sandbox::{Sandbox, finish, fullbore, is_installed, status_text, within};
use crate::sh_scripts::{all, records};
use crate::terminal::SOON;

/// How many scripts there must be, so that the table is not emptied by accident.
const FEWEST: usize = 100;

#[test]
fn every_script_is_the_same_as_under_the_real_shell() {
    let scripts = all();
    assert!(scripts.len() >= FEWEST, "{} scripts", scripts.len());
    let mut differences = Vec::new();
    for script in &scripts {
        for shell in &script.shells {
            if !is_installed(shell) {
                crate::require::skipped(&format!("{}: {shell} is not installed", script.name));
                continue;
            }
            differences.extend(script.compare(shell).err());
        }
    }
    let count = differences.len();
    assert!(differences.is_empty(), "{count} differences:\n{}", differences.join("\n"));
}

#[test]
fn names_of_scripts_are_unique() {
    let mut names: Vec<_> = all().into_iter().map(|script| script.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// The process number that a script sees as its own, and the one that its caller started.
fn numbers(mut command: Command) -> (String, String) {
    command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let started = child.id().to_string();
    let said = child.wait_with_output().unwrap().stdout;
    (String::from_utf8(said).unwrap().trim().to_owned(), started)
}

#[test]
fn where_nothing_is_recorded_the_real_shell_takes_the_place_of_fullbore() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    fs::write(place.path("script"), "echo $$\n").unwrap();
    let recorded = |words: &[&str]| {
        let mut command = place.fullbore(&["sh"]);
        command.args(words).env("FULLBORE_RECORDS", folder.path());
        command
    };
    let is_in_place = |command| {
        let (seen, started) = numbers(command);
        seen == started
    };
    assert!(is_in_place(place.fullbore(&["sh", "-c", "echo $$; true"])), "no folder is set");
    assert!(is_in_place(recorded(&["-e", "script"])), "a script file");
    let mut empty = place.fullbore(&["sh", "-c", "echo $$; true"]);
    empty.env("FULLBORE_RECORDS", "");
    assert!(is_in_place(empty), "the folder is empty text");
    assert!(records(folder.path()).is_empty());
    assert!(!is_in_place(recorded(&["-c", "echo $$; true"])), "a line is watched");
    assert!(!is_in_place(recorded(&["--scripts", "-e", "script"])), "so is a script file");
    let commands: Vec<_> =
        records(folder.path()).into_iter().map(|(_, record)| record.command).collect();
    assert_eq!(commands, ["echo $$; true", "/bin/sh -e script"]);
}

#[test]
fn an_interactive_shell_is_the_real_one() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let program = fullbore();
    let words = [program.to_str().unwrap(), "sh", "-i", "-c", "echo in-$((40 + 2)); exit 3"];
    let folder_name = folder.path().to_str().unwrap();
    let mut terminal = crate::terminal::Terminal::start(
        &place,
        80,
        24,
        &words,
        &[("FULLBORE_RECORDS", folder_name)],
    );
    let (status, shown) = terminal.wait_for_end();
    assert!(shown.contains("in-42"), "{shown}");
    assert_eq!(status_text(status), "exit 3");
    assert!(records(folder.path()).is_empty());
}

/// A folder with links to fullbore.
fn links(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        symlink(fullbore(), folder.path().join(name)).unwrap();
    }
    folder
}

fn path_with(folder: &Path) -> std::ffi::OsString {
    let usual = std::env::var_os("PATH").unwrap();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&usual));
    std::env::join_paths(folders).unwrap()
}

#[test]
fn a_link_is_the_shell_that_its_name_says() {
    require_programs!("bash", "dash");
    let links = links(&["fullbore-sh", "fullbore-bash", "bash", "dash"]);
    let folder = tempfile::tempdir().unwrap();
    let place = Sandbox::new();
    // Only bash has arrays and knows its version.
    let line = "echo ${BASH_VERSION:+bash}; set | grep -c ^BASH_VERSINFO";
    for (name, said) in [("fullbore-bash", "bash\n1\n"), ("bash", "bash\n1\n"), ("dash", "\n0\n")] {
        for path in [path_with(links.path()), std::env::var_os("PATH").unwrap()] {
            let mut command = place.command(links.path().join(name));
            command.args(["-c", line]).env("FULLBORE_RECORDS", folder.path()).env("PATH", path);
            let ended = finish(command);
            assert_eq!(String::from_utf8_lossy(&ended.stdout), said, "{name}: {}", ended.stderr);
        }
    }
    assert_eq!(records(folder.path()).len(), 6);
    // Another name of sh, of which the variable says more.
    let mut command = place.command(links.path().join("fullbore-sh"));
    command.args(["-c", "echo $0"]).env("FULLBORE_SHELL", "/bin/bash");
    assert_eq!(finish(command).stdout, b"/bin/bash\n");
}

#[test]
fn fullbore_is_never_its_own_real_shell() {
    let links = links(&["fullbore-sh", "fullbore", "sh"]);
    let place = Sandbox::new();
    let own = fullbore().to_str().unwrap().to_owned();
    let link = links.path().join("sh").to_str().unwrap().to_owned();
    for shell in ["fullbore-sh", "fullbore", "fullbore sh", "sh", &own, &link] {
        for name in ["fullbore-sh", "fullbore", "sh"] {
            let mut command = place.command(links.path().join(name));
            command.args(if name == "fullbore" { &["sh", "-c"][..] } else { &["-c"] });
            command.args(["seq 2 | tac"]).env("FULLBORE_SHELL", shell);
            command.env("PATH", path_with(links.path()));
            let ended = finish(command);
            assert_eq!(ended.stdout, b"2\n1\n", "{name} with {shell}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_shell_that_is_missing_is_named() {
    let place = Sandbox::new();
    let ended = place.run(&["sh", "--shell", "no-such-shell", "-c", "true"]);
    assert_eq!(status_text(ended.status), "exit 127");
    assert!(ended.stderr.contains("no-such-shell: No such file or directory"), "{}", ended.stderr);
    crate::advice::assert_hint_is_understood(&ended.stderr);
    let ended = place.run(&["sh", "--shell", "/", "-c", "true"]);
    assert_eq!(status_text(ended.status), "exit 126");
}

#[test]
fn help_is_ours_and_everything_else_the_shells() {
    let ended = Sandbox::new().run(&["sh", "--help"]);
    assert!(String::from_utf8_lossy(&ended.stdout).contains("FULLBORE_RECORDS"));
    let ended = Sandbox::new().run(&["sh", "--shell", "bash", "--version"]);
    assert!(String::from_utf8_lossy(&ended.stdout).contains("GNU bash"));
}

/// Starts `fullbore sh -c LINE` with records, and waits until `command` runs below it.
fn started(place: &Sandbox, folder: &Path, line: &str, command: &str) -> std::process::Child {
    let mut sh = place.fullbore(&["sh", "-c", line]);
    let child = sh.env("FULLBORE_RECORDS", folder).spawn().unwrap();
    within(SOON, || running(place.mark(), command)).expect("it starts");
    child
}

#[test]
fn a_signal_to_fullbore_alone_reaches_the_shell() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let line = "trap 'exit 5' TERM; sleep 97 & wait";
    let mut child = started(&place, folder.path(), line, "sleep 97");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(status_text(child.wait().unwrap()), "exit 5");
    let all = records(folder.path());
    assert_eq!(all[0].1.exit_status, Some(5));
}

/// What kills the shell of a job must end the shell: subprocess.kill() of Python, `timeout -s KILL`.
#[test]
fn killing_fullbore_kills_the_shell() {
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    let mut child = started(&place, folder.path(), "exec sleep 96", "sleep 96");
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    let gone = within(SOON, || marked(place.mark()).is_empty().then_some(()));
    assert!(gone.is_some(), "the shell outlived fullbore");
}

#[test]
fn a_job_that_is_killed_starts_no_other_shell() {
    let links = links(&["sh"]);
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    for (signal, number) in [("PIPE", 13), ("HUP", 1), ("40", 40)] {
        let mut job = place.command(links.path().join("sh"));
        job.args(["-c", &format!("kill -{signal} $$")]).env("FULLBORE_RECORDS", folder.path());
        let ended = finish({
            job.env("PATH", path_with(links.path()));
            job
        });
        assert_eq!(status_text(ended.status), format!("signal {number}"));
    }
    assert_eq!(records(folder.path()).len(), 3);
}

/// Linux keeps signals without a handler from process 1 of a container: fullbore cannot die of them there.
#[test]
fn in_a_container_a_signal_becomes_a_status() {
    require!(
        rustix::process::geteuid().is_root() && is_installed("unshare"),
        "only root can begin a space of process numbers"
    );
    let (place, folder) = (Sandbox::new(), tempfile::tempdir().unwrap());
    for signal in [15, 13, 40] {
        let mut job = place.command("unshare");
        job.args(["--pid", "--fork", "--mount-proc"]).arg(fullbore());
        job.args(["sh", "-c", &format!("seq 2 | tac; kill -{signal} $$; :")]);
        let ended = finish({
            job.env("FULLBORE_RECORDS", folder.path());
            job
        });
        assert_eq!(status_text(ended.status), format!("exit {}", 128 + signal), "{}", ended.stderr);
        assert_eq!(ended.stdout, b"2\n1\n");
    }
    assert_eq!(records(folder.path()).len(), 3);
}

#[test]
fn a_login_shell_stays_one() {
    require_programs!("bash");
    use std::os::unix::process::CommandExt;
    let place = Sandbox::new();
    let mut login = place.command(fullbore());
    login.arg0("-fullbore-bash").args(["-c", "shopt login_shell; echo \"$0\""]);
    let ended = finish({
        login.env("HOME", place.path("none"));
        login
    });
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(said.contains("login_shell    \ton") && said.ends_with("-bash\n"), "{said}");
}
