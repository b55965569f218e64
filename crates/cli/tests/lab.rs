//! `lab`, end to end: what is listed, measured, kept, shown and compared; mistakes, and Ctrl-C.

mod compare;

use std::time::Duration;

use fullbore_lab::record::{LabRun, Outcome, SCHEMA};
use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{Ended, Sandbox, finish, status_text, within};

/// Two lines of shell that do the same, and one that is nowhere.
const TINY: &str = r#"about = "Two ways to count."
[[case]]
name = "count"
title = "Counting bytes"
show = "bytes/s"
answer = "same"
answer_from = "text"
bytes = "{size}"
setup = ["head -c {size} /dev/zero > {dir}/zeros-{size}"]
sweep = { size = ["64K", "256K"] }
[[case.engine]]
name = "wc"
shell = "wc -c < {dir}/zeros-{size}"
[[case.engine]]
name = "cat"
label = "cat | wc"
shell = "cat {dir}/zeros-{size} | wc -c"
[[case.engine]]
name = "nowhere"
argv = ["no-such-program"]
needs = [{ program = "no-such-program", install = "write it" }]

[[case]]
name = "second"
title = "Nothing"
show = "seconds"
[[case.engine]]
name = "true"
argv = ["true"]
[[case.engine]]
name = "sh"
shell = "true"
"#;

fn place(suite: &str) -> Sandbox {
    let place = Sandbox::new();
    std::fs::write(place.path("tiny.toml"), suite).unwrap();
    place
}

fn lab(place: &Sandbox, args: &[&str]) -> Ended {
    place.run(&[&["lab"], args].concat())
}

fn record(place: &Sandbox, name: &str) -> LabRun {
    serde_json::from_slice(&std::fs::read(place.path(name)).unwrap()).unwrap()
}

fn out(ended: &Ended) -> String {
    String::from_utf8(ended.stdout.clone()).unwrap()
}

#[test]
fn every_suite_is_listed_with_its_cases() {
    let ended = lab(&Sandbox::new(), &["list"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    let text = out(&ended);
    for wanted in [
        "memory/copy",
        "pipe/ladder",
        "transports/latency",
        "overlap/zstd",
        "tracers/dd",
        "stages/utf8",
    ] {
        assert!(text.contains(wanted), "{wanted}:\n{text}");
    }
}

#[test]
fn a_suite_of_ones_own_runs_to_the_end() {
    let place = place(TINY);
    let ended = lab(
        &place,
        &[
            "--runs",
            "3",
            "./tiny.toml",
            "--report",
            "a.json",
            "--report",
            "a.html",
            "--report=a.md",
        ],
    );
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert_eq!(ended.stderr, "", "no progress where there is no terminal");
    let text = out(&ended);
    assert!(text.contains("not available: no-such-program is not installed (write it)"), "{text}");
    let run = record(&place, "a.json");
    assert_eq!((run.schema.as_str(), run.is_complete), (SCHEMA, true));
    assert_eq!(run.command, "fullbore lab --runs 3 ./tiny.toml", "it can be pasted");
    let points = &run.suites[0].cases[0].points;
    assert_eq!(points.len(), 2);
    for (point, size) in points.iter().zip(["65536", "262144"]) {
        assert_eq!(point.rounds, 3);
        for engine in &point.engines[..2] {
            assert_eq!(engine.outcome, Outcome::Measured);
            assert_eq!(engine.answer.as_deref(), Some(size));
            assert!(engine.values.len() == 3 && engine.cpu_ns.is_some(), "{engine:?}");
        }
        assert!(matches!(point.engines[2].outcome, Outcome::NotAvailable { .. }));
    }
    let page = std::fs::read_to_string(place.path("a.html")).unwrap();
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && page.contains("cat | wc")
    );
    let tables = std::fs::read_to_string(place.path("a.md")).unwrap();
    assert!(text.contains("At a glance") && page.contains("At a glance"), "{text}");
    assert!(
        tables.contains("| size 64 KiB | wc |")
            && tables.contains("fullbore lab --runs 3 ./tiny.toml/count"),
        "{tables}"
    );
    let left: Vec<_> = place.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["a.html", "a.json", "a.md", "tiny.toml"], "scratch files are gone");
}

