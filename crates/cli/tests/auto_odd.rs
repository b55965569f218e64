//! Stages that somebody wrote who did not know the code, to make `run --auto` fail: the bytes and the status of the shell.
//!
//! Each stage is run with two of the inputs, every tenth stage; `FULLBORE_ALL=1` runs all stages with all inputs, in some 20
//! minutes. `FULLBORE_CASE=awk` selects stages, all inputs each.

use crate::sandbox::{Ended, Sandbox, finish, status_text};

/// One stage a line.
const STAGES: &str = include_str!("cases/auto/stages.txt");

/// What is not the same, and why that is documented (docs/auto.md) or is no fault of fullbore.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// The inputs, each with the commands that make it.
const INPUTS: [(&str, &str); 11] = [
    ("words", "seq 1 350000 | awk '{ print ($1 * 7919) % 4001, \"Word\" $1 % 13, $1 }'"),
    ("no-end", "head -c 5000001 words"),
    ("crlf", "sed 's/$/\\r/' words"),
    ("json", "awk '{ print \"{\\\"a\\\":\" $1 \",\\\"b\\\":\\\"\" $2 \"\\\",\\\"c\\\":[\" $3 \",null]}\" }' words"),
    ("invalid", "sed 's/Word7/W\\xe9\\xffrd/; s/Word8/W\\xc3\\xb6rd/' words"),
    ("zeros", "{ cat words; head -c 100 /dev/zero; cat words; }"),
    ("equal", "cut -d' ' -f2 words | sort | awk '{ print; if (NR % 9 == 0) print \"\" }'"),
    ("blanks", "sed -n '1~3p; s/.*//; 2~3p; s/^/   /p' words"),
    ("long", "tr '\\n' ' ' <words | head -c 8000000"),
    ("empty", ":"),
    ("three", "head -n 3 words"),
];

fn inputs() -> Sandbox {
    let place = Sandbox::new();
    for (name, make) in INPUTS {
        let mut command = place.command("sh");
        command.env("LC_ALL", "C").args(["-c", &format!("{make} >{name}")]);
        assert!(finish(command).status.success(), "{name}");
    }
    place
}

/// The first difference between what the shell gives and what `--auto` gives, and whether anything was dealt out or fused.
fn difference(place: &Sandbox, line: &str) -> (Option<String>, bool) {
    let mut plain = place.command("sh");
    plain.args(["-c", line]);
    let auto = place.fullbore(&["run", "-q", "--auto", "--report", "record.json", line]);
    let [plain, auto] = [plain, auto].map(|mut command| {
        command.env("LC_ALL", "C");
        finish(command)
    });
    let record = std::fs::read_to_string(place.path("record.json")).unwrap_or_default();
    let is_changed = ["\"dealt\"", "\"fused\""].iter().any(|what| record.contains(what));
    (tell_apart(&plain, &auto), is_changed)
}

fn tell_apart(plain: &Ended, auto: &Ended) -> Option<String> {
    let [theirs, ours] = [plain, auto].map(|ended| status_text(ended.status));
    if theirs != ours {
        return Some(format!("{ours} instead of {theirs}: {}", auto.stderr));
    }
    if plain.stdout == auto.stdout {
        return None;
    }
    let at = plain.stdout.iter().zip(&auto.stdout).take_while(|(a, b)| a == b).count();
    let piece = |bytes: &[u8]| {
        let from = at.saturating_sub(20);
        String::from_utf8_lossy(&bytes[from..bytes.len().min(at + 40)]).into_owned()
    };
    Some(format!(
        "differs from byte {at} on ({} and {} bytes): {:?} instead of {:?}",
        auto.stdout.len(),
        plain.stdout.len(),
        piece(&auto.stdout),
        piece(&plain.stdout)
    ))
}

#[test]
fn stages_of_a_stranger_give_the_same_bytes() {
    require_programs!("jq", "gawk", "mawk", "datamash", "xxd", "zstd", "xz");
    let place = inputs();
    let all = std::env::var_os("FULLBORE_ALL").is_some();
    let selected = std::env::var("FULLBORE_CASE").ok();
    let stages = STAGES.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let (mut failures, mut runs, mut changed) = (Vec::new(), 0, 0);
    for (number, stage) in stages.enumerate() {
        let is_picked = match &selected {
            Some(text) => stage.contains(text),
            None => all || number % 10 == 0,
        };
        if !is_picked {
            continue;
        }
        for (place_of, (input, _)) in INPUTS.iter().enumerate() {
            let is_due = all
                || selected.is_some()
                || [0, 3].contains(&((place_of + number / 10) % INPUTS.len()));
            if !is_due || EXCEPTIONS.contains(&(stage, input)) {
                continue;
            }
            let line = format!("cat {input} | {stage}");
            let (difference, is_changed) = difference(&place, &line);
            runs += 1;
            changed += u32::from(is_changed);
            failures.extend(difference.map(|what| format!("{line}\n    {what}")));
        }
    }
    eprintln!("{runs} lines, in {changed} of which something was dealt out or became one stage");
    assert!(failures.is_empty(), "{} of {runs} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(selected.is_some() || changed * 20 > runs, "hardly anything was dealt out");
}
