//! What a stage is called in a sentence, and which program and arguments it runs.

use std::collections::BTreeMap;

use fullbore_record::{CommandIs, StageRecord};
use fullbore_shell::shorten;

/// Longest source text of a compound command that still reads as a name.
const COMPOUND_NAME_CHARS: usize = 24;

/// Longest program name; a longer one is a path or a script in disguise.
const PROGRAM_NAME_CHARS: usize = 32;

/// Longest command line that is repeated in an advice.
const TYPED_CHARS: usize = 200;

/// Folders of programs that a shell finds by their name alone.
const PROGRAM_FOLDERS: [&str; 3] = ["/usr/local/bin/", "/usr/bin/", "/bin/"];

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
    /// The word that names it, with its folder.
    path: String,
    /// The words after it.
    pub(super) arguments: Vec<String>,
    /// The words before it: assignments, and programs that start it.
    pub(super) before: Vec<String>,
    /// It is a loop, a condition or a group of the shell.
    pub(super) is_compound: bool,
    /// The locale it runs in, when that is known: one name, or `LC_CTYPE=NAME;LC_COLLATE=NAME`.
    locale: Option<String>,
    /// Variables of its environment that change how it buffers.
    pub(super) buffering: BTreeMap<String, String>,
}

impl Command {
    /// What does the work of this stage.
    pub(super) fn of(stage: &StageRecord) -> Self {
        if stage.main_words.is_empty() {
            return Self::that_started(stage);
        }
        Self::of_words(&stage.main_words, false).in_environment(stage)
    }

    /// What this stage began with; its main program may be another.
    pub(super) fn that_started(stage: &StageRecord) -> Self {
        let command = Self::of_words(&stage.words, stage.command_is == CommandIs::ShellText);
        // With a main program, what is known of the environment is about that.
        if stage.main_words.is_empty() { command.in_environment(stage) } else { command }
    }

    fn in_environment(self, stage: &StageRecord) -> Self {
        Self { locale: stage.locale.clone(), buffering: stage.buffering.clone(), ..self }
    }

    fn of_words(words: &[String], is_compound: bool) -> Self {
        let start = program_index(words);
        let first = words.get(start).map_or("", String::as_str);
        let base = first.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let base = base.trim_start_matches('-');
        Self {
            program: shorten(base, PROGRAM_NAME_CHARS),
            arguments: words.get(start + 1..).unwrap_or_default().to_vec(),
            before: words[..start.min(words.len())].to_vec(),
            path: first.to_owned(),
            is_compound,
            locale: None,
            buffering: BTreeMap::new(),
        }
    }

    /// The whole command, ready to be pasted behind `prefix`; `None` when it is long, hard to read or no program.
    pub(super) fn typed(&self, prefix: &str) -> Option<String> {
        self.quoted(prefix, self.words().into_iter())
    }

    /// Its arguments alone, ready to be pasted behind another program.
    pub(super) fn typed_arguments(&self, program: &str) -> Option<String> {
        self.quoted(program, self.arguments.iter())
    }

    /// Its words: what starts it, its name and its arguments.
    pub(super) fn words(&self) -> Vec<&String> {
        self.before.iter().chain([&self.path]).chain(&self.arguments).collect()
    }

    /// Whether it is this, with or without its folder.
    pub(super) fn is_typed_as(&self, words: &[String]) -> bool {
        let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
        let own = self.words();
        own.len() == words.len()
            && own.iter().zip(words).enumerate().all(|(place, (own, typed))| {
                *own == typed || place == 0 && base(own) == base(typed)
            })
    }

