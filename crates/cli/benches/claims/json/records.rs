//! What passes through, byte for byte.

use std::fs;
use std::process::Stdio;

use super::events;
use crate::Effort;
use crate::count::mixed;
use crate::pairs::plain;
use crate::sandbox::Sandbox;
use crate::stages::compare;
use crate::table::{Outcome, Row};

/// Checking a stream beside merely copying it.
pub(crate) fn passing(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let file = events(&place, effort.pick(20_000, 1_500_000)).display().to_string();
    let same = format!("cat {file} | {{fullbore}} json check -p | cmp - {file}");
    assert!(plain(&place, &same).status().unwrap().success(), "json check -p changed its input");
    let four = format!("{file} {file} {file} {file}");
    vec![compare(
        "events between pipes: time with `cat` ÷ time with `json check -p` instead",
        Some(1.0),
        effort.times(3, 9),
        [
            &format!("cat {four} | cat | {{sequence}} discard"),
            &format!("cat {four} | {{fullbore}} json check -p | {{sequence}} discard"),
        ],
    )]
}

/// Numbers that `select` prints as it found them.
pub(crate) fn digits(effort: Effort) -> Vec<Row> {
    let place = Sandbox::new();
    let count: u64 = effort.pick(10_000, 1_000_000);
    let numbers: Vec<String> = (0..count).map(number).collect();
    let path = place.path("numbers.jsonl");
    let lines: Vec<String> = numbers.iter().map(|number| format!("{{\"n\":{number}}}\n")).collect();
    fs::write(&path, lines.concat()).unwrap();
    let line = format!("{{fullbore}} json select .n {}", path.display());
    let output = plain(&place, &line).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "json select: {}", output.status);
    let printed = String::from_utf8(output.stdout).unwrap();
    let same = printed.lines().zip(&numbers).filter(|(printed, number)| printed == number).count();
    let changed = count - same as u64 + (printed.lines().count() as u64).abs_diff(count);
    vec![Row {
        claim: format!("numbers of 1 to 40 digits that `json select` changes, of {count}"),
        bar: "0".to_owned(),
        measured: changed.to_string(),
        outcome: Outcome::met_if(changed == 0),
        command: "fullbore json select .n numbers.jsonl".to_owned(),
        notes: vec![format!("such as {}, {}, {}", numbers[7], numbers[8], numbers[9])],
    }]
}

/// A number of 1 to 40 digits in one of the forms that JSON has.
fn number(number: u64) -> String {
    let mut seed = number;
    let mut next = || {
        seed = mixed(seed);
        seed
    };
    let length = 1 + next() % 40;
    let mut digits: String = (0..length).map(|_| char::from(b'0' + (next() % 10) as u8)).collect();
    if digits.len() > 1 && digits.starts_with('0') {
        digits.replace_range(..1, "7");
    }
    let sign = if next() % 4 == 0 { "-" } else { "" };
    // A fraction takes its digits from the end; one digit stays before the point.
    let fraction = next() % 3 == 0 && digits.len() > 1;
    if fraction {
        let point = 1 + next() % (length - 1);
        digits.insert(usize::try_from(point).unwrap(), '.');
    }
    let exponent = match next() % 6 {
        0 => format!("e{}", next() % 400),
        1 => format!("E-{:03}", next() % 400),
        _ => String::new(),
    };
    format!("{sign}{digits}{exponent}")
}
