//! Signals and job control: what the keys of a terminal and `kill` do to a pipeline.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::processes::{Process, holds, marked, running};
use crate::require::kernel_is_at_least;
use crate::sandbox::{Sandbox, finish, fullbore, status_text, wait_or_kill, within};
use crate::terminal::{SOON, Terminal};

const CTRL_C: &str = "\x03";
const CTRL_Z: &str = "\x1a";

fn program() -> String {
    fullbore().to_str().unwrap().to_owned()
}

fn wait_until_running(place: &Sandbox, command: &str) -> Process {
    within(SOON, || running(place.mark(), command))
        .unwrap_or_else(|| panic!("'{command}' does not run"))
}

fn wait_until_gone(place: &Sandbox) {
    let gone = within(SOON, || marked(place.mark()).is_empty().then_some(()));
    let left: Vec<_> = marked(place.mark()).iter().map(|process| process.command_line()).collect();
    assert!(gone.is_some(), "still running: {left:?}");
}

#[test]
fn ctrl_c_ends_the_pipeline_and_fullbore_after_its_report() {
    let place = Sandbox::new();
    let mut terminal =
        Terminal::start(&place, 100, 30, &[&program(), "run", "sleep 98 | cat"], &[]);
    wait_until_running(&place, "sleep 98");
    wait_until_running(&place, "cat");
    terminal.press(CTRL_C);
    let (status, shown) = terminal.wait_for_end();
    assert_eq!(status_text(status), "signal 2", "{shown}");
    let after = shown.rsplit_once("^C").map_or(shown.as_str(), |(_, after)| after);
    assert!(!after.trim().is_empty(), "no report after Ctrl-C: {shown}");
    assert!(after.starts_with("\r\n"), "the report begins behind the ^C: {shown}");
    terminal.assert_settings_unchanged();
    wait_until_gone(&place);
}

#[test]
fn ctrl_c_leaves_a_pipeline_that_handles_it_its_own_status() {
    let place = Sandbox::new();
    let line = "trap 'echo handled; exit 5' INT; while :; do sleep 0.05; done";
    let mut terminal = Terminal::start(&place, 100, 30, &[&program(), "run", "-q", line], &[]);
    wait_until_running(&place, "sleep 0.05");
    terminal.press(CTRL_C);
    let (status, shown) = terminal.wait_for_end();
    assert_eq!(status_text(status), "exit 5", "{shown}");
    assert!(shown.contains("handled"), "{shown}");
}

#[test]
fn ctrl_z_stops_everything_and_fg_continues_it() {
    let place = Sandbox::new();
    let script = format!(
        "set -m; '{}' run -q 'read x; sleep 0.3; echo got $x | cat'; echo stopped with $?; fg; echo ended with $?",
        program()
    );
    let mut terminal = Terminal::start(&place, 100, 30, &["bash", "-c", &script], &[]);
    let ours = wait_until_running(&place, &format!("{} run", program()));
    let shell = wait_until_running(&place, "sh -c");
    terminal.press(CTRL_Z);
    for process in [ours, shell] {
        // `fg` may follow so fast that only its traces are seen.
        let stopped = within(SOON, || {
            let is_stopped = process.state() == Some('T');
            (is_stopped || terminal.shown().contains("stopped with")).then_some(())
        });
        assert!(stopped.is_some(), "{} goes on", process.command_line());
    }
    terminal.wait_for("stopped with 148"); // 128 + SIGTSTP
    terminal.press("typed\n");
    terminal.wait_for("got typed");
    terminal.wait_for("ended with 0");
    terminal.wait_for_end();
    terminal.assert_settings_unchanged();
}