    fn quoted<'a>(&self, prefix: &str, words: impl Iterator<Item = &'a String>) -> Option<String> {
        if self.is_compound || self.program.is_empty() {
            return None;
        }
        let mut line = prefix.to_owned();
        for word in words {
            let short = PROGRAM_FOLDERS.iter().find_map(|folder| word.strip_prefix(folder));
            let word = short.filter(|name| *name == self.program).unwrap_or(word);
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&shell_words::quote(word));
        }
        let is_readable = line.chars().count() <= TYPED_CHARS
            && !line.contains(|c: char| c.is_control() || c == '…')
            && !super::parts::names_a_descriptor(&line);
        is_readable.then_some(line)
    }

    /// It is one of the shells.
    pub(super) fn is_shell(&self) -> bool {
        self.is_compound || fullbore_shell::is_shell(&self.program)
    }

    /// It takes each byte for a character.
    pub(super) fn takes_bytes(&self) -> bool {
        self.locale_for("LC_CTYPE").is_some_and(|name| ["C", "POSIX"].contains(&name))
    }

    /// It orders lines by their bytes: in `C.UTF-8` that is the order of characters.
    pub(super) fn orders_by_bytes(&self) -> bool {
        let is_bytes = |name: &str| {
            ["C", "POSIX"].contains(&name) || name.to_lowercase().replace('-', "") == "c.utf8"
        };
        self.locale_for("LC_COLLATE").is_some_and(is_bytes)
    }

    /// The locale it has for characters (`LC_CTYPE`) or for their order (`LC_COLLATE`), when that is known.
    fn locale_for(&self, category: &str) -> Option<&str> {
        let assigned = |name: &str| {
            let assigned = self.before.iter().rev();
            assigned.filter_map(|word| word.strip_prefix(name)?.strip_prefix('=')).next()
        };
        if let Some(locale) = assigned("LC_ALL").or_else(|| assigned(category)) {
            return Some(locale);
        }
        let known = self.locale.as_deref()?;
        let mut parts = known.split(';');
        Some(parts.find_map(|part| part.strip_prefix(category)?.strip_prefix('=')).unwrap_or(known))
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
pub(super) fn program_index(words: &[String]) -> usize {
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

pub(super) fn is_assignment(word: &str) -> bool {
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
    if let Some(line) = stage.line_of_auto() {
        return shorten(line, COMPOUND_NAME_CHARS);
    }
    let name = name_of(stage, &Command::of(stage));
    if let Some(copies) = stage.copies {
        let is_alone = copies == 1 && stage.is_auto();
        return if is_alone { name } else { format!("{name} ×{copies}") };
    }
    if stage.main_words.is_empty() {
        return name;
    }
    // Another program than the one it was started with did its work.
    let starter = name_of(stage, &Command::that_started(stage));
    if starter == name { name } else { format!("{name} (in {starter})") }
}

fn name_of(stage: &StageRecord, command: &Command) -> String {
    if command.is_compound {
        return format!("`{}`", shorten(&stage.command, COMPOUND_NAME_CHARS));
    }
    if command.program.is_empty() {
        return format!("stage {}", stage.stage);
    }
    command.program.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(number: u32, words: &[&str]) -> StageRecord {
        let mut stage = StageRecord::default();
        stage.stage = number;
        stage.words = words.iter().map(|word| (*word).to_owned()).collect();
        stage
    }

    #[test]
    fn a_stage_is_called_by_its_program() {
        for (words, name) in [
            (&["jq", "-c", ".id"][..], "jq"),
            (&["/usr/bin/python3", "-u", "x.py"], "python3"),
            (&["env", "LC_ALL=C", "sort", "-k", "2"], "sort"),
            (&["env", "-u", "X", "A=1", "nice", "-n", "5", "gzip", "-9"], "gzip"),
            (&["stdbuf", "-oL", "grep", "x"], "grep"),
            (&["timeout", "-k", "5", "10s", "curl", "x"], "curl"),
            (&["sudo", "-u", "bob", "./filter"], "filter"),
            (&["env"], "env"),
            (&["-bash"], "bash"),
            (&["./while x", "read"], "while x"),
            (&[], "stage 3"),
        ] {
            assert_eq!(short_name(&stage(3, words)), name, "{words:?}");
        }
    }

    #[test]
    fn a_loop_is_called_by_the_beginning_of_its_text() {
        let mut copy = stage(3, &["sh", "-c", "seq 3 | while read -r line; do echo $line; done"]);
        copy.command_is = CommandIs::ShellText;
        copy.command = "while read -r line; do echo $line; done".to_owned();
        assert_eq!(short_name(&copy), "`while read -r line; do…`");
    }

    #[test]
    fn a_program_that_worked_for_another_is_called_by_both() {
        let mut wrapped = stage(3, &["sh", "-c", "gzip -1; true"]);
        wrapped.main_words = vec!["gzip".to_owned(), "-1".to_owned()];
        assert_eq!(short_name(&wrapped), "gzip (in sh)");
        // A wrapper that is known by its words needs no second name.
        let mut known = stage(3, &["timeout", "5", "gzip", "-1"]);
        known.main_words = wrapped.main_words.clone();
        assert_eq!(short_name(&known), "gzip");
        assert_eq!(Command::of(&wrapped).typed("").as_deref(), Some("gzip -1"));
    }

    #[test]
    fn names_shared_by_two_stages_are_numbered() {
        let names = stage_names(&[stage(1, &["jq", ".a"]), stage(2, &["sort"]), stage(3, &["jq"])]);
        assert_eq!(names, ["jq (stage 1)", "sort", "jq (stage 3)"]);
    }

    #[test]
    fn a_command_is_typed_as_a_shell_reads_it() {
        let typed = |words: &[&str]| Command::of(&stage(1, words)).typed("stdbuf -o64K");
        assert_eq!(typed(&["/usr/bin/tr", "a b", "c"]).unwrap(), "stdbuf -o64K tr 'a b' c");
        assert_eq!(typed(&["./filter"]).unwrap(), "stdbuf -o64K ./filter");
        assert_eq!(typed(&["awk", "{\n}"]), None, "a line break would run half of it");
        assert_eq!(typed(&[]), None);
    }
}