#[test]
fn one_case_can_be_chosen() {
    let place = place(TINY);
    let ended = lab(&place, &["--runs", "1", "tiny.toml/second", "--report", "a.json", "-q"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert!(ended.stdout.is_empty(), "{}", out(&ended));
    let run = record(&place, "a.json");
    let names: Vec<_> = run.suites[0].cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["second"]);
    assert_eq!(run.command, "fullbore lab --runs 1 tiny.toml/second", "the same case again");
    assert_eq!(run.suites[0].cases[0].command, run.command);
    let both = ["--runs", "1", "tiny.toml/second", "tiny.toml/count", "--report", "a.json", "-q"];
    lab(&place, &both);
    let command = record(&place, "a.json").command;
    assert_eq!(command, "fullbore lab --runs 1 tiny.toml/second tiny.toml/count");
}

#[test]
fn a_built_in_engine_runs_in_a_process_of_its_own() {
    let suite = r#"about = "x"
[[case]]
name = "copy"
title = "Copy"
show = "bytes/s"
answer = "same"
fixed = { size = "64K", total = "64M" }
[[case.engine]]
name = "libc"
builtin = "memory"
parameters = { method = "libc-memcpy" }
[[case.engine]]
name = "scalar"
builtin = "memory"
parameters = { method = "scalar" }
"#;
    let place = place(suite);
    let ended = lab(&place, &["--runs", "2", "tiny.toml", "--report", "a.json"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}\n{}", ended.stderr, out(&ended));
    let run = record(&place, "a.json");
    for engine in &run.suites[0].cases[0].points[0].engines {
        assert!(engine.values.iter().all(|value| *value > 1e7), "{engine:?}");
    }
}

#[test]
fn a_wrong_answer_is_loud_and_its_time_does_not_count() {
    let third = "[[case.engine]]\nname = \"again\"\nshell = \"wc -c < {dir}/zeros-{size}\"\n[[case.engine]]\nname = \"nowhere\"";
    let wrong = TINY.replace("| wc -c\"", "| wc -c | tr 5 6\"");
    let place = place(&wrong.replace("[[case.engine]]\nname = \"nowhere\"", third));
    let ended = lab(&place, &["--runs", "1", "tiny.toml/count", "--report", "a.json"]);
    assert_eq!(status_text(ended.status), "exit 1");
    assert!(
        ended.stderr.contains("fullbore: lab: the output of an engine is wrong or in dispute"),
        "{}",
        ended.stderr
    );
    assert!(out(&ended).contains("WRONG ANSWER: 66636, not 65536"), "{}", out(&ended));
    assert!(record(&place, "a.json").suites[0].cases[0].points[0].engines[1].values.is_empty());
}

#[test]
fn where_two_engines_disagree_neither_is_called_right() {
    let place = place(&TINY.replace("| wc -c\"", "| wc -c | tr 5 6\""));
    let ended = lab(&place, &["--runs", "1", "tiny.toml/count", "--report", "a.json"]);
    assert_eq!(status_text(ended.status), "exit 1");
    let text: String = out(&ended).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("DISPUTED: 66636, but wc answered 65536"), "{text}");
    assert!(text.contains("DISPUTED: 65536, but cat | wc answered 66636"), "{text}");
    let run = record(&place, "a.json");
    let [first, second] = run.suites[0].cases[0].points.as_slice() else { panic!("{run:?}") };
    assert!(first.engines.iter().all(|engine| engine.values.is_empty()), "{first:?}");
    assert_eq!(second.engines[1].outcome, Outcome::Measured, "262144 has no 5");
}

#[test]
fn a_failing_engine_is_told_with_its_last_words() {
    let place = place(&TINY.replace("argv = [\"true\"]", "shell = \"echo no luck >&2; exit 3\""));
    let ended = lab(&place, &["--runs", "1", "tiny.toml/second"]);
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(out(&ended).contains("FAILED: exit status 3: no luck"), "{}", out(&ended));
}

#[test]
fn a_mistake_in_a_suite_names_file_line_and_what_was_expected() {
    let place = place(&TINY.replace("show = \"seconds\"", "show = \"minutes\""));
    let ended = lab(&place, &["--runs", "1", "./tiny.toml"]);
    assert_eq!(status_text(ended.status), "exit 2");
    let line = TINY.lines().position(|line| line == "show = \"seconds\"").unwrap() + 1;
    let wanted = format!("fullbore: lab: ./tiny.toml:{line}: show = 'minutes': expected bytes/s,");
    assert!(ended.stderr.starts_with(&wanted), "{}", ended.stderr);
    assert_eq!(ended.stderr.lines().count(), 2, "{}", ended.stderr);
}

#[test]
fn wrong_usage_is_said_before_anything_runs() {
    let place = place(TINY);
    for (args, wanted) in [
        (&["nosuch"][..], "no suite 'nosuch'; the suites are memory, pipe"),
        (&["pipe/nosuch"], "pipe: no case 'nosuch'; the cases are chunk"),
        (&["./tiny.toml/secnod"], "did you mean './tiny.toml/second'?"),
        (&["nosuch.toml"], "nosuch.toml: No such file or directory"),
        (&["tiny.toml", "--report", "a.txt"], "a.txt: the name must end in .json, .html or .md"),
        (&["tiny.toml", "--report", "nowhere/a.json"], "nowhere/a.json: No such file"),
        (&["tiny.toml", "--runs", "0"], "0 is not in 1..=10000"),
        (&["tiny.toml", "--quick", "--runs", "3"], "cannot be used with"),
        (&["tiny.toml", "--pin", "x"], "is not a list of CPUs"),
        (&["tiny.toml", "--pin", "8000"], "--pin"),
        (&["tiny.toml", "--ladder"], "this suite has no case 'ladder'"),
        (&["show", "tiny.toml"], "tiny.toml: read the record"),
        (&["show", "nosuch.json"], "nosuch.json: No such file or directory"),
        (&["compare"], "required"),
        (&["tiny.toml", "--against", "nosuch"], "--against: nosuch: No such file"),
        (&["tiny.toml", "--against", "tiny.toml"], "--against: tiny.toml: it is not a program"),
        (&["tiny.toml", "--against", "/bin/sh"], "none of these cases runs fullbore as a program"),
    ] {
        let ended = lab(&place, args);
        assert_eq!(status_text(ended.status), "exit 2", "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(wanted), "{args:?}: {}", ended.stderr);
        assert!(ended.stdout.is_empty(), "{args:?}: {}", out(&ended));
        assert!(ended.stderr.lines().count() <= 2, "{args:?}: {}", ended.stderr);
    }
    assert_eq!(place.files().len(), 1, "nothing was left behind: {:?}", place.files());
}

#[test]
fn without_a_suite_it_says_how_to_go_on() {
    let ended = lab(&Sandbox::new(), &[]);
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(ended.stderr.contains("SUITE") && ended.stderr.contains("hint: "), "{}", ended.stderr);
}

#[test]
fn help_has_examples_and_exit_statuses() {
    let ended = lab(&Sandbox::new(), &["--help"]);
    let text = out(&ended);
    for wanted in [
        "--quick",
        "--runs",
        "--pin",
        "--report",
        "--ladder",
        "Examples:",
        "Exit status:",
        "compare",
    ] {
        assert!(text.contains(wanted), "{wanted}:\n{text}");
    }
    assert!(text.is_ascii() && !text.contains("lab-engine"));
}

#[test]
fn a_record_is_shown_as_it_was_and_as_tables() {
    let place = place(TINY);
    let ended =
        lab(&place, &["--runs", "2", "tiny.toml", "--report", "a.json", "--report", "a.md"]);
    let shown = lab(&place, &["show", "a.json"]);
    assert_eq!(status_text(shown.status), "exit 0", "{}", shown.stderr);
    assert!(out(&shown).ends_with(&out(&ended)), "{}", out(&shown));
    let tables = lab(&place, &["show", "--markdown", "a.json"]);
    assert_eq!(out(&tables), std::fs::read_to_string(place.path("a.md")).unwrap());
}

#[test]
fn a_record_gives_the_reports_it_would_have_given_when_it_was_measured() {
    let place = place(TINY);
    let reports = ["--report", "a.json", "--report", "a.html", "--report", "a.md"];
    lab(&place, &[&["--runs", "2", "tiny.toml"], &reports[..]].concat());
    let args =
        ["show", "-q", "a.json", "--report", "b.html", "--report=b.md", "--report", "b.json"];
    let again = lab(&place, &args);
    assert_eq!(status_text(again.status), "exit 0", "{}", again.stderr);
    assert_eq!((out(&again).as_str(), again.stderr.as_str()), ("", ""));
    for kind in ["json", "html", "md"] {
        let file =
            |name: &str| std::fs::read_to_string(place.path(&format!("{name}.{kind}"))).unwrap();
        assert!(file("a") == file("b"), "{kind} differs");
    }
    let both = lab(&place, &["show", "a.json", "--report", "c.html"]);
    assert!(out(&both).contains("Counting bytes"), "without -q the tables are shown, too");
    assert!(place.path("c.html").exists());
}

#[test]
fn a_report_may_take_the_place_of_the_record_it_is_made_of_and_a_wrong_path_leaves_it() {
    let place = place(TINY);
    lab(&place, &["--runs", "1", "tiny.toml/count", "--report", "a.json"]);
    let before = record(&place, "a.json");
    let ended = lab(&place, &["show", "-q", "a.json", "--report", "a.json"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
    assert_eq!(record(&place, "a.json"), before);
    for (report, wanted) in [
        ("a.txt", "a.txt: the name must end in .json, .html or .md"),
        ("nowhere/a.html", "nowhere/a.html: No such file or directory"),
    ] {
        let args = ["show", "a.json", "--report", "good.html", "--report", report];
        let ended = lab(&place, &args);
        assert_eq!(status_text(ended.status), "exit 2", "{report}");
        assert!(ended.stderr.contains(wanted) && ended.stdout.is_empty(), "{}", ended.stderr);
        assert!(!place.path("good.html").exists(), "no report is written when one cannot be");
    }
    assert_eq!(record(&place, "a.json"), before);
}

#[test]
fn faults_and_switches_are_counted_for_programs_and_engines_and_what_is_missing_has_a_reason() {
    let place = place(
        r#"about = "Counters."
[[case]]
name = "mixed"
title = "A program and an engine"
show = "bytes/s"
bytes = "1M"
[[case.engine]]
name = "program"
shell = "head -c 1000000 /dev/zero | tail -c 900000 > {dir}/zeros"
[[case.engine]]
name = "engine"
builtin = "pipe"
parameters = { total = "1M" }
"#,
    );
    let args = ["--runs", "2", "tiny.toml", "--report", "a.json", "--report", "a.html"];
    let ended = lab(&place, &args);
    assert_eq!(status_text(ended.status), "exit 0", "{}\n{}", ended.stderr, out(&ended));
    let run = record(&place, "a.json");
    let engines = &run.suites[0].cases[0].points[0].engines;
    for engine in engines {
        for name in ["minor_faults", "major_faults", "voluntary_switches", "involuntary_switches"] {
            assert!(engine.counters[name].is_some(), "{} {name}", engine.engine);
        }
    }
    // sh, head and tail touch pages of their own.
    assert!(engines[0].counters["minor_faults"] > Some(100.0), "{:?}", engines[0].counters);
    let known = engines[1].counters["dtlb_load_misses"].is_some();
    let why = engines[1].missing_counters.get("dtlb_load_misses");
    assert_ne!(known, why.is_some(), "{:?}", engines[1]);
    let page = std::fs::read_to_string(place.path("a.html")).unwrap();
    assert!(page.contains("dTLB load misses"), "{page}");
}

#[test]
fn ctrl_c_keeps_what_is_done_and_ends_what_runs() {
    let endless = TINY.replace("shell = \"true\"", "shell = \"sleep 97\"");
    let place = place(&endless);
    let mut command = place.fullbore(&["lab", "--runs", "1", "tiny.toml", "--report", "a.json"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    let seen =
        within(Duration::from_secs(30), || crate::processes::running(place.mark(), "sleep 97"));
    assert!(seen.is_some(), "the second case does not run");
    let run = record(&place, "a.json");
    assert_eq!(
        (run.is_complete, run.suites[0].cases.len()),
        (false, 1),
        "written after every case"
    );
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(status_text(ended.status), "signal 2", "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("lab: ended early"));
    let run = record(&place, "a.json");
    assert_eq!((run.is_complete, run.suites[0].cases.len()), (false, 1));
    let gone = within(Duration::from_secs(10), || {
        crate::processes::running(place.mark(), "sleep 97").is_none().then_some(())
    });
    assert!(gone.is_some(), "sleep 97 is still running");
}

#[test]
fn a_reader_that_leaves_does_not_stop_the_measuring() {
    let place = place(TINY);
    let mut command = place.command("bash");
    command.args([
        "-c",
        r#""$1" lab --runs 1 tiny.toml --report a.json | true; echo ${PIPESTATUS[0]}"#,
        "x",
    ]);
    command.arg(crate::sandbox::fullbore());
    let ended = finish(command);
    assert_eq!(out(&ended).trim(), "0", "{}", ended.stderr);
    assert!(record(&place, "a.json").is_complete);
}

#[test]
fn the_page_of_the_lab_opens_in_a_browser_wide_and_narrow() {
    let browser = ["chromium", "chromium-browser", "google-chrome"];
    let browser = browser.into_iter().find(|browser| crate::sandbox::is_installed(browser));
    require!(browser.is_some(), "no Chromium is installed");
    let place = place(
        &TINY.replace("show = \"bytes/s\"", "show = \"bytes/s\"\nchart = \"lines\"\nx = \"size\""),
    );
    lab(&place, &["--runs", "2", "tiny.toml", "--report", "a.html"]);
    let mut command = place.command(browser.unwrap());
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--user-data-dir=profile",
    ]);
    command.args(["--virtual-time-budget=3000", "--enable-logging=stderr", "--dump-dom"]);
    command.arg(format!("file://{}", place.path("a.html").display())).env("HOME", place.path(""));
    let ended = finish(command);
    let page = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(page.contains("Counting bytes") && page.contains("<svg"), "{page}\n{}", ended.stderr);
    let complaints: Vec<_> = ended.stderr.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
}

#[test]
fn the_suite_in_the_guide_runs() {
    let guide = include_str!("../../../docs/guide.md");
    let suite = guide.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let place = place(suite);
    let ended = lab(&place, &["--quick", "tiny.toml", "--report", "a.json"]);
    assert_eq!(status_text(ended.status), "exit 0", "{}\n{}", ended.stderr, out(&ended));
    let run = record(&place, "a.json");
    assert!(run.engine_runs().all(|(.., engine)| engine.outcome == Outcome::Measured));
}
