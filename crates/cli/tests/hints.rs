//! Every command that a hint names, pasted as it is shown, writes what the command it replaces writes.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::cases::hints::{STAGES, commands_for, json_lines, text};
use crate::gate::Pass;
use crate::sandbox::path_with_ours;

/// What `fullbore par` gives to the first copies.
const BLOCK_BYTES: usize = 2 << 20;

/// What a shell line writes, what it says, and its exit status.
fn output(line: &str, input: &[u8]) -> (Vec<u8>, String, Option<i32>) {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .env("LC_ALL", "C")
        .env("PATH", path_with_ours())
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
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.stdout, said, output.status.code())
}

#[test]
fn what_a_hint_tells_to_paste_writes_the_same() {
    require_programs!("bzip2", "gawk", "jq", "lbzip2", "mawk", "perl", "pigz", "xz", "zstd");
    let _pass = Pass::side_by_side();
    let (text, json) = (text(), json_lines());
    assert!(text.len() > 4 * BLOCK_BYTES && json.len() > 4 * BLOCK_BYTES, "each is dealt out");
    let (mut wrong, mut pasted) = (Vec::new(), 0);
    for (words, has_command) in STAGES {
        let input = if words.contains(&"jq") { &json } else { &text };
        // How a compressor divides its input is not what it is for.
        let end = match words[0] {
            "gzip" => " | gzip -dc",
            "bzip2" => " | bzip2 -dc",
            "xz" => " | xz -dc",
            "zstd" => " | zstd -dc",
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
        let (expected, _, expected_status) = output(&format!("{plain}{end}"), input);
        assert!(!expected.is_empty(), "{plain}");
        for command in commands {
            pasted += 1;
            let (written, said, status) = output(&format!("{command}{end}"), input);
            if status != expected_status || command.contains("fullbore par") && !said.is_empty() {
                wrong.push(format!("{plain}: `{command}` ended with {status:?}: {said}"));
            }
            if written != expected {
                let (is, was) = (written.len(), expected.len());
                wrong.push(format!("{plain}: `{command}` wrote {is} bytes, not {was}; {said}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(pasted >= 60, "only {pasted} commands were tried");
}