#[test]
fn time_in_which_all_is_stopped_is_no_time_of_waiting() {
    let place = Sandbox::new();
    let script = format!(
        "set -m; '{}' run --live never 'yes | head -n 100000000 | md5sum'; echo stopped with $?; sleep 1; fg; echo ended with $?",
        program()
    );
    let mut terminal = Terminal::start(&place, 100, 30, &["bash", "-c", &script], &[]);
    wait_until_running(&place, "md5sum");
    terminal.press(CTRL_Z);
    terminal.wait_for("stopped with 148");
    terminal.wait_for("ended with 0");
    let (_, shown) = terminal.wait_for_end();
    let text = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("the pipeline was stopped for 1."), "{shown}");
    assert!(!text.contains("take turns"), "{shown}");
}

#[test]
fn sigterm_to_fullbore_alone_reaches_the_shell() {
    let place = Sandbox::new();
    let mut command = place.fullbore(&[
        "run",
        "-q",
        "trap 'echo told; exit 4' TERM; while :; do sleep 0.05; done",
    ]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    wait_until_running(&place, "sleep 0.05");
    Process(child.id()).send(Signal::TERM);
    let status = wait_or_kill(&mut child, "a trapped SIGTERM");
    assert_eq!(status.code(), Some(4));
    assert_eq!(std::io::read_to_string(child.stdout.take().unwrap()).unwrap(), "told\n");
}

#[test]
fn a_signal_reaches_the_shell_where_pidfd_send_signal_is_forbidden() {
    require_programs!("strace");
    let line = "trap 'echo told; exit 4' TERM; while :; do sleep 0.05; done";
    for error in ["EPERM", "ENOSYS"] {
        let place = Sandbox::new();
        let inject = format!("inject=pidfd_send_signal:error={error}");
        // Without -f: the calls of fullbore fail, not those of the stages.
        let mut command = place.command("strace");
        command.args(["-qq", "-o", "calls", "-e", "trace=pidfd_send_signal", "-e", &inject]);
        command.args([&program(), "run", "-q", line]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        wait_until_running(&place, "sleep 0.05");
        wait_until_running(&place, &format!("{} run", program())).send(Signal::TERM);
        let status = wait_or_kill(&mut child, "a signal that is refused one way");
        assert_eq!(status_text(status), "exit 4", "{error}");
        let said = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        assert_eq!(said, "told\n", "{error}");
        let calls = std::fs::read_to_string(place.path("calls")).unwrap();
        assert!(calls.contains("(INJECTED)"), "it was not refused: {calls}");
    }
}

/// What a script says that starts fullbore, signals it, and waits for it.
fn said_by_a_script(place: &Sandbox, before: &[&str], signal: &str) -> String {
    // Such a script is of the same process group, as are make, cron and a program that calls kill.
    let script = format!(
        "'{}' run -q 'echo ready; exec sleep 95' >out & p=$!; \
         until test -s out; do sleep 0.01; done; kill -{signal} $p; wait $p; echo $?",
        program()
    );
    let words: Vec<&str> = before.iter().copied().chain(["sh", "-c", &script]).collect();
    let mut command = place.command(words[0]);
    let mut child = command.args(&words[1..]).stdout(Stdio::piped()).spawn().unwrap();
    assert!(wait_or_kill(&mut child, "a script that signals").success());
    std::io::read_to_string(child.stdout.take().unwrap()).unwrap()
}

#[test]
fn a_signal_from_the_script_that_started_fullbore_reaches_the_shell() {
    for (signal, number) in [("TERM", 15), ("HUP", 1), ("USR1", 10)] {
        let place = Sandbox::new();
        let said = said_by_a_script(&place, &[], signal);
        assert_eq!(said.trim(), (128 + number).to_string(), "{signal}");
        wait_until_gone(&place);
    }
}

/// Seen from there, the group and the session have no number: Linux says 0 (pid_namespaces(7)).
#[test]
fn a_signal_reaches_the_shell_in_a_container_whose_group_began_outside() {
    require_programs!("unshare");
    require!(
        rustix::process::geteuid().is_root(),
        "only root can begin a space of process numbers"
    );
    let place = Sandbox::new();
    let container = ["unshare", "--pid", "--fork", "--mount-proc"];
    assert_eq!(said_by_a_script(&place, &container, "TERM").trim(), "143");
    wait_until_gone(&place);
    // The copies of `par`, and what they started, end there, too.
    let script = "yes | \"$0\" par -j2 sh -c 'sleep 95 & echo; wait' >out & \
        until test -s out; do sleep 0.01; done; kill $!; wait $!; echo $?; \
cat /proc/[0-9]*/comm | grep -c sleep";
    let mut command = place.command("unshare");
    command.args(&container[1..]).args(["sh", "-c", script, &program()]);
    let ended = finish(command);
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "143\n0\n", "{}", ended.stderr);
}

/// What a shell with this trap says when fullbore, or its whole group, gets SIGTERM while the shell waits for `first`.
fn said_by_a_trap(trap: &str, first: &str, send: impl Fn(Pid)) -> String {
    let place = Sandbox::new();
    let line = format!("trap '{trap}' TERM; {first} | cat; sleep 0.4; echo end");
    let mut child = place.fullbore(&["run", "-q", &line]).stdout(Stdio::piped()).spawn().unwrap();
    let stage = wait_until_running(&place, first);
    let is_watched = within(SOON, || holds(child.id(), stage.0));
    assert!(is_watched.is_some(), "fullbore does not watch the stage");
    send(Pid::from_child(&child));
    assert!(wait_or_kill(&mut child, "a trap").success());
    std::io::read_to_string(child.stdout.take().unwrap()).unwrap()
}

#[test]
fn a_trap_runs_once_whether_fullbore_or_its_group_gets_the_signal() {
    let alone = |pid| kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(said_by_a_trap("echo told", "sleep 0.4", alone), "told\nend\n");
    require!(
        kernel_is_at_least(6, 15),
        "before Linux 6.15 nobody but its parent learns of what a process died, and a trap may run twice"
    );
    let group = |pid| kill_process_group(pid, Signal::TERM).unwrap();
    // It dies of the signal, however late that comes.
    assert_eq!(said_by_a_trap("echo told", "sleep 60", group), "told\nend\n");
}

/// Whether a program needs no dynamic linker.
fn is_static(program: &std::path::Path) -> bool {
    let head = std::fs::read(program).unwrap();
    !head[..4096.min(head.len())].windows(4).any(|word| word == b"/ld-")
}

/// Numbers of signals that a program cannot pass on (SIGKILL, SIGSTOP), that tell of its own faults, pipes and children,
/// that stop it, or that the C library keeps for itself (32, 33).
const KEPT: [i32; 13] = [4, 7, 8, 9, 11, 13, 17, 19, 20, 21, 22, 32, 33];

#[test]
fn every_signal_that_can_be_passed_on_reaches_the_shell() {
    // The C library of the static binary keeps one more for itself.
    let first_that_is_free = if is_static(&fullbore()) { 35 } else { 34 };
    let numbers = (1..=64).filter(|number| !KEPT.contains(number));
    let numbers = numbers.filter(|number| *number < 32 || *number >= first_that_is_free);
    let mut running = Vec::new();
    for number in numbers {
        let place = Sandbox::new();
        let line = format!(
            "trap 'echo {number}; exit 3' {number}; echo ready; while :; do sleep 0.05; done"
        );
        // A shell lets what it starts in the background ignore SIGINT and SIGQUIT.
        let script = format!(
            "env --default-signal=INT,QUIT '{}' run --shell bash -q \"{line}\" >out & p=$!; \
             until test -s out; do sleep 0.05; done; kill -{number} $p; wait $p; echo $?; cat out",
            program()
        );
        let mut command = place.command("bash");
        let child = command.args(["-c", &script]).stdout(Stdio::piped()).spawn().unwrap();
        running.push((number, place, child));
        // A few at a time.
        if running.len() == 8 {
            running.drain(..).for_each(assert_was_told);
        }
    }
    running.into_iter().for_each(assert_was_told);
}

fn assert_was_told((number, place, mut child): (i32, Sandbox, Child)) {
    let status = wait_or_kill(&mut child, "a script that signals");
    let said = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
    assert!(status.success(), "{number}: {status:?}, {said}");
    assert_eq!(said, format!("3\nready\n{number}\n"));
    wait_until_gone(&place);
}

#[test]
fn stages_inherit_blocked_and_ignored_signals_and_no_others() {
    let line = "grep -E '^Sig(Blk|Ign)' /proc/self/status";
    let masks = |program: &str, around: &str| {
        let place = Sandbox::new();
        let mut command = place.command("sh");
        command.args(["-c", &format!("{around} {program} \"$0\""), line]);
        let ended = finish(command);
        assert!(ended.status.success(), "{around}: {}", ended.stderr);
        String::from_utf8(ended.stdout).unwrap()
    };
    let ours = format!("'{}' run --shell bash -q", program());
    for around in
        ["exec", "exec env --block-signal=USR1,RTMIN+6", "trap '' USR2 PIPE CHLD 40; exec"]
    {
        assert_eq!(masks(&ours, around), masks("bash -c", around), "{around}");
    }
}

#[test]
fn a_shell_that_ignores_a_signal_goes_on() {
    let alone = |pid| kill_process(pid, Signal::TERM).unwrap();
    assert_eq!(said_by_a_trap("", "sleep 0.4", alone), "end\n");
}

#[test]
fn an_orphan_that_stops_itself_does_not_end_the_run() {
    // The orphan stops itself; the pipeline ends with the status of its last stage all the same.
    let place = Sandbox::new();
    let ended = place.run(&["run", "-q", "(sh -c 'kill -STOP $$' & ); sleep 0.4; exit 7"]);
    assert_eq!(ended.status.code(), Some(7));
}

#[test]
fn sigterm_and_sighup_end_fullbore_by_the_same_signal() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let place = Sandbox::new();
        let mut child = place.fullbore(&["run", "-q", "exec sleep 97"]).spawn().unwrap();
        wait_until_running(&place, "sleep 97");
        Process(child.id()).send(signal);
        let status = wait_or_kill(&mut child, "a signal");
        assert_eq!(status.signal(), Some(signal.as_raw()), "{status:?}");
        wait_until_gone(&place);
    }
}

