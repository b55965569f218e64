//! What a stage is called in a sentence, and which program and arguments it runs.

use crate::label::shorten;
use crate::record::StageRecord;

/// Longest source text of a compound command that still reads as a name.
const COMPOUND_NAME_CHARS: usize = 24;

/// Longest program name; a longer one is a path or a script in disguise.
const PROGRAM_NAME_CHARS: usize = 32;

/// Words that begin a compound command.
const COMPOUND: [&str; 8] = ["while", "until", "for", "if", "case", "select", "[[", "{"];

/// Programs that only start another one, with their options that take a value in the next word.
const WRAPPERS: [(&str, &[&str]); 11] = [
    ("env", &["-u", "-C"]),
    ("nice", &["-n"]),
    ("nohup", &[]),
    ("stdbuf", &["-i", "-o", "-e"]),
    ("time", &["-f", "-o"]),
    ("exec", &["-a"]),
    ("command", &[]),
    ("builtin", &[]),
    ("setsid", &[]),
    ("sudo", &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "-D", "-R", "-T"]),
    ("timeout", &["-k", "-s"]),
];

/// A command as far as its name and its options matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Base name of the program.
    pub(super) program: String,
    /// The words after it, without quotes.
    pub(super) arguments: Vec<String>,
    /// The words before it: assignments, and programs that start it.
    pub(super) before: Vec<String>,
    /// It is a loop, a condition or a group of the shell.
    pub(super) is_compound: bool,
}

impl Command {
    /// Reads a command line as text.
    pub(super) fn parse(text: &str) -> Self {
        let words: Vec<String> =
            text.split_whitespace().map(|w| w.trim_matches(['\'', '"']).to_owned()).collect();
        let start = program_index(&words);
        let first = words.get(start).map_or("", String::as_str);
        let is_compound = COMPOUND.contains(&first) || first.starts_with('(');
        let base = first.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let base = base.trim_start_matches('-');
        Self {
            program: shorten(base, PROGRAM_NAME_CHARS),
            arguments: words.get(start + 1..).unwrap_or_default().to_vec(),
            before: words[..start.min(words.len())].to_vec(),
            is_compound,
        }
    }

    /// It is one of the shells.
    pub(super) fn is_shell(&self) -> bool {
        self.is_compound
            || ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "busybox"]
                .contains(&self.program.as_str())
    }

    /// One of its arguments is exactly one of `options`.
    pub(super) fn has(&self, options: &[&str]) -> bool {
        self.arguments.iter().any(|argument| options.contains(&argument.as_str()))
    }

    /// One of its arguments contains `text`.
    pub(super) fn mentions(&self, text: &str) -> bool {
        self.arguments.iter().any(|argument| argument.contains(text))
    }

    /// A group of short options such as `-nu` before the first operand contains `letter`.
    pub(super) fn has_short(&self, letter: char) -> bool {
        self.arguments
            .iter()
            .take_while(|argument| {
                argument.starts_with('-') && *argument != "-" && *argument != "--"
            })
            .any(|argument| !argument.starts_with("--") && argument.contains(letter))
    }
}

/// The index of the word that names the program: after assignments and wrappers.
fn program_index(words: &[String]) -> usize {
    let mut index = 0;
    let mut values_of_wrapper: Option<&[&str]> = None;
    let mut last_wrapper = 0;
    while let Some(word) = words.get(index) {
        let base = word.rsplit('/').next().unwrap_or_default();
        let wrapper = WRAPPERS.iter().find(|(name, _)| *name == base);
        let is_option = word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit());
        match (wrapper, values_of_wrapper) {
            (Some((_, with_value)), _) => {
                (values_of_wrapper, last_wrapper) = (Some(*with_value), index)
            }
            _ if word == "!" || is_assignment(word) => {}
            (None, Some(with_value)) if with_value.contains(&word.as_str()) => index += 1,
            (None, Some(_)) if is_option => {}
            (None, _) => return index,
        }
        index += 1;
    }
    last_wrapper
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}

/// The names of all stages: `jq`, or `jq (stage 2)` where two share it.
pub(super) fn stage_names(stages: &[StageRecord]) -> Vec<String> {
    let short: Vec<String> = stages.iter().map(short_name).collect();
    short
        .iter()
        .zip(stages)
        .map(|(name, stage)| {
            let is_shared = short.iter().filter(|other| *other == name).count() > 1;
            if is_shared { format!("{name} (stage {})", stage.stage) } else { name.clone() }
        })
        .collect()
}

fn short_name(stage: &StageRecord) -> String {
    let command = Command::parse(&stage.command);
    if command.is_compound {
        return format!("`{}`", shorten(&stage.command, COMPOUND_NAME_CHARS));
    }
    if command.program.is_empty() { format!("stage {}", stage.stage) } else { command.program }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(command: &str) -> String {
        short_name(&StageRecord { stage: 3, command: command.to_owned(), ..StageRecord::default() })
    }

    #[test]
    fn a_stage_is_called_by_its_program() {
        for (command, name) in [
            ("jq -c .id", "jq"),
            ("/usr/bin/python3 -u x.py", "python3"),
            ("LC_ALL=C sort -k 2", "sort"),
            ("env -u X A=1 nice -n 5 gzip -9", "gzip"),
            ("stdbuf -oL grep x", "grep"),
            ("timeout -k 5 10s curl x", "curl"),
            ("sudo -u bob ./filter", "filter"),
            ("env", "env"),
            ("-bash", "bash"),
            ("while read -r line; do echo $line; done", "`while read -r line; do…`"),
            ("(a; b)", "`(a; b)`"),
            ("", "stage 3"),
        ] {
            assert_eq!(name_of(command), name, "{command}");
        }
    }

    #[test]
    fn names_shared_by_two_stages_are_numbered() {
        let stage = |stage, command: &str| StageRecord {
            stage,
            command: command.into(),
            ..StageRecord::default()
        };
        let names = stage_names(&[stage(1, "jq .a"), stage(2, "sort"), stage(3, "jq .b")]);
        assert_eq!(names, ["jq (stage 1)", "sort", "jq (stage 3)"]);
    }
}
