//! `cut`, `wc`, `numfmt` and `iconv`.

use super::reason::{advise, differ};
use crate::answer::{Dealt, Ends, Merge, Rule};
use crate::call::Call;

/// A delimiter that also ends records makes all of the input one row of fields.
pub(super) fn cut(rule: &mut Rule, call: &Call) {
    let delimiter = call.parsed.value("-d");
    let ends_records = match rule.input {
        Ends::Zeros => delimiter == Some(""),
        _ => delimiter == Some("\n"),
    };
    if ends_records {
        differ(rule, "its fields are the records of its block");
    }
}

/// `-L` is a maximum, all others are sums; with a file name the numbers are followed by it.
pub(super) fn wc(rule: &mut Rule, call: &Call) {
    let longest = call.parsed.has("-L");
    if !call.parsed.operands.is_empty() && call.parsed.operands == ["-"] {
        return advise(rule, "writes the name - after its numbers", "leave out the -");
    }
    let counted = call.parsed.options.iter().all(|(name, _)| name == "-l" || name == "-c");
    if counted && !call.parsed.options.is_empty() {
        rule.input = Ends::Bytes;
        rule.is_light = true;
    }
    if longest && call.parsed.options.iter().all(|(name, _)| name == "-L") {
        rule.dealt = Dealt::Merge(Merge::Greatest);
    } else if longest {
        differ(rule, "the longest line cannot be added like the other numbers");
    }
}

/// Numbers among the arguments are read instead of the input.
pub(super) fn numfmt(rule: &mut Rule, call: &Call) {
    if !call.parsed.operands.is_empty() {
        return differ(rule, "reads its arguments instead of its input");
    }
    let lenient = |value: &&str| ["ignore", "warn", "fail"].contains(value);
    if call.parsed.value("--invalid").as_ref().is_some_and(lenient) {
        rule.needs = None;
    }
}

/// Encodings whose every line can be read alone: no state, and no byte of a newline inside a character.
const READ: &[&str] = &[
    "utf-8",
    "utf8",
    "ascii",
    "us-ascii",
    "latin1",
    "latin-1",
    "euc-jp",
    "eucjp",
    "euc-kr",
    "gbk",
    "gb2312",
    "gb18030",
    "big5",
    "shift_jis",
    "shift-jis",
    "sjis",
    "cp932",
];
/// Encodings that can be written line by line; those with a byte order mark would write it once per block.
const WRITTEN: &[&str] =
    &["utf-16le", "utf-16be", "utf-32le", "utf-32be", "ucs-2le", "ucs-2be", "ucs-4le", "ucs-4be"];

pub(super) fn iconv(rule: &mut Rule, call: &Call) {
    let from = call.parsed.value("-f").map(str::to_ascii_lowercase);
    let to = call.parsed.value("-t").map(str::to_ascii_lowercase);
    let to =
        to.as_deref().map(|name| name.trim_end_matches("//ignore").trim_end_matches("//translit"));
    if from.as_deref().is_some_and(|name| !is_line_based(name)) {
        return differ(rule, "a line of this encoding cannot be read alone");
    }
    match to {
        None => {}
        Some(name) if is_line_based(name) => {}
        Some(name) if WRITTEN.contains(&name) => rule.output = Ends::Bytes,
        Some("utf-16" | "utf16" | "utf-32" | "utf32" | "ucs-2" | "unicode") => {
            differ(rule, "writes a byte order mark for every block");
        }
        Some(_) => rule.dealt = Dealt::Unknown,
    }
}

fn is_line_based(name: &str) -> bool {
    let single = [
        "iso-8859-",
        "iso8859-",
        "iso_8859-",
        "cp125",
        "windows-125",
        "koi8-",
        "cp437",
        "cp850",
        "cp866",
    ];
    READ.contains(&name) || single.iter().any(|begin| name.starts_with(begin))
}
