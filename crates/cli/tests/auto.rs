//! `run --auto`: the same bytes and statuses, also where a rule would be wrong.

use std::process::Command;

use crate::sandbox::{Ended, Sandbox, finish, fullbore, status_text};
use crate::terminal::Terminal;

/// A line under a shell alone, and with `--auto`.
fn both(place: &Sandbox, shell: &str, line: &str) -> [Ended; 2] {
    let plain = {
        let mut command = Command::new(shell);
        command.current_dir(place.path(".")).args(["-c", line]);
        command
    };
    let auto = place.fullbore(&["run", "-q", "--auto", "--shell", shell, line]);
    [plain, auto].map(|mut command| finish_in_c(&mut command))
}

fn finish_in_c(command: &mut Command) -> Ended {
    let mut own = Command::new(command.get_program());
    own.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        own.current_dir(folder);
    }
    own.env("LC_ALL", "C");
    finish(own)
}

fn assert_same(place: &Sandbox, shell: &str, line: &str) {
    let [plain, auto] = both(place, shell, line);
    assert_eq!(status_text(auto.status), status_text(plain.status), "{line}: {}", auto.stderr);
    assert!(auto.stdout == plain.stdout, "{line}: {}", auto.stderr);
    assert_eq!(auto.stderr, plain.stderr, "{line}");
}

/// Words in no order, and JSON.
fn inputs() -> Sandbox {
    let place = Sandbox::new();
    let make = "seq 1 700000 | awk '{ print ($1 * 7919) % 4001, \"Word\" $1 % 13, $1 }' >big; head -n 20 big >tiny; \
        awk '{ print \"{\\\"a\\\":\" $1 \",\\\"b\\\":\\\"\" $2 \"\\\"}\" }' big >j; : >empty; head -c 3000000 big >cut";
    let mut command = Command::new("sh");
    command.current_dir(place.path(".")).args(["-c", make]);
    assert!(finish(command).status.success());
    place
}

#[test]
fn the_bytes_and_the_status_are_those_of_the_shell() {
    require_programs!("jq");
    let place = inputs();
    for line in [
        "cut -d' ' -f2 big | sort | uniq -c | sort -rn | head -n 5",
        "cut -d' ' -f1 big | sort | uniq -c",
        "cat big | sort -u",
        "cat cut | sort | uniq",
        "cat cut cut | sort | uniq -d | wc -l",
        "sort big | uniq -c | sort -rn | head -n 7",
        "sort -u cut",
        "sort cut | uniq -d; sort tiny | uniq -c; sort empty | uniq; sort ./no/such | uniq -c",
        "sort . | uniq -c; sort /dev/null | uniq; rm -f p; mkfifo p; cat big >p & sort p | uniq -c | md5sum",
        "sort big </dev/null | uniq -c | sort -rn | sed 3q",
        "sort big | uniq -c >&-",
        "sort big | head; sort -rn big | head -n 3; sort -ur cut | tail -2; sort cut | uniq | head -n 4",
        "cat cut | sort -n | tail -n 1; cat cut cut | sort -nr | tail -n 3; cat big | sort -r | tail | sort | head -1",
        "awk '{ print ($1 - 2000) / 8 \" \" $2 }' big | sort -n | head -n 9; sort -n empty | tail; sort tiny | head",
        "cat big | sort -n | tail -n 60000 | md5sum; sort -k2 big | head -n 2; sort no/such | head",
        "sort big | head -n 2 >&-; sort big | head -n 50000 | head -n 1",
        "tail -n +1 tiny | sort | uniq -c | sort -rn",
        "tail -n +1 empty | sort | uniq -c",
        "cat big | sed -E 's/([0-9]+) W/<\\1>/g' | md5sum",
        "cat big | grep -vi word1 | md5sum",
        "cat big | grep -ic word1",
        "cat big | grep -i nothing",
        "cat big | awk '{ print $2 }' | tr -s 'd' | md5sum",
        "cat big | wc -w",
        "cat j | jq -c .b | md5sum",
        "jq . j | jq -c .a | md5sum",
        // A message may name a line of its block.
        "{ cat j; echo '{'; cat j; } | jq -c .b 2>/dev/null | md5sum",
        "{ cat j; echo '{'; cat j; } | jq -c .b >/dev/null 2>&1",
        "{ cat j; echo '{'; cat j; } | jq -c .b 2>&1 | md5sum",
        "cat big | numfmt --field=2 --invalid=warn 2>&1 | md5sum",
        "{ cat big; head -c 100 /dev/zero; cat big; } | grep -ic word2",
        "{ head -c 9000000 /dev/zero | tr '\\0' x; cat big; } | sed s/x/y/ | md5sum",
        "cat big | rev | head -n 3",
        "yes abc | sed s/b/x/ | head -n 2",
        "rev <big | md5sum",
        "cat cut | sed 's/W/w/' | tail -c 20",
        "cat big | awk 'NR % 2' | md5sum",
        "cat big | sed '$!N;s/\\n/ /' | md5sum",
        "cat big | awk '{ if ($3 == 400000) exit 3; print }' | md5sum",
        "sed s/a/b/ </no/such",
        "{ echo x; cat j; } | jq -c .b 2>/dev/null",
        "cat j | jq '.[' 2>&1 | grep -c compile",
        "cat big | awk '{ print $1 ENVIRON[\"PAR_BLOCK\"] ENVIRON[\"PARALLEL_SEQ\"] }' | md5sum",
        "ulimit -n 6; tail -n +1 tiny | grep 1 | wc -l; tail -n +1 tiny | sort -u | wc -l",
        "trap '' PIPE; cat tiny | grep 1 2>/dev/null | true; seq 400000 | sort -u | true; echo $?",
    ] {
        assert_same(&place, "sh", line);
    }
}

