//! Numbers and lists as they stand in a sentence.

use fullbore_measure::{Share, seconds};

/// A stage that lived for this share of the run is described in percent of its life, a shorter one in seconds.
const LIVED_THROUGHOUT: f64 = 0.9;

/// Longest line that is repeated in an advice.
const PASTED_CHARS: usize = 200;

/// Nanoseconds as text: `3.42 s`.
pub(super) fn time(ns: f64) -> String {
    seconds(whole(ns))
}

/// `value` as a whole number; nothing below zero.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a float that is too large becomes the largest integer"
)]
pub(super) fn whole(value: f64) -> u64 {
    value.round().max(0.0) as u64
}

/// `part` of `whole` as text: `99 %`.
pub(super) fn percent(part: f64, whole: f64) -> String {
    Share::of(part, whole).to_string()
}

/// A count with its thousands apart: `5,000,000`.
pub(super) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size as command lines write it: `1M`, `64K`, `8192`.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        b if b > 0 && b.is_multiple_of(1 << 20) => format!("{}M", b >> 20),
        b if b > 0 && b.is_multiple_of(1 << 10) => format!("{}K", b >> 10),
        b => b.to_string(),
    }
}

/// `fullbore run` with these options and the line of this run; `None` when the line is long or has several lines.
pub(super) fn run_again(options: &str, line: &str) -> Option<String> {
    can_be_pasted(line).then(|| format!("fullbore run {options} {}", shell_words::quote(line)))
}

/// The line of this run with all stages on one CPU; `None` when it is long or has several lines.
pub(super) fn on_one_cpu(line: &str) -> Option<String> {
    can_be_pasted(line).then(|| format!("taskset -c 0 fullbore run {}", shell_words::quote(line)))
}

fn can_be_pasted(line: &str) -> bool {
    !line.is_empty()
        && line.chars().count() <= PASTED_CHARS
        && !line.contains(|c: char| c.is_control() || c == '…')
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// How amounts of time are given in one sentence: in percent, or in seconds when a life is short.
#[derive(Clone, Copy)]
pub(super) enum Amounts {
    /// Of `life_ns`, which is about the whole run.
    Percent { life_ns: f64 },
    /// Out of the whole run.
    Seconds { span_ns: f64 },
}

impl Amounts {
    /// The way that suits a stage which lived for `life_ns` of a run of `span_ns`.
    pub(super) fn of(life_ns: f64, span_ns: f64) -> Self {
        if life_ns >= LIVED_THROUGHOUT * span_ns {
            Self::Percent { life_ns }
        } else {
            Self::Seconds { span_ns }
        }
    }

    /// `99 %`, or `for 3.42 s`.
    pub(super) fn amount(self, ns: f64) -> String {
        match self {
            Self::Percent { life_ns } => percent(ns, life_ns),
            Self::Seconds { .. } => format!("for {}", time(ns)),
        }
    }

    /// What ends the clause: `of the time`, or `of the 12.0 s`.
    pub(super) fn suffix(self) -> String {
        match self {
            Self::Percent { .. } => "of the time".to_owned(),
            Self::Seconds { span_ns } => format!("of the {}", time(span_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(5_000_000), "5,000,000");
        assert_eq!(size(1 << 20), "1M");
        assert_eq!(size(65536), "64K");
        assert_eq!(size(100), "100");
        assert_eq!(whole(f64::NAN), 0);
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b and c");
    }
}
