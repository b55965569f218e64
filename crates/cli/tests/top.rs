//! `top` and `tune`: pipelines that others started, seen all at once, and changed by hand.

use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::gate::Pass;
use crate::processes::{Process, Running, marked};
use crate::sandbox::{Sandbox, eventually, finish, within};
use crate::terminal::Terminal;

const SECONDS: Duration = Duration::from_secs(30);

/// What `top --once --json` shows of the pipeline that a process is in.
fn pipeline_of(place: &Sandbox, process: Process, options: &[&str]) -> Option<Value> {
    let mut command = place.fullbore(&["top", "--once", "--json", "-d", "2"]);
    command.args(options);
    let ended = finish(command);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let overview: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(overview["schema"], "fullbore.top/1");
    let is_it = |one: &&Value| {
        let stages = one["stages"].as_array().unwrap();
        stages.iter().any(|stage| stage["pid"] == process.0)
    };
    overview["pipelines"].as_array().unwrap().iter().find(is_it).cloned()
}

#[test]
fn a_pipeline_of_others_is_seen_with_its_bottleneck_and_how_far_it_is() {
    let _alone = Pass::alone();
    let place = Sandbox::new();
    let file = fs::File::create(place.path("input")).unwrap();
    file.set_len(1 << 40).unwrap();
    let running = Running::start(
        &place,
        "cat input | {stage} --name slow --compute-us 20000 | cat >/dev/null",
    );
    let cat = running.process("cat input");
    let seen = pipeline_of(&place, cat, &[]).expect("it is seen");
    assert!(
        seen["command"].as_str().unwrap().starts_with("cat input | fullbore-fixture --name slow")
    );
    let finding = &seen["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["stage"]),
        (&"bottleneck".into(), &2.into()),
        "{finding}"
    );
    // Seen for most of the two seconds, not for the first moments alone.
    assert!(finding["message"].as_str().unwrap().contains('%'), "{finding}");
    assert_eq!(seen["progress"]["size_bytes"], 1_u64 << 40);
    assert!(seen["progress"]["left_ns"].as_u64() > Some(0), "{}", seen["progress"]);
    assert_eq!(seen["is_idle"], false);
    assert_eq!(seen["place"]["uid"], rustix::process::getuid().as_raw());
    assert_eq!(pipeline_of(&place, cat, &["-F", "bzip2"]), None);
    assert!(pipeline_of(&place, cat, &["-F", "NAME SLOW"]).is_some());
    assert!(pipeline_of(&place, cat, &["-p", &cat.0.to_string()]).is_some());
    assert_eq!(pipeline_of(&place, cat, &["-u", "nobody-of-this-name"]), None);
}

#[test]
fn behind_a_sort_the_end_is_not_in_sight() {
    let place = Sandbox::new();
    fs::File::create(place.path("input")).unwrap().set_len(1 << 40).unwrap();
    let running = Running::start(&place, "cat input | tr '\\0' 'a' | sort -S 10M >/dev/null");
    let seen = pipeline_of(&place, running.process("cat input"), &[]).expect("it is seen");
    assert!(seen["progress"]["input_left_ns"].as_u64() > Some(0), "{}", seen["progress"]);
    assert_eq!(seen["progress"]["left_ns"], Value::Null);
}

#[test]
fn what_does_nothing_is_shown_as_idle() {
    let place = Sandbox::new();
    let running = Running::start(&place, "sleep 987654 | cat");
    let sleep = running.process("sleep 987654");
    let is_idle = || {
        let mut command = place.fullbore(&["top", "-n", "1", "-d", "7", "--idle", "-p"]);
        command.arg(sleep.0.to_string());
        let ended = finish(command);
        String::from_utf8(ended.stdout).unwrap().contains("idle").then_some(())
    };
    assert!(within(SECONDS, is_idle).is_some());
}

#[test]
fn text_is_printed_as_often_as_asked_and_a_reader_that_leaves_ends_it() {
    let place = Sandbox::new();
    let running = Running::start(&place, "yes word | grep -c x");
    running.process("grep -c x");
    let ended = place.run(&["top", "-b", "-n", "2", "-d", "0.5"]);
    let text = String::from_utf8(ended.stdout).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!(text.matches(" processes seen").count(), 2, "{text}");
    assert!(text.contains("yes word | grep -c x"), "{text}");
    let mut command = place.command("sh");
    let fullbore = crate::sandbox::fullbore();
    command.args(["-c", "\"$0\" top -b -d 0.1 | head -n 1"]).arg(fullbore);
    assert_eq!(finish(command).status.code(), Some(0));
    let full = place.command("sh");
    let mut full = full;
    full.args(["-c", "exec \"$0\" top --once -d 0.1 >/dev/full"]).arg(crate::sandbox::fullbore());
    let ended = finish(full);
    assert_eq!(ended.status.code(), Some(2));
    assert!(
        ended.stderr.contains("top: writing standard output: No space left"),
        "{}",
        ended.stderr
    );
}

#[test]
fn top_opens_no_pipe_and_stops_no_process() {
    require_programs!("strace");
    let place = Sandbox::new();
    let running = Running::start(&place, "{stage} --no-read --total 999999M | cat >/dev/null");
    running.process("cat");
    let mut command = place.command("strace");
    command.args([
        "-f",
        "-qq",
        "-o",
        "trace",
        "-e",
        "trace=open,openat,openat2,pidfd_getfd,ptrace,kill",
    ]);
    command.arg(crate::sandbox::fullbore()).args(["top", "--once", "-d", "0.6"]);
    let ended = finish(command);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    let trace = fs::read_to_string(place.path("trace")).unwrap();
    let of_others = |call: &&str| {
        let after = call.split_once("/fd/").map_or("", |(_, after)| after);
        after.starts_with(|c: char| c.is_ascii_digit()) && !call.contains("/proc/self")
    };
    let opened: Vec<&str> = trace.lines().filter(of_others).collect();
    assert!(trace.contains("/proc/"), "nothing was traced");
    assert!(opened.is_empty(), "{opened:?}");
    for call in ["ptrace(", "pidfd_getfd(", "SIGSTOP"] {
        assert!(!trace.contains(call), "{call}");
    }
}

