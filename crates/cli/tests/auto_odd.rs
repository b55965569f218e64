//! Stages that somebody wrote who did not know the code, to make `run --auto` fail: the bytes and the status of the shell.
//!
//! Every twentieth stage is run with two of the inputs each; `FULLBORE_ALL=1` runs all stages with two, in ten minutes.
//! `FULLBORE_CASE=awk` runs the stages that contain this text, with all inputs.

use crate::sandbox::{Ended, Sandbox, finish, status_text};

/// One stage a line.
const STAGES: &str = include_str!("cases/auto/stages.txt");

/// The inputs, each with the commands that make it.
const INPUTS: [(&str, &str); 11] = [
    ("words", "seq 1 350000 | awk '{ print ($1 * 7919) % 4001, \"Word\" $1 % 13, $1 }'"),
    ("no-end", "head -c 5000001 words"),
    ("crlf", "sed 's/$/\\r/' words"),
    (
        "json",
        "awk '{ print \"{\\\"a\\\":\" $1 \",\\\"b\\\":\\\"\" $2 \"\\\",\\\"c\\\":[\" $3 \",null]}\" }' words",
    ),
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

/// What grep prints of binary files depends on the pieces it reads, also without fullbore (docs/auto.md). On a line without an
/// end, fmt of coreutils 9.1 writes for ever.
fn has_no_answer(stage: &str, input: &str) -> bool {
    if input == "long" && stage.starts_with("fmt -") {
        return true;
    }
    let is_text = ["grep -a", "grep -z", "grep -c", "grep --text", "grep --count"];
    input == "zeros" && stage.contains("grep") && !is_text.iter().any(|way| stage.contains(way))
}

/// The stages that are run, each with its inputs.
fn picked() -> Vec<(&'static str, Vec<&'static str>)> {
    let each = if std::env::var_os("FULLBORE_ALL").is_some() { 1 } else { 20 };
    let selected = std::env::var("FULLBORE_CASE").ok();
    let stages = STAGES.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let names = INPUTS.map(|(name, _)| name);
    let pick = |(number, stage): (usize, &'static str)| {
        let (is_picked, inputs) = match &selected {
            Some(text) => (stage.contains(text.as_str()), names.len()),
            None => (number % each == 0, 2),
        };
        // Another combination for each stage.
        let inputs = (0..inputs).map(|turn| names[(number / each + 3 * turn) % names.len()]);
        let inputs: Vec<_> = inputs.filter(|input| !has_no_answer(stage, input)).collect();
        is_picked.then_some((stage, inputs))
    };
    stages.enumerate().filter_map(pick).collect()
}

#[test]
fn stages_of_a_stranger_give_the_same_bytes() {
    require_programs!("jq", "gawk", "mawk", "datamash", "xxd", "zstd", "xz");
    let place = inputs();
    let (mut failures, mut runs, mut changed) = (Vec::new(), 0, 0);
    for (stage, inputs) in picked() {
        for input in inputs {
            // How much that is cannot be known beforehand: small inputs take the same way as large ones.
            let line = format!("tail -n +1 {input} | {stage}");
            let (difference, is_changed) = difference(&place, &line);
            runs += 1;
            changed += u32::from(is_changed);
            if let Some(what) = difference {
                eprintln!("{line}\n    {what}");
                failures.push(line);
            }
        }
    }
    eprintln!("{runs} lines, in {changed} of which something was dealt out or became one stage");
    assert!(failures.is_empty(), "{} of {runs} differ:\n{}", failures.len(), failures.join("\n"));
    assert!(runs < 100 || changed * 20 > runs, "hardly anything was dealt out");
}
