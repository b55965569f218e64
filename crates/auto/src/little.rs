//! Inputs so small that a change would cost more than it gains.

use fullbore_rules::{Dealt, plain_words, rule};
use fullbore_shell::command_word;

use crate::fuse::end_lines;
use crate::redirection::{before_redirection, input_file, is_of_name};

/// With so many bytes of input a second copy of a command can gain something.
pub const WORTH_DEALING: u64 = 4 << 20;

/// With so many bytes of input stages that are one question can be answered sooner than they answer.
pub const WORTH_FUSING: u64 = 1 << 20;

/// A line of text is taken to be no longer.
const LINE_BYTES: u64 = 1000;

/// What `wc` prints is not longer.
const WC_BYTES: u64 = 100;

/// Tells the size of a regular file, by its name as in the line.
pub type FileBytes<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// What is known of the files that a line reads.
#[derive(Clone, Copy)]
pub(crate) struct Files<'a> {
    line: &'a str,
    bytes: FileBytes<'a>,
}

impl<'a> Files<'a> {
    /// `None` if the line may go to another folder, where the names mean other files.
    pub(crate) fn of(line: &'a str, bytes: FileBytes<'a>) -> Option<Self> {
        let moves = ["cd", "pushd", "popd"];
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        (!words.any(|word| moves.contains(&word))).then_some(Self { line, bytes })
    }

    /// The size of a file that the line names only once: what it names twice, it may write.
    fn size(self, name: &str) -> Option<u64> {
        fn last(path: &str) -> Option<&str> {
            path.rsplit('/').next()
        }
        let named = self.line.split(|c: char| !is_of_name(c)).filter(|one| last(one) == last(name));
        (named.count() == 1).then(|| (self.bytes)(name)).flatten()
    }

    fn total<'b>(self, names: impl Iterator<Item = &'b str>) -> Option<u64> {
        names.map(|name| self.size(name)).sum()
    }

    /// About how many bytes each stage of a pipeline reads at most; `None` where that is not known before it runs.
    pub(crate) fn read_by(self, stages: &[&str]) -> Vec<Option<u64>> {
        let mut reads = Vec::with_capacity(stages.len());
        let mut input = None;
        for stage in stages {
            let mut text = before_redirection(stage).to_owned();
            if let Some((without, name)) = input_file(&text) {
                input = self.size(&name);
                text = without;
            } else if text.contains('<') {
                input = None;
            }
            let words = command_word(&text).and_then(|(at, _)| plain_words(&text[at..]));
            let output = words.as_deref().and_then(|words| self.output(words, input));
            // `sort FILE` reads that file.
            let file = words.as_deref().and_then(|words| self.sorted_file(words));
            reads.push(file.unwrap_or(input));
            input = output;
        }
        reads
    }

    fn sorted_file(self, words: &[String]) -> Option<Option<u64>> {
        let [name, rest @ ..] = words else { return None };
        let is_file = |word: &&String| !word.starts_with('-');
        let mut files = rest.iter().filter(is_file).peekable();
        (name.rsplit('/').next() == Some("sort") && files.peek().is_some())
            .then(|| self.total(files.map(String::as_str)))
    }

    /// About how much a command writes at most that reads so much.
    fn output(self, words: &[String], input: Option<u64>) -> Option<u64> {
        let (name, rest) = words.split_first()?;
        let mut operands = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
        match name.rsplit('/').next()? {
            "echo" | "printf" => Some(rest.iter().map(|word| word.len() as u64 + 1).sum()),
            "seq" => counted(rest),
            "head" | "tail" => first_bytes(words),
            "wc" => Some(WC_BYTES),
            "cat" | "tac" if rest.iter().any(|word| word == "-") => None,
            "cat" | "tac" => match operands.next() {
                None => input,
                Some(first) => self.total(std::iter::once(first).chain(operands)),
            },
            _ => match rule(words).dealt {
                Dealt::Records | Dealt::Merge(_) => input,
                _ => None,
            },
        }
    }
}

/// What `seq LAST` or `seq FIRST LAST` prints.
fn counted(words: &[String]) -> Option<u64> {
    let (first, last) = match words {
        [last] => (1, last.parse::<u64>().ok()?),
        [first, last] => (first.parse::<u64>().ok()?, last.parse::<u64>().ok()?),
        _ => return None,
    };
    let digits = words.last()?.len() as u64;
    (last.saturating_sub(first) + 1).checked_mul(digits + 1)
}

/// What `head` and `tail` print with these words at most, of at most one file.
fn first_bytes(words: &[String]) -> Option<u64> {
    let (last, before) = words.split_last()?;
    let of_file = || if last.starts_with('-') { None } else { end_lines(before) };
    if let Some((_, lines)) = end_lines(words).or_else(of_file) {
        return (lines as u64).checked_mul(LINE_BYTES);
    }
    let number = match &words[1..] {
        [option] => option.strip_prefix("-c")?,
        [option, number] if option == "-c" => number,
        _ => return None,
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    number.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(line: &str) -> Vec<Option<u64>> {
        let bytes = |name: &str| match name {
            "small" => Some(5000),
            "big" => Some(1 << 30),
            _ => None,
        };
        let stages: Vec<&str> = line.split('|').map(str::trim).collect();
        Files::of(line, &bytes).map_or_else(Vec::new, |files| files.read_by(&stages))
    }

    /// What the last stage reads.
    fn last(line: &str) -> Option<u64> {
        reads(line).last().copied().flatten()
    }

    #[test]
    fn the_size_of_what_is_read_is_known_before() {
        for (line, bytes) in [
            ("cat small | grep -i x", 5000),
            ("cat small | grep -i x | sort | uniq -c | sort -rn", 5000),
            ("grep -i x <small", 5000),
            ("cut -f1 < small | sort", 5000),
            ("sort small", 5000),
            ("sort -rn small", 5000),
            ("cat big | wc -l | sort", 100),
            ("zcat big | head -n 20 | sort", 20_000),
            ("zcat big | head -c100 | sort", 100),
            ("zcat big | tail -3 | sort", 3000),
            ("head big | rev", 10_000),
            ("echo a b | rev", 4),
            ("printf 'a b\\n' | rev", 6),
            ("seq 100 | rev", 400),
            ("seq 10 19 | rev", 30),
            ("cat big | rev", 1 << 30),
        ] {
            assert_eq!(last(line), Some(bytes), "{line}");
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for line in [
            "grep -i x",
            "zcat small | grep -i x",
            "cat small other | rev",
            "cat small - | rev",
            "cat \"$f\" | rev",
            "echo \"$(cat big)\" | rev",
            "echo * | rev",
            "cat small | xargs cat | rev",
            "cat small | grep -i x other | rev",
            "cat small | sh script | rev",
            "head -n +3 big | rev",
            "head -n -3 big | rev",
            "tail -n +3 big | rev",
            "seq 1 0.1 9 | rev",
            "cat small | sort <\"$f\"",
            "tail -f small | rev",
            "tail -n 5 -f small | rev",
            "tail small -n 900000 | rev",
            "tail -c +5 small | rev",
            "cat small | awk 1 other | rev",
            "cat small | cut -f1 other | rev",
            "cat small | sed s/a/b/ other | rev",
            "cat small | jq .x other | rev",
            "cat small | rev other | rev",
            "sort <<small",
            "sort <(zcat small)",
            "tee small | cat small | rev",
            "cd folder; cat small | rev",
        ] {
            assert_eq!(last(line), None, "{line}");
        }
    }
}
