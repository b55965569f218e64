//! From `fullbore.run/1` to this schema. Only here is prose taken apart: version 1 had no other form.

use serde_json::{Value, json};

/// Name and version of the schema that is converted.
pub(crate) const SCHEMA: &str = "fullbore.run/1";

/// How version 1 began a sentence about the best possible time, at the end of a message.
const BEST_TIME: &str = "; the best possible time is ";

/// Words that begin a loop, a condition or a group of the shell.
const SHELL_TEXT: [&str; 8] = ["while", "until", "for", "if", "case", "select", "[[", "{"];

/// Turns a record of version 1 into one of this version.
pub(crate) fn convert(record: &mut Value) {
    record["schema"] = crate::SCHEMA.into();
    let best_time_ns = record["bound_ns"].as_u64().min(record["elapsed_ns"].as_u64());
    for stage in record["stages"].as_array_mut().into_iter().flatten() {
        convert_stage(stage);
    }
    for finding in record["findings"].as_array_mut().into_iter().flatten() {
        convert_finding(finding, best_time_ns);
    }
}

fn convert_stage(stage: &mut Value) {
    let command = stage["command"].as_str().unwrap_or_default();
    let words: Vec<&str> =
        command.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
    let is_shell_text =
        words.first().is_some_and(|first| SHELL_TEXT.contains(first)) || command.starts_with('(');
    let (kind, words) =
        if is_shell_text { ("shell_text", json!([])) } else { ("program", json!(words)) };
    stage["command_is"] = kind.into();
    stage["words"] = words;
}

fn convert_finding(finding: &mut Value, best_time_ns: Option<u64>) {
    if let Some(advice) = finding["advice"].as_str() {
        finding["advice"] = parts(advice);
    }
    let message = finding["message"].as_str().unwrap_or_default();
    if let Some((before, _)) = message.split_once(BEST_TIME) {
        finding["message"] = format!("{before}.").into();
        finding["best_time_ns"] = json!(best_time_ns);
    }
}

/// What stands between backquotes is a command, the rest is text.
fn parts(advice: &str) -> Value {
    let pieces = advice.split('`').enumerate().filter(|(_, piece)| !piece.is_empty());
    pieces
        .map(
            |(place, piece)| {
                if place % 2 == 1 { json!({ "command": piece }) } else { json!({ "text": piece }) }
            },
        )
        .collect()
}
