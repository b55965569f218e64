//! `jq`: a filter is a function of one value unless it reads further values or stops.

use super::reason::differ;
use crate::answer::{Dealt, Ends, Rule};
use crate::call::Call;

pub(super) fn look(rule: &mut Rule, call: &Call) {
    let parsed = call.parsed;
    if parsed.has("-R") {
        rule.needs = Some("valid UTF-8, no NUL bytes".to_owned());
    }
    if parsed.has("-j") {
        rule.output = Ends::Bytes;
    }
    match &parsed.operands[..] {
        [] => rule.dealt = Dealt::Unknown,
        [filter] => match names(filter) {
            Some(names) => names.iter().for_each(|name| judge(rule, name)),
            None => rule.dealt = Dealt::Unknown,
        },
        [_, file, ..] => differ(rule, &format!("reads the file {file} instead of its input")),
    }
}

/// What a function of the language means for dealing out.
fn judge(rule: &mut Rule, name: &str) {
    if rule.dealt == Dealt::Unknown {
        return;
    }
    match name {
        "input" | "inputs" => differ(rule, "input takes the next value of its block"),
        "input_line_number" => differ(rule, "numbers the lines of its block"),
        "halt" | "halt_error" => differ(rule, "stops within its block only"),
        "import" | "include" | "modulemeta" | "get_search_list" | "getsearchlist" => {
            rule.dealt = Dealt::Unknown;
        }
        _ => {}
    }
}

/// The functions that a filter calls, and the keywords in it; `None` if its quotes or brackets do not match.
fn names(filter: &str) -> Option<Vec<&str>> {
    let bytes = filter.as_bytes();
    let mut found = Vec::new();
    // For each open string interpolation, the number of parentheses open in it.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => {
                at += bytes[at..].iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len() - at)
            }
            b'"' => at = string(bytes, at + 1, &mut open)?,
            b'(' => {
                open.last_mut().into_iter().for_each(|depth| *depth += 1);
                at += 1;
            }
            b')' if open.last() == Some(&0) => {
                open.pop();
                at = string(bytes, at + 1, &mut open)?;
            }
            b')' => {
                open.last_mut().into_iter().for_each(|depth| *depth -= 1);
                at += 1;
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                let length = bytes[at..].iter().take_while(|byte| is_name(byte)).count();
                let before = filter[..at].trim_end().as_bytes().last();
                let key = filter[at + length..].trim_start().starts_with(':')
                    && !filter[at + length..].trim_start().starts_with("::");
                // A field, a variable, a format, or the key of an object.
                if !matches!(before, Some(b'.' | b'$' | b'@')) && !key {
                    found.push(&filter[at..at + length]);
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    open.is_empty().then_some(found)
}

/// Skips to the end of a string, or to the beginning of an interpolation `\(` in it.
fn string(bytes: &[u8], from: usize, open: &mut Vec<usize>) -> Option<usize> {
    let mut at = from;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' if bytes.get(at + 1) == Some(&b'(') => {
                open.push(0);
                return Some(at + 2);
            }
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