#[test]
fn sigint_that_was_ignored_stays_ignored() {
    let place = Sandbox::new();
    let mut command = place.command("sh");
    command.args(["-c", r#"trap '' INT; exec "$@""#, "around"]).arg(fullbore());
    command.args(["run", "-q", "read x; echo got $x"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    wait_until_running(&place, "sh -c read");
    Process(child.id()).send(Signal::INT);
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"late\n").unwrap();
    let status = wait_or_kill(&mut child, "an ignored SIGINT");
    assert_eq!(status.code(), Some(0), "{status:?}");
    assert_eq!(std::io::read_to_string(child.stdout.take().unwrap()).unwrap(), "got late\n");
}

#[test]
fn a_stage_gets_what_is_typed() {
    let place = Sandbox::new();
    let mut terminal =
        Terminal::start(&place, 100, 30, &[&program(), "run", "head -1 | tr a-z A-Z"], &[]);
    wait_until_running(&place, "head -1");
    terminal.press("typed text\n");
    let (status, shown) = terminal.wait_for_end();
    assert_eq!(status_text(status), "exit 0");
    assert!(shown.contains("TYPED TEXT"), "{shown}");
    terminal.assert_settings_unchanged();
}

#[test]
fn end_of_file_is_typed_too() {
    let place = Sandbox::new();
    let mut terminal =
        Terminal::start(&place, 100, 30, &[&program(), "run", "-q", "cat | wc -c"], &[]);
    wait_until_running(&place, "cat");
    terminal.press("123\n\x04");
    let (_, shown) = terminal.wait_for_end();
    assert!(shown.trim_end().ends_with('4'), "{shown}");
}

/// Fails when the live view drew nothing, or when the last that it wrote leaves the terminal in another state.
fn assert_drew_and_restored(shown: &str, when: &str) {
    assert!(shown.contains("\x1b[?2026h"), "no frame of the live view {when}: {shown}");
    for (changed, restored, what) in [
        ("\x1b[?2026h", "\x1b[?2026l", "nothing more is shown"),
        ("\x1b[?7l", "\x1b[?7h", "long lines are cut"),
    ] {
        assert!(shown.rfind(restored) > shown.rfind(changed), "{what} {when}: {shown:?}");
    }
    // A stage may be waiting for an answer.
    assert!(!shown.contains("\x1b[?25l"), "the live view hides the cursor {when}");
    assert!(!shown.contains("\x1b[?1049h"), "the live view uses the alternate screen {when}");
}

#[test]
fn the_live_view_leaves_the_terminal_as_it_was() {
    let place = Sandbox::new();
    let line = "seq 4000000 | sort | tail -1";
    let mut terminal =
        Terminal::start(&place, 100, 30, &[&program(), "run", "--live", "always", line], &[]);
    let (status, shown) = terminal.wait_for_end();
    assert_eq!(status_text(status), "exit 0", "{shown}");
    terminal.assert_settings_unchanged();
    assert_drew_and_restored(&shown, "after the end");
}

#[test]
fn the_live_view_appears_where_the_line_itself_redirects_its_output() {
    let place = Sandbox::new();
    let file = place.path("out");
    for (line, is_silent) in [
        (format!("sleep 97 | cat > {}", file.display()), true),
        (format!("sleep 97 | cat > {}; echo", file.display()), false),
    ] {
        let mut terminal =
            Terminal::start(&place, 100, 30, &[&program(), "run", &line], &[("TERM", "xterm")]);
        wait_until_running(&place, "cat");
        if is_silent {
            terminal.wait_for("\x1b[?2026h");
        }
        terminal.press(CTRL_C);
        let (_, shown) = terminal.wait_for_end();
        assert_eq!(shown.contains("\x1b[?2026h"), is_silent, "{line}: {shown}");
        let after = shown.rsplit_once("^C").map_or("", |(_, after)| after);
        // Without a view, the key may come within milliseconds.
        let has_report = after.contains("sleep") || after.contains("too short to judge");
        assert!(has_report, "no report after Ctrl-C: {shown}");
        assert!(is_silent || after.starts_with("\r\n"), "the report is behind ^C: {shown}");
        wait_until_gone(&place);
    }
}

#[test]
fn the_terminal_is_restored_when_fullbore_is_told_to_end() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let place = Sandbox::new();
        let words = [&program(), "run", "--live", "always", "ulimit -c 0; exec sleep 96"];
        let mut terminal = Terminal::start(&place, 100, 30, &words, &[]);
        wait_until_running(&place, "sleep 96");
        terminal.wait_for("sleep 96");
        Process(terminal.pid()).send(signal);
        terminal.wait_for_end();
        terminal.assert_settings_unchanged();
        assert_drew_and_restored(&terminal.shown(), &format!("after {signal:?}"));
    }
}

#[test]
fn a_background_process_that_remains_does_not_hold_fullbore() {
    let place = Sandbox::new();
    let started = Instant::now();
    let mut command = place.fullbore(&["run", "-q", "sleep 60 & echo x"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let status = wait_or_kill(&mut child, "a background process");
    assert_eq!(status.code(), Some(0));
    assert!(started.elapsed() < Duration::from_secs(20), "waited for the background process");
    // The shell may have ended before its child became sleep(1).
    wait_until_running(&place, "sleep 60");
}
