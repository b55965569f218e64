//! Stages that hold a pipeline back, and what a hint tells to paste in their place.

use std::io::Write as _;

use fullbore_record::{AdvicePart, Finding, PipeRecord, RunRecord, StageRecord};

/// Stages that hold back `cat FILE | STAGE | wc -c`, and whether a command is to be pasted for them. Some would write
/// something else when several of them had a part of the lines each, and some do already what the hint would say.
pub(crate) const STAGES: &[(&[&str], bool)] = &[
    (&["sort"], true),
    (&["sort", "-u"], true),
    (&["sort", "-t", ",", "-k", "2,2n"], true),
    (&["sort", "-rn"], false),
    (&["nice", "-n", "5", "sort", "-s", "-k2"], true),
    (&["env", "LC_ALL=C", "sort"], false),
    (&["sort", "-S", "50%"], true),
    (&["env", "LC_COLLATE=C", "sort"], false),
    (&["grep", "error"], true),
    (&["grep", "-v", "error"], true),
    (&["grep", "-c", "error"], true),
    (&["grep", "error", "-c"], true),
    (&["grep", "-n", "a b"], false),
    (&["grep", "-E", "it's|\"q\""], true),
    (&["grep", "-F", "$x"], true),
    (&["grep", "-o", "[a-z]*"], true),
    (&["grep", "-i", "ERROR"], true),
    (&["grep", "-m", "5", "e"], false),
    (&["grep", "-A1", "error"], false),
    (&["env", "A=1", "grep", "-w", "error"], true),
    (&["awk", "END{print NR}"], true),
    (&["gawk", "{print $2}"], true),
    (&["gawk", "-F,", "{s += $2} END {print s}"], true),
    (&["sed", "s/a/b/g"], true),
    (&["sed", "s|e|'|"], true),
    (&["sed", "s/ /$x \"/"], true),
    (&["sed", "$p"], false),
    (&["sed", "-n", "5p"], false),
    (&["sed", "3q"], false),
    (&["env", "A=1", "sed", "s/a/b/"], false),
    (&["tr", "a-z", "A-Z"], true),
    (&["tr", "-d", "\\r"], true),
    (&["tr", " ", "\\n"], true),
    (&["tr", "-s", "\\n"], true),
    (&["cut", "-d", " ", "-f1"], true),
    (&["cut", "-c1-5"], true),
    (&["cut", "-d", "'", "-f2"], true),
    (&["cut", "-z", "-f1"], true),
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
    (&["gzip", "-1"], true),
    (&["gzip"], true),
    (&["bzip2", "-1"], true),
    (&["grep", "-c", "[0-9]7"], true),
    (&["grep", "-nw", "a"], true),
    (&["grep", "-x", "[a-z]*"], true),
    (&["sed", "s/[0-9]/n/g"], true),
    (&["tr", "-cd", "a-z\\n"], true),
    (&["cut", "-f2-", "-d,"], true),
    (&["sort", "-k3", "-u"], true),
    (&["sort", "-f"], true),
    (&["gawk", "NR % 2"], true),
    (&["jq", "-c", "{a, rest}"], true),
    // As people write them (docs/guide.md, bug reports, answers on the net).
    (&["grep", "-Ei", "timeout|refused|error"], true),
    (&["grep", "-oE", "[0-9]{1,3}[a-z]*"], true),
    (&["grep", "-vE", "^(#|$)"], true),
    (&["grep", "-Fc", "error"], true),
    (&["grep", "-zc", "error"], false),
    (&["sed", "-E", "s/([a-z]+) ([a-z]+)/\\2 \\1/g"], true),
    (&["sed", "-e", "s/^ *//", "-e", "s/ *$//"], true),
    (&["sed", "/^$/d"], true),
    (&["sed", "1d"], false),
    (&["awk", "{print $1, $NF}"], true),
    (&["awk", "-F,", "$3 > 500 {print $2}"], true),
    (&["mawk", "{print length($0)}"], true),
    (&["mawk", "{s += $1} END {print s}"], false),
    (&["gawk", "!seen[$0]++"], false),
    (&["wc"], true),
    (&["wc", "-w"], true),
    (&["perl", "-pe", "s/error/ERROR/g"], true),
    (&["perl", "-ne", "print if /it's/"], true),
    (&["cut", "-d,", "-f2,3"], true),
    (&["rev"], true),
    (&["fold", "-w", "40"], true),
    (&["expand", "-t", "4"], true),
    (&["jq", "-r", "[.a, .s] | @csv"], true),
    (&["jq", ".rest[2]"], true),
    (&["jq", "--arg", "x", "5", "-c", "select(.a == ($x | tonumber))"], true),
    (&["gzip", "-9"], true),
    (&["base64"], false),
    (&["md5sum"], false),
    (&["nice", "-n", "5", "jq", "-c", ".a"], true),
    (&["env", "LC_ALL=C", "grep", "-c", "error"], true),
];

/// What the finding about a stage tells people to paste.
pub(crate) fn commands_for(words: &[&str]) -> Vec<String> {
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
    record.host.cpus = 4;
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
    pasted(&findings[0])
}

/// The commands in the advice of a finding.
pub(crate) fn pasted(finding: &Finding) -> Vec<String> {
    let parts = finding.advice.iter().filter_map(|part| match part {
        AdvicePart::Command(line) => Some(line.clone()),
        _ => None,
    });
    parts.collect()
}

/// Lines with quotes, empty ones, carriage returns, and none at the end.
pub(crate) fn text() -> Vec<u8> {
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

/// Records on one line each.
pub(crate) fn json_lines() -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..400_000_u32 {
        let (a, s) = (number % 11, "it's \\\"quoted\\\" $x");
        writeln!(text, "{{\"a\": {a}, \"s\": \"{s}\", \"rest\": [1, 2, {number}]}}").unwrap();
    }
    text
}