#[test]
fn on_a_terminal_keys_work_and_the_terminal_comes_back() {
    let place = Sandbox::new();
    let running = Running::start(&place, "yes word | grep -c zxcvb");
    let grep = running.process("grep -c zxcvb");
    let fullbore = crate::sandbox::fullbore();
    let words = [fullbore.to_str().unwrap(), "top", "-F", "zxcvb"];
    let mut terminal = Terminal::start(&place, 100, 24, &words, &[]);
    // The first frame may come before the pipeline is found, and names the filter.
    terminal.wait_for("yes word | grep -c zxcvb");
    terminal.press("\r");
    terminal.wait_for("reader");
    terminal.press("\x1b");
    terminal.wait_for("details");
    terminal.press("?");
    terminal.wait_for("Shift-Tab");
    terminal.press("q");
    // A signal to the pipeline: all of its stages.
    terminal.press("k\r");
    terminal.wait_for("TERM");
    assert!(eventually(|| marked(place.mark()).iter().all(|p| *p != grep).then_some(())).is_some());
    terminal.press("q");
    let (status, shown) = terminal.wait_for_end();
    assert_eq!(status.code(), Some(0));
    assert!(shown.contains("\x1b[?1049l"), "what was there before is shown again");
    terminal.assert_settings_unchanged();
}

#[test]
fn a_signal_gives_the_terminal_back_too() {
    let place = Sandbox::new();
    let fullbore = crate::sandbox::fullbore();
    let mut terminal = Terminal::start(&place, 80, 24, &[fullbore.to_str().unwrap(), "top"], &[]);
    terminal.wait_for("details");
    let pid = Pid::from_raw(terminal.pid().cast_signed()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let (_, shown) = terminal.wait_for_end();
    assert!(shown.contains("\x1b[?1049l"));
    terminal.assert_settings_unchanged();
}

#[test]
fn it_ends_with_its_terminal_when_no_signal_tells_it() {
    require_programs!("setsid");
    let place = Sandbox::new();
    let fullbore = crate::sandbox::fullbore();
    // In another session it has no controlling terminal, whose end would be a SIGHUP.
    let words = ["setsid", "--wait", fullbore.to_str().unwrap(), "top"];
    let mut terminal = Terminal::start(&place, 80, 24, &words, &[]);
    terminal.wait_for("details");
    drop(terminal);
    let is_gone = || marked(place.mark()).is_empty().then_some(());
    assert!(eventually(is_gone).is_some(), "{:?}", marked(place.mark()));
}

#[test]
fn a_pipe_is_listed_widened_and_given_back() {
    let place = Sandbox::new();
    let running = Running::start(&place, "tail -f /dev/null | cat | grep -c x");
    let pid = running.process("cat").0.to_string();
    let tune = |args: &[&str]| {
        let mut command = place.fullbore(&["tune"]);
        command.arg(&pid).args(args).env("XDG_RUNTIME_DIR", place.path(""));
        let ended = finish(command);
        (ended.status.code(), String::from_utf8(ended.stdout).unwrap(), ended.stderr)
    };
    let (status, list, _) = tune(&[]);
    assert_eq!(status, Some(0));
    assert!(list.contains("of 64 KiB  tail -f /dev/null → cat\n"), "{list}");
    assert!(list.contains("of 64 KiB  cat → grep -c x\n"), "{list}");
    let (status, text, _) = tune(&["2=200000"]);
    assert_eq!(status, Some(0));
    assert!(text.contains("pipe 2 (cat → grep -c x) holds 256 KiB now, 64 KiB before"), "{text}");
    assert!(text.contains(&format!("undo: fullbore tune {pid} --undo")), "{text}");
    assert!(tune(&["2=512K"]).1.contains("512 KiB now, 256 KiB before"));
    let (_, text, _) = tune(&["--undo"]);
    assert_eq!(text, "pipe 2 (cat → grep -c x) holds 64 KiB now, 512 KiB before\n");
    assert_eq!(tune(&["--undo"]).0, Some(1), "there is nothing more to undo");
    let (status, text, _) = tune(&["--all", "128K"]);
    assert_eq!((status, text.matches("128 KiB now").count()), (Some(0), 2), "{text}");
}

#[test]
fn what_cannot_be_tuned_is_named() {
    let place = Sandbox::new();
    let running = Running::start(&place, "yes word | grep -c x");
    let pid = running.process("grep -c x").0.to_string();
    for (args, status, why) in [
        (vec![pid.as_str(), "7=1M"], 2, "pipe 7: the pipeline has no such pipe"),
        (vec![&pid, "1=4G"], 1, "pipe 1: Linux refuses"),
        (vec![&pid, "0=1M"], 2, "expected the number of a pipe and a size"),
        (vec![&pid, "1=1M", "--undo"], 2, "cannot be used with"),
        (vec!["2147483647"], 2, "there is no such process"),
        (vec!["2", "1=1M"], 2, "kernel"),
    ] {
        let mut command = place.fullbore(&["tune"]);
        command.args(&args).env("XDG_RUNTIME_DIR", place.path(""));
        let ended = finish(command);
        assert_eq!(ended.status.code(), Some(status), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(why), "{args:?}: {}", ended.stderr);
    }
    let list = place.run(&["tune", &std::process::id().to_string()]);
    assert_eq!(list.status.code(), Some(0), "{}", list.stderr);
}
