//! What a stage that is `fullbore par` runs copies of.

use fullbore_rules::{Dealt, Merge, rule, rule_of_line};

use super::names::program_index;

/// Long options that have a value, which may be the next word.
const WITH_VALUE: &str = "arg-file block command delimiter halt header joblog jobs merge recend records recstart retries status tell window";

/// Short options that have a value.
const SHORT_WITH_VALUE: &str = "Nacdj";

/// What `fullbore par` runs copies of, as its arguments say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// The words of the command; `sh`, `-c` and the line for `-c LINE`.
    pub words: Vec<String>,
    /// The value of `-j`.
    jobs: Option<String>,
    /// The value of `--merge`.
    merge: Option<String>,
}

impl Copies {
    /// Reads the words (argv) that a process was started with, wrappers such as `nice` included; `None` if it is not
    /// `fullbore par`.
    ///
    /// ```
    /// use fullbore_diagnose::Copies;
    /// let words = "nice fullbore par -j4 grep -c x".split(' ').map(str::to_owned).collect::<Vec<_>>();
    /// assert_eq!(Copies::of(&words).unwrap().words, ["grep", "-c", "x"]);
    /// ```
    #[must_use]
    pub fn of(words: &[String]) -> Option<Self> {
        let start = program_index(words);
        let program = words.get(start)?.rsplit('/').next()?;
        let is_par = program == "fullbore" && words.get(start + 1)? == "par";
        if !is_par {
            return None;
        }
        let mut copies = Self::default();
        let mut rest = words[start + 2..].iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                copies.words = rest.cloned().collect();
                break;
            }
            if !word.starts_with('-') || word == "-" {
                copies.words = [word].into_iter().chain(rest).cloned().collect();
                break;
            }
            let (option, value) = option_of(word);
            if has_value(option) {
                copies.note(option, value.or_else(|| rest.next().cloned())?);
            }
        }
        (!copies.words.is_empty()).then_some(copies)
    }

    fn note(&mut self, option: &str, value: String) {
        match option {
            "c" | "command" => self.words = ["sh", "-c", &value].map(str::to_owned).into(),
            "j" | "jobs" => self.jobs = Some(value),
            "merge" => self.merge = Some(value),
            _ => {}
        }
    }

    /// How many of them ran at the same time, at least; `children` is the largest number of children that were seen at
    /// one time. A command that merges is a child, too, but no copy.
    #[must_use]
    pub fn at_once(&self, children: u32, cpus: u32) -> u32 {
        let copies = children.saturating_sub(u32::from(self.has_merging_child()));
        copies.min(self.most(cpus)).max(1)
    }

    /// How many may run at the same time.
    fn most(&self, cpus: u32) -> u32 {
        let percent =
            self.jobs.as_deref().and_then(|jobs| jobs.strip_suffix('%')?.parse::<f64>().ok());
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of processes"
        )]
        let share = percent.map(|percent| (f64::from(cpus) * percent / 100.0).round() as u32);
        let exactly = self.jobs.as_ref().and_then(|jobs| jobs.parse().ok());
        exactly.or(share).unwrap_or(cpus).max(1)
    }

    /// A command that all outputs go through runs beside the copies.
    fn has_merging_child(&self) -> bool {
        match self.merge.as_deref() {
            Some("uniq" | "head" | "tail") => true,
            Some("auto") => matches!(
                self.rule().dealt,
                Dealt::Merge(Merge::Uniq(_) | Merge::Head(_) | Merge::Tail(_))
            ),
            _ => false,
        }
    }

    fn rule(&self) -> fullbore_rules::Rule {
        match &self.words[..] {
            [shell, option, line] if shell == "sh" && option == "-c" => rule_of_line(line),
            words => rule(words),
        }
    }
}

/// The name of an option that stands first in a word, or last in a group of short ones, and its value if that is in the
/// same word.
fn option_of(word: &str) -> (&str, Option<String>) {
    if let Some(long) = word.strip_prefix("--") {
        return match long.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (long, None),
        };
    }
    let letters = &word[1..];
    let Some((at, letter)) = letters.char_indices().find(|(_, c)| SHORT_WITH_VALUE.contains(*c))
    else {
        return ("", None);
    };
    let after = &letters[at + letter.len_utf8()..];
    let value = after.strip_prefix('=').unwrap_or(after);
    (&letters[at..at + letter.len_utf8()], (!value.is_empty()).then(|| value.to_owned()))
}

fn has_value(option: &str) -> bool {
    WITH_VALUE.split(' ').any(|name| name == option)
        || option.len() == 1 && SHORT_WITH_VALUE.contains(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copies(line: &str) -> Option<Copies> {
        Copies::of(&shell_words::split(line).unwrap())
    }

    #[test]
    fn the_command_follows_the_options_of_par() {
        for (line, command) in [
            ("fullbore par grep x", "grep x"),
            ("/usr/local/bin/fullbore par -j4 grep -j 3", "grep -j 3"),
            ("fullbore par -j 4 --block 8M jq -c .a", "jq -c .a"),
            ("fullbore par --block=8M -0k grep -z x", "grep -z x"),
            ("fullbore par -0j4 -- grep -z x", "grep -z x"),
            ("fullbore par -N1000 -a events.jsonl --window 64M jq .", "jq ."),
            ("fullbore par -d '\\n' --header 1 --status any grep x", "grep x"),
            ("fullbore par -c 'tr A-Z a-z | grep x' --unordered", "sh -c 'tr A-Z a-z | grep x'"),
            ("fullbore par --command=cat", "sh -c cat"),
            ("timeout 5 nice -n 5 fullbore par sed s/a/b/", "sed s/a/b/"),
        ] {
            let found = copies(line).map(|copies| shell_words::join(copies.words));
            assert_eq!(found.as_deref(), Some(command), "{line}");
        }
        for line in
            ["fullbore run 'a | b'", "par grep x", "grep par", "fullbore par", "fullbore par -j"]
        {
            assert_eq!(copies(line), None, "{line}");
        }
    }

    #[test]
    fn no_more_copies_run_than_may() {
        for (line, children, at_once) in [
            ("fullbore par grep x", 2, 2),
            ("fullbore par grep x", 9, 8),
            ("fullbore par grep x", 0, 1),
            ("fullbore par -j1 grep x", 2, 1),
            ("fullbore par -j 12 grep x", 12, 12),
            ("fullbore par -j50% grep x", 5, 4),
            ("fullbore par --merge auto uniq", 3, 2),
            ("fullbore par --merge auto wc -l", 3, 3),
        ] {
            assert_eq!(copies(line).unwrap().at_once(children, 8), at_once, "{line}");
        }
    }
}