#[test]
fn a_line_that_asks_for_statuses_gets_those_of_the_shell() {
    let place = inputs();
    for line in [
        "set -o pipefail; cat big | grep -i nothing | sed s/a/b/",
        "cat big | sort | uniq -c | sort -rn | head -n 2; echo ${PIPESTATUS[@]}",
        "cat big | grep nothing | rev; echo ${PIPESTATUS[@]}",
        "cat big big big | grep -iq word; echo ${PIPESTATUS[@]}",
        "cat big big big big | grep -i word | sleep 1; echo ${PIPESTATUS[@]}",
        "set -o pipefail; cat big | sort | uniq -c | sort -rn | head -n 1; echo $?",
        "set -o pipefail; sort big | head -n 1; echo $?; sort -u big | head -n 2; echo $?; sort big | tail -n 1; echo $?",
        "sort -n big | tail -n 1; echo ${PIPESTATUS[@]}",
        "grep() { echo mine; }; cat big | grep x",
        "echo 'tr() { echo F; }' >lib.sh; . ./lib.sh; seq 3 | tr 1 2 | cat",
        "echo 'sort() { echo F; }' >lib.sh; x=.; $x ./lib.sh; seq 3 | sort | uniq -c",
        "set -euo pipefail; cat big | sort | uniq -c >out; sort out | md5sum",
        "OUT=out; sort -u cut >$OUT; cat cut | awk -F'\\.' '{ print $1 }' >>out; md5sum out",
        "shopt -s expand_aliases; alias rev=cat\ncat tiny | rev",
        "f=$(cat big | rev | head -n1); echo \"$f\"",
        "cat big | while read -r a b; do echo $b; break; done",
    ] {
        assert_same(&place, "bash", line);
    }
}

#[test]
fn a_program_that_is_not_what_it_seems_is_found_out() {
    let place = inputs();
    std::fs::create_dir(place.path("bin")).unwrap();
    place.script("bin/uniq", "#!/bin/sh\nexec /usr/bin/uniq \"$@\" | sed s/Word1/Wort/\n");
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    for line in ["cut -d' ' -f2 big | sort | uniq -c", "sort big | uniq -c"] {
        assert_is_found_out(&place, &path, line);
    }
}

fn assert_is_found_out(place: &Sandbox, path: &str, line: &str) {
    let run = |mut command: Command| {
        command.env("PATH", path).env("LC_ALL", "C").current_dir(place.path("."));
        finish(command)
    };
    let mut plain = Command::new("sh");
    plain.args(["-c", line]);
    let plain = run(plain);
    let auto = run(place.fullbore(&["run", "--auto", "--report", "r.json", line]));
    assert!(String::from_utf8_lossy(&plain.stdout).contains("Wort"));
    assert!(auto.stdout == plain.stdout, "{}", auto.stderr);
    let record = std::fs::read_to_string(place.path("r.json")).unwrap();
    assert!(record.contains("\"differs\""), "{record}");
    let mut words = auto.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    words.truncate(2000);
    assert!(words.contains("the answer without sorting differed"), "{words}");
}

