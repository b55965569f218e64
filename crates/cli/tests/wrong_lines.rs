//! Command lines that are wrong, and names that are hostile: one message, one hint, nothing else.

use crate::bad_input::assert_message;
use crate::sandbox::{Sandbox, finish, status_text};

/// A line that is wrong, and what the message and the hint say: the help that has the option, and the name that was meant.
const WRONG_LINES: &[(&[&str], &str)] = &[
    (&["gsot"], "did you mean 'gost'?"),
    (&["gost", "sael"], "did you mean 'seal'? fullbore gost --help lists the commands"),
    (&["seq 3 | cat"], "to run a pipeline: fullbore run 'a | b'"),
    (
        &["--key-file", "k", "gost", "seal"],
        "options follow the command: fullbore gost seal --key-file",
    ),
    (&["gost", "--key-file", "k", "seal"], "see fullbore gost seal --help"),
    (
        &["gost", "seal", "--key-flie", "k"],
        "did you mean '--key-file'? See fullbore gost seal --help",
    ),
    (
        &["gost", "seal", "--key", "k"],
        "--key-file FILE, --key-fd N or --key-env NAME; see fullbore gost seal --help",
    ),
    (
        &["gost", "seal", "--iv", "00"],
        "--iv belongs to fullbore gost encrypt, fullbore gost decrypt",
    ),
    (
        &["gost", "seal", "-j", "-1"],
        "expected a number that is not negative; see fullbore gost seal --help",
    ),
    (&["gost", "seal", "-j", "0"], "'0' for '--jobs <N>': expected a number from 1 to 1024"),
    (&["gost", "seal", "-j", "99999999999999999999"], "a number from 1 to 1024"),
    (&["gost", "seal"], "--key-file <FILE>|--key-fd <N>|--key-env <NAME>"),
    (&["gost", "seal", "--key-file", "", "x"], "a value is required for '--key-file <FILE>'"),
    (&["gost", "mac", "--cipher", "magam"], "did you mean 'magma'? See fullbore gost mac --help"),
    (
        &["gost", "encrypt", "--mode", "ctr-acpm"],
        "did you mean 'ctr-acpkm'? See fullbore gost encrypt --help",
    ),
    (&["gost", "encrypt", "--mode", "ctr", "--section", "1Q"], "unknown size suffix 'Q'"),
    (
        &["gost", "encrypt", "--mode", "ctr", "--section", "99999999999T"],
        "does not fit into 64 bits",
    ),
    (
        &["gost", "encrypt", "--mode", "ctr", "--iv", "00", "--padding", "none", "--key-file", "k"],
        "only ecb and cbc",
    ),
    (
        &["morse", "decode", "--alphabet", "rusian"],
        "did you mean 'russian'? See fullbore morse decode",
    ),
    (&["morse", "decode", "--on-error", "ignore"], "[possible values: fail, replace, skip]"),
    (&["morse", "encode", "--wpm", "10"], "--audio <FILE>"),
    (&["lab", "memroy"], "did you mean 'memory'?"),
    (&["lab", "lsit"], "did you mean 'list'?"),
    (&["lab", "memory/copi"], "did you mean 'memory/copy'?"),
    (&["lab", "memory", "--ladder"], "this suite has no case 'ladder'"),
    (&["lab", "memory/copy", "--against", "/bin/true"], "none of these cases runs fullbore"),
    (&["lab", "show", "-q", "--markdown", "x"], "'--quiet' cannot be used with '--markdown'"),
    (&["lab", "compare", "a", "--fail-below", "2"], "a number above 0 and at most 1"),
    (&["run", "-q", "--live", "always", "true"], "'--quiet' cannot be used with '--live <WHEN>'"),
    (&["run", "--shell", "bash", "--", "true"], "'--shell <SHELL>' cannot be used with"),
    (&["run", "--pipe-size", "1M", "--no-tune", "true"], "cannot be used with"),
    (&["run", "seq", "3"], "put the pipeline in quotes"),
    (&["gen", "zero", "--seed", "1"], "gen: --seed: it does nothing"),
    (&["gen", "fizzbuzz", "--length", "9"], "gen: --length: it does nothing"),
    (&["gen", "random", "--count", "9"], "gen: --count: it does nothing"),
    (&["gen", "lines", "--length", "2M"], "a line has from 1 to 1M bytes"),
    (
        &["gen", "lines", "--bytes", "-1"],
        "expected a number that is not negative; see fullbore gen --help",
    ),
    (&["man", "gost", "sael"], "did you mean 'seal'?"),
    (&["man", "--directory", "x", "gost"], "cannot be used with"),
    (&["man", "--directory", "/proc/x"], "man: writing: /proc/x: No such file or directory"),
    (&["completions", "bsh"], "did you mean 'bash'? See fullbore completions --help"),
    (
        &["utf8", "check", "no/such/file"],
        "utf8 check: reading: no/such/file: No such file or directory",
    ),
    (
        &["gost", "mac", "--key-file", "nowhere", "x"],
        "make a key with: fullbore gost keygen -o FILE",
    ),
];

#[test]
fn a_wrong_line_is_told_what_was_probably_meant_and_where_the_help_is() {
    for (words, about) in WRONG_LINES {
        let place = Sandbox::new();
        let ended = place.run(words);
        assert_eq!(status_text(ended.status), "exit 2", "{words:?}: {}", ended.stderr);
        assert_message(&ended, about);
        assert!(!ended.stderr.contains("os error"), "{words:?}: {}", ended.stderr);
        assert!(place.files().is_empty(), "{words:?} left {:?}", place.files());
    }
}

/// A name may come from a stranger's archive, and may try to write to the terminal.
#[test]
fn nothing_in_a_name_reaches_the_terminal_as_a_command() {
    use std::os::unix::ffi::OsStrExt;
    let hostile = std::ffi::OsStr::from_bytes(
        b"a\x1b]0;title\x07\x1b[2J\xc2\x9b\xff\xe2\x80\xae\nfullbore: fine",
    );
    for words in [
        &["gost", "seal", "--key-file"][..],
        &["gost", "seal", "--key-env"],
        &["gost", "keygen", "-o", "no/such/"],
        &["gost", "encrypt", "--mode"],
        &["utf8", "check"],
        &["utf8", "check", "-q", "x"],
        &["morse", "encode"],
        &["morse", "decode", "--alphabet"],
        &["buffer", "--spill"],
        &["buffer", "--memory"],
        &["run", "--report"],
        &["run", "--shell"],
        &["run", "--"],
        &["gen", "zero", "--bytes"],
        &["lab"],
        &["lab", "show"],
        &["lab", "compare"],
        &["lab", "pipe", "--against"],
        &["man"],
        &["completions"],
        &[],
    ] {
        let place = Sandbox::new();
        let mut command = place.fullbore(words);
        let last = if words.ends_with(&["--report"]) { "/x.json" } else { "" };
        let ended = finish({
            command.arg([hostile, std::ffi::OsStr::new(last)].join(std::ffi::OsStr::new("")));
            command
        });
        assert!(!ended.status.success(), "{words:?}");
        let lines: Vec<_> = ended.stderr.lines().collect();
        assert!(lines.len() <= 2 && lines[0].starts_with("fullbore: "), "{words:?}: {lines:?}");
        let is_command = |c: char| c.is_control() || c == '\u{202e}';
        assert!(lines.iter().all(|line| !line.contains(is_command)), "{words:?}: {lines:?}");
    }
}
