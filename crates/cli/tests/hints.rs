//! Every command that a hint names, pasted as it is shown, writes what the command it replaces writes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use fullbore_record::{AdvicePart, PipeRecord, RunRecord, StageRecord};

use crate::gate::Pass;

/// Stages that hold back `cat FILE | STAGE | wc -c`, and whether a command is to be pasted for them. Some would write
/// something else when several of them had a part of the lines each, and some do already what the hint would say.
const STAGES: &[(&[&str], bool)] = &[
    (&["sort"], true),
    (&["sort", "-u"], true),
    (&["sort", "-t", ",", "-k", "2,2n"], true),
    (&["sort", "-rn"], true),
    (&["nice", "-n", "5", "sort", "-s", "-k2"], true),
    (&["env", "LC_ALL=C", "sort"], false),
    (&["sort", "-S", "50%"], false),
    (&["grep", "error"], true),
    (&["grep", "-v", "error"], true),
    (&["grep", "-c", "error"], true),
    (&["grep", "error", "-c"], true),
    (&["grep", "-n", "a b"], true),
    (&["grep", "-E", "it's|\"q\""], true),
    (&["grep", "-F", "$x"], true),
    (&["grep", "-o", "[a-z]*"], true),
    (&["grep", "-i", "ERROR"], true),
    (&["grep", "-m", "5", "e"], true),
    (&["grep", "-A1", "error"], true),
    (&["env", "A=1", "grep", "-w", "error"], true),
    (&["awk", "END{print NR}"], false),
    (&["gawk", "{print $2}"], true),
    (&["gawk", "-F,", "{s += $2} END {print s}"], true),
    (&["sed", "s/a/b/g"], true),
    (&["sed", "s|e|'|"], true),
    (&["sed", "s/ /$x \"/"], true),
    (&["sed", "$p"], false),
    (&["sed", "-n", "5p"], false),
    (&["sed", "3q"], false),
    (&["env", "A=1", "sed", "s/a/b/"], true),
    (&["tr", "a-z", "A-Z"], true),
    (&["tr", "-d", "\\r"], true),
    (&["tr", " ", "\\n"], true),
    (&["tr", "-s", "\\n"], false),
    (&["cut", "-d", " ", "-f1"], true),
    (&["cut", "-c1-5"], true),
    (&["cut", "-d", "'", "-f2"], true),
    (&["cut", "-z", "-f1"], false),
    (&["rev"], true),
    (&["uniq", "-c"], false),
    (&["nl"], false),
    (&["tac"], false),
    (&["paste", "-", "-"], false),
    (&["jq", "-c", ".a"], true),
    (&["jq", "-r", ".s | \"x y \" + ."], true),
    (&["jq", "-c", "select(.a > 5)"], true),
    (&["jq", "-s", "length"], false),
    (&["jq", "-c", "[inputs]"], false),
    (&["xz", "-1"], true),
    (&["zstd", "-3"], true),
    (&["gzip", "-1"], false),
];

/// What `parallel --block 10M` gives to each copy.
const BLOCK_BYTES: usize = 10 << 20;

/// What the finding about a stage tells people to paste.
fn commands_for(words: &[&str]) -> Vec<String> {
    let stage = |number: u32, words: &[&str], running_percent: u64| {
        let mut stage = StageRecord::default();
        stage.stage = number;
        stage.words = words.iter().map(ToString::to_string).collect();
        stage.command = words.join(" ");
        stage.processes = 1;
        stage.life_ns = 10_000_000_000;
        stage.running_percent = running_percent as f64;
        stage.cpu_ns = stage.life_ns * running_percent / 100;
        // 20 MB/s, in large calls.
        stage.read_bytes = Some(200_000_000);
        stage.written_bytes = Some(200_000_000);
        stage.read_calls = Some(3_000);
        stage.write_calls = Some(3_000);
        stage
    };
    let pipe = |number: u32| {
        let mut pipe = PipeRecord::default();
        (pipe.pipe, pipe.writers, pipe.readers) = (number, vec![number], vec![number + 1]);
        pipe.life_ns = 10_000_000_000;
        pipe
    };
    let mut record = RunRecord::default();
    record.elapsed_ns = 10_000_000_000;
    record.samples = 1000;
    record.host.cpus = 2;
    let (mut cat, mut wc) = (stage(1, &["cat", "file"], 4), stage(3, &["wc", "-c"], 4));
    cat.blocked_writing_percent = Some(96.0);
    wc.blocked_reading_percent = Some(96.0);
    let (mut before, mut after) = (pipe(1), pipe(2));
    before.writer_blocked_percent = Some(96.0);
    after.reader_blocked_percent = Some(96.0);
    record.stages = vec![cat, stage(2, words, 100), wc];
    record.pipes = vec![before, after];
    let findings = fullbore_diagnose::diagnose(&record);
    assert_eq!(findings[0].stage, Some(2), "{words:?}: {findings:#?}");
    let parts = findings[0].advice.iter().filter_map(|part| match part {
        AdvicePart::Command(line) => Some(line.clone()),
        _ => None,
    });
    parts.collect()
}

/// Lines with quotes, empty ones, carriage returns, and none at the end.
fn text() -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..600_000_u32 {
        let scattered = number.wrapping_mul(2_654_435_761);
        let word = ["error", "it's", "a b", "\"q\" $x", "", "plain\r"][scattered as usize % 6];
        writeln!(text, "{scattered} {word} line,{},{number} of the text", number % 97).unwrap();
        if number.is_multiple_of(1000) {
            text.push(b'\n');
        }
    }
    text.extend(b"the last line has no end");
    text
}

fn json_lines() -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..400_000_u32 {
        let (a, s) = (number % 11, "it's \\\"quoted\\\" $x");
        writeln!(text, "{{\"a\": {a}, \"s\": \"{s}\", \"rest\": [1, 2, {number}]}}").unwrap();
    }
    text
}

/// What a shell line writes, and what it says.
fn output(line: &str, input: &[u8]) -> (Vec<u8>, String) {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // `grep -m 5` does not read all of it.
        scope.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    (output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn what_a_hint_tells_to_paste_writes_the_same() {
    require_programs!("gawk", "jq", "parallel", "mawk", "xz", "zstd");
    let _pass = Pass::side_by_side();
    let (text, json) = (text(), json_lines());
    assert!(text.len() > 2 * BLOCK_BYTES && json.len() > 2 * BLOCK_BYTES, "each is dealt out");
    let (mut wrong, mut pasted) = (Vec::new(), 0);
    for (words, has_command) in STAGES {
        let program = words.iter().find(|word| ["jq", "xz", "zstd"].contains(word));
        let input = if program == Some(&"jq") { &json } else { &text };
        // How a compressor divides its input is not what it is for.
        let end = match program {
            Some(&"xz") => " | xz -dc",
            Some(&"zstd") => " | zstd -dc",
            _ => "",
        };
        let plain = shell_words::join(*words);
        let commands = commands_for(words);
        if commands.is_empty() == *has_command {
            wrong.push(format!("{plain}: {commands:?}"));
        }
        if commands.is_empty() {
            continue;
        }
        let (expected, _) = output(&format!("{plain}{end}"), input);
        assert!(!expected.is_empty(), "{plain}");
        for command in commands {
            pasted += 1;
            let (written, said) = output(&format!("{command}{end}"), input);
            if written != expected {
                let (is, was) = (written.len(), expected.len());
                wrong.push(format!("{plain}: `{command}` wrote {is} bytes, not {was}; {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(pasted >= 40, "only {pasted} commands were tried");
}
