//! Builds an advice from text to read and commands to paste.

use fullbore_record::AdvicePart;

use super::phrases::count;

/// What to do: text and commands in the order in which they are read.
pub(super) type Advice = Vec<AdvicePart>;

/// A part to read.
pub(super) fn text(text: impl Into<String>) -> AdvicePart {
    AdvicePart::text(text)
}

/// A part to paste.
pub(super) fn command(command: impl Into<String>) -> AdvicePart {
    AdvicePart::command(command)
}

/// An advice that is one text; none when it is empty.
pub(super) fn only(words: impl Into<String>) -> Advice {
    let words: String = words.into();
    if words.is_empty() { Advice::new() } else { vec![text(words)] }
}

/// `before`, the command and a full stop.
pub(super) fn paste(before: impl Into<String>, line: impl Into<String>) -> Advice {
    vec![text(before), command(line), text(".")]
}

/// The sentences one after the other, with a space between them.
pub(super) fn joined(sentences: impl IntoIterator<Item = Advice>) -> Advice {
    let mut advice = Advice::new();
    for sentence in sentences.into_iter().filter(|sentence| !sentence.is_empty()) {
        if !advice.is_empty() {
            push(&mut advice, text(" "));
        }
        sentence.into_iter().for_each(|part| push(&mut advice, part));
    }
    advice
}

/// A number that is not known exactly: `about 570,000`.
pub(super) fn about(number: u64) -> String {
    let unit = unit_of(number);
    format!("about {}", count(number.saturating_add(unit / 2) / unit * unit))
}

/// A number that is known to be no smaller: `at least 560,000`.
pub(super) fn at_least(number: u64) -> String {
    let unit = unit_of(number);
    format!("at least {}", count(number / unit * unit))
}

/// What the second digit of a number counts.
fn unit_of(number: u64) -> u64 {
    10_u64.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(1))
}

/// A file of this text is a descriptor (`/dev/fd/63`), which no other shell has: it stands for `<( )`.
pub(super) fn names_a_descriptor(line: &str) -> bool {
    let is_number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text[..end].parse::<u64>().is_ok_and(|number| number > 2)
    };
    let in_proc =
        || line.split("/proc/").skip(1).filter_map(|rest| Some(rest.split_once("/fd/")?.1));
    line.split("/dev/fd/").skip(1).chain(in_proc()).any(is_number)
}

/// Adds a part; text that follows text becomes one with it.
fn push(advice: &mut Advice, part: AdvicePart) {
    match (advice.last_mut(), part) {
        (Some(AdvicePart::Text(last)), AdvicePart::Text(more)) => last.push_str(&more),
        (_, part) => advice.push(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_exactly_has_two_digits() {
        assert_eq!(about(569_386), "about 570,000");
        assert_eq!(about(999_999), "about 1,000,000");
        assert_eq!(about(2_049), "about 2,000");
        assert_eq!(about(7), "about 7");
        assert_eq!(about(0), "about 0");
        assert_eq!(about(u64::MAX), "about 18,000,000,000,000,000,000");
        assert_eq!(at_least(569_386), "at least 560,000");
    }

    #[test]
    fn a_descriptor_of_another_shell_is_known() {
        for (line, is_one) in [
            ("paste /dev/fd/63 /dev/fd/62", true),
            ("paste /proc/self/fd/11", true),
            ("cat /proc/4711/fd/12", true),
            ("cat /dev/fd/0 /dev/stdin", false),
            ("cat /proc/self/fd/2", false),
            ("cat /proc/cpuinfo", false),
        ] {
            assert_eq!(names_a_descriptor(line), is_one, "{line}");
        }
    }
}
