//! The JSON in what fio wrote: after warnings, between lines of status, or one of several documents (`--status-interval`).

use std::borrow::Cow;

use serde_json::{Deserializer, Value, error::Category};

use super::output::Unreadable;

/// The document that counts, and what was left out.
pub(super) struct Found {
    pub(super) value: Value,
    pub(super) remarks: Vec<String>,
}

/// What was found in a text.
#[derive(Default)]
struct Documents {
    of_fio: Vec<Value>,
    /// Whether there is other JSON.
    has_others: bool,
    /// Why the last one that began is none.
    failure: Option<Unreadable>,
}

/// Finds the last whole document of fio.
pub(super) fn find(text: &str) -> Result<Found, Unreadable> {
    let text = text.trim_start_matches('\u{feff}');
    let mut remarks = Vec::new();
    let mut all = documents(text);
    if all.of_fio.is_empty() && all.failure.is_some() {
        let (cleaned, left_out) = cleaned(text);
        let of_cleaned = documents(&cleaned);
        if !of_cleaned.of_fio.is_empty() {
            remarks
                .push(format!("{left_out} lines within the JSON are not JSON and were left out"));
            all = of_cleaned;
        }
    }
    let count = all.of_fio.len();
    if let Some(value) = all.of_fio.pop() {
        if count > 1 {
            remarks.push(format!(
                "{count} documents in one file (--status-interval): the last one counts"
            ));
        }
        if let Some(failure @ Unreadable::CutOff { .. }) = all.failure {
            remarks.push(format!("a further document was left out: {failure}"));
        }
        return Ok(Found { value, remarks });
    }
    Err(match all.failure {
        Some(failure) => failure,
        None if all.has_others => Unreadable::NotFio,
        None => Unreadable::NoJson,
    })
}

fn is_of_fio(value: &Value) -> bool {
    value.get("jobs").is_some() || value.get("client_stats").is_some()
}

/// All objects that begin a line.
fn documents(text: &str) -> Documents {
    let mut all = Documents::default();
    let mut at = 0;
    while let Some(start) = object_from(text, at) {
        let rest = numbers(&text[start..]);
        let mut stream = Deserializer::from_str(&rest).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                // Replaced numbers are as long as what they replace.
                at = start + stream.byte_offset();
                if is_of_fio(&value) {
                    all.of_fio.push(value);
                    all.failure = None;
                } else {
                    all.has_others = true;
                }
            }
            Some(Err(error)) => {
                // What begins within it says less about why.
                all.failure.get_or_insert_with(|| told(&error, text, start));
                if error.classify() == Category::Eof {
                    break;
                }
                at = start + 1;
            }
            None => break,
        }
    }
    all
}

/// Where the next line begins with `{`; what a status line left before it in the same line counts as a line of its own.
fn object_from(text: &str, at: usize) -> Option<usize> {
    let mut from = at;
    loop {
        let place = from + text.get(from..)?.find('{')?;
        let before = text[..place].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        if text[before..place].trim().is_empty() {
            return Some(place);
        }
        from = place + 1;
    }
}

/// `nan` and `inf`, which some versions write for a number, as `null` of the same length; they are no JSON.
fn numbers(text: &str) -> Cow<'_, str> {
    const WORDS: [&str; 4] = [": -nan", ": nan", ": -inf", ": inf"];
    if !WORDS.iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut replaced = text.to_owned();
    for (word, same) in WORDS.into_iter().zip([": null", ":null", ": null", ":null"]) {
        replaced = replaced.replace(word, same);
    }
    Cow::Owned(replaced)
}

/// The text without lines that cannot be a line of fio's JSON, and how many those were.
fn cleaned(text: &str) -> (String, usize) {
    let mut kept = String::with_capacity(text.len());
    let mut left_out = 0;
    for line in text.lines() {
        // A line of status ends in a carriage return, and the next thing follows in the same line.
        let line = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or("");
        if is_json_line(line) {
            kept.push_str(line);
            kept.push('\n');
        } else {
            left_out += usize::from(!line.trim().is_empty());
        }
    }
    (kept, left_out)
}

fn is_json_line(line: &str) -> bool {
    let line = line.trim();
    let ends_well = line.ends_with([',', '{', '}', '[', ']', '"'])
        || line.ends_with(|c: char| c.is_ascii_digit());
    match line.chars().next() {
        Some('{' | '}' | ']') => true,
        Some('[') => line.len() == 1 || line.ends_with([']', ',']),
        Some('"') => ends_well,
        Some(first) if first.is_ascii_digit() || first == '-' => {
            line.trim_end_matches(',').parse::<f64>().is_ok()
        }
        _ => false,
    }
}

fn told(error: &serde_json::Error, text: &str, start: usize) -> Unreadable {
    let lines_before = text[..start].matches('\n').count();
    if error.classify() == Category::Eof {
        return Unreadable::CutOff { line: text.lines().count() };
    }
    let what = error.to_string();
    let what = what.split(" at line").next().unwrap_or_default();
    Unreadable::Json { what: format!("{what} at line {}", lines_before + error.line()) }
}