#[test]
fn the_summary_and_the_record_say_what_was_done() {
    let place = inputs();
    let line = "cat big big big | sort | uniq -c | sort -rn | head -n 5";
    let mut command = place.fullbore(&["run", "--auto", "--report", "r.json", line]);
    command.env("LC_ALL", "C").env("COLUMNS", "120");
    let ended = finish(command);
    let says =
        "auto: sort | uniq -c | sort -rn | head -n 5 was answered without sorting every line";
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(says), "{}", ended.stderr);
    assert!(!ended.stderr.contains("par --auto"), "{}", ended.stderr);
    let record = std::fs::read_to_string(place.path("r.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    assert_eq!(record["command"], line);
    assert_eq!(record["auto"][0]["what"], "fused");
    assert!(record["auto"][0]["proved_bytes"].as_u64().unwrap() > 1_000_000);
}

/// What became of the last command: it is `unchanged` if it was not even considered.
fn what_became_of_the_last(place: &Sandbox) -> String {
    let record = std::fs::read_to_string(place.path("r.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    record["auto"][0]["what"].as_str().unwrap().to_owned()
}

#[test]
fn messages_among_the_output_keep_their_places_but_a_terminal_is_no_file() {
    let place = inputs();
    let own = fullbore().display().to_string();
    let script = format!(
        "LC_ALL=C '{own}' run -q --auto --report r.json 'cat big big | grep -i nothing'; echo ended"
    );
    let mut command = place.command("sh");
    command.args(["-c", &format!("{{ {script}; }} 2>&1 | cat")]);
    assert_eq!(String::from_utf8_lossy(&finish(command).stdout), "ended\n");
    assert_eq!(what_became_of_the_last(&place), "unchanged");

    let mut terminal = Terminal::start(&place, 80, 24, &["sh", "-c", &script], &[]);
    terminal.wait_for("ended");
    terminal.wait_for_end();
    assert_ne!(what_became_of_the_last(&place), "unchanged");
}

#[test]
fn explain_prints_the_line_and_runs_nothing() {
    let place = Sandbox::new();
    let explain = |line: &str| {
        let mut command = place.fullbore(&["run", "--explain", line]);
        command.env("LC_ALL", "C");
        String::from_utf8(finish(command).stdout).unwrap()
    };
    let text = explain("touch done; cat x | sed s/a/b/ | sort -u");
    assert!(text.contains(" par --auto -- sed s/a/b/ | "), "{text}");
    assert!(text.contains(" par --auto -c 'sort -u'"), "{text}");
    assert!(!place.path("done").exists());
    let text = explain("alias x=y; cat x | sed s/a/b/");
    assert_eq!(text, "The line stays as it is, because it has an alias.\n");
}

#[test]
fn what_is_known_to_read_little_is_run_as_it_is() {
    let place = inputs();
    let explain = |options: &[&str], line: &str| {
        let mut command = place.fullbore(&[&["run", "--explain"], options, &[line]].concat());
        command.env("LC_ALL", "C");
        String::from_utf8(finish(command).stdout).unwrap()
    };
    let small = "cat tiny | grep -i word | sort | uniq -c";
    assert_eq!(
        explain(&[], small),
        "The line stays as it is: its input is small.\n\
         # grep -i word: stays as it is, because its input is small\n\
         # sort | uniq -c: stays as it is, because its input is small\n"
    );
    // Who asks for a proof gets one, and what the line itself writes may become large.
    for (options, line) in [
        (&["--prove", "1M"][..], small),
        (&[], "cat big >>tiny; cat tiny | grep -i word | sort | uniq -c"),
        (&[], "cat big | grep -i word | sort | uniq -c"),
        (&[], "cat /proc/self/maps | grep -i word | sort | uniq -c"),
        (&[], "cd .; cat tiny | grep -i word | sort | uniq -c"),
    ] {
        let text = explain(options, line);
        assert!(text.contains(" par --auto") && text.contains(" -- grep -i word | "), "{text}");
    }
}

/// Runs a line with `--prove` and a program of the name `name` that is not what its name says; returns what became of it, if
/// bytes and status were those of the shell.
fn proved(place: &Sandbox, prove: &str, script: &str, line: &str) -> (serde_json::Value, String) {
    std::fs::create_dir_all(place.path("bin")).unwrap();
    place.script("bin/rev", script);
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    let run = |mut command: Command| {
        command.env("PATH", &path).env("LC_ALL", "C").current_dir(place.path("."));
        finish(command)
    };
    let mut plain = Command::new("sh");
    plain.args(["-c", line]);
    let plain = run(plain);
    let auto =
        run(place.fullbore(&["run", "--auto", "--prove", prove, "--report", "r.json", line]));
    assert!(auto.stdout == plain.stdout, "{line}: {}", auto.stderr);
    assert_eq!(status_text(auto.status), status_text(plain.status), "{line}");
    let record = std::fs::read_to_string(place.path("r.json")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&record).unwrap();
    (record["auto"][0].clone(), auto.stderr.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn everything_is_proved_on_demand_and_the_bytes_are_those_of_the_stages() {
    let place = inputs();
    let honest = "#!/bin/sh\nexec /usr/bin/rev\n";
    for line in ["cat big | sort | uniq -c", "sort big | head -n 3", "cat big | rev"] {
        let (auto, said) = proved(&place, "all", honest, line);
        assert_eq!(auto["what"], "alone", "{said}");
        let bytes = std::fs::metadata(place.path("big")).unwrap().len();
        assert_eq!(auto["proved_bytes"], bytes, "{said}");
        assert!(said.contains("the other way writes the same for all"), "{said}");
    }
    // It leaves early, so that there is nothing to compare.
    let (auto, _) = proved(&place, "all", honest, "cat big big | rev | head -n 1");
    assert_eq!(auto["proved_bytes"], serde_json::Value::Null);
    // The output is never whole. The status is then that of fullbore (docs/auto.md).
    let line = "cat big | rev >/dev/full; true";
    let (auto, said) = proved(&place, "all", honest, line);
    assert_eq!((&auto["what"], &auto["proved_bytes"]), (&"alone".into(), &().into()), "{said}");
    // It remembers the lines before.
    let lies = "#!/bin/sh\nexec awk '{ print NR % 7, $0 }'\n";
    let (auto, said) = proved(&place, "all", lies, "cat big | rev");
    assert_eq!(auto["what"], "differs", "{said}");
    assert!(said.contains("several copies wrote something else"), "{said}");
}

#[test]
fn how_much_is_proved_can_be_said() {
    let place = inputs();
    let honest = "#!/bin/sh\nexec /usr/bin/rev\n";
    let line = "cat big big | sort | uniq -c";
    let (auto, _) = proved(&place, "4M", honest, line);
    let bytes = auto["proved_bytes"].as_u64().unwrap();
    assert!((4_000_000..=4 << 20).contains(&bytes), "{auto}");
    for line in [line, "sort big | uniq -c"] {
        let (auto, said) = proved(&place, "off", honest, line);
        assert_eq!((&auto["what"], &auto["proved_bytes"]), (&"fused".into(), &().into()), "{said}");
    }
    // Less than is to be proved: the stages do it.
    let (auto, _) = proved(&place, "256M", honest, line);
    assert_eq!(auto["what"], "unchanged");
    for wrong in ["some", "0", "257M"] {
        let ended = finish(place.fullbore(&["run", "--auto", "--prove", wrong, "touch done"]));
        assert_eq!(status_text(ended.status), "exit 2");
        assert!(
            ended.stderr.contains("expected off, all, or a size up to 256M"),
            "{}",
            ended.stderr
        );
    }
    let ended = finish(place.fullbore(&["run", "--prove", "all", "touch done"]));
    assert_eq!(status_text(ended.status), "exit 2");
    let ended = finish(place.fullbore(&["par", "--prove=all", "touch", "done"]));
    assert_eq!(status_text(ended.status), "exit 2");
    assert!(ended.stderr.contains("give a size up to 256M"), "{}", ended.stderr);
    assert!(!place.path("done").exists());
}
