//! The table in `rules.toml`, as values. The head of that file explains its notation.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

use crate::answer::{Check, Ends, Status};

/// All commands, by name.
#[derive(Debug)]
pub(crate) struct Table {
    sections: Vec<Section>,
    /// Which section a name has.
    commands: BTreeMap<&'static str, usize>,
}

/// The text of one row, read when somebody asks for it: most processes ask for one of them.
#[derive(Debug)]
struct Section {
    text: &'static str,
    row: OnceLock<Row>,
}

impl Section {
    fn row(&self) -> &Row {
        self.row.get_or_init(|| {
            let named: BTreeMap<String, Row> =
                toml::from_str(self.text).expect("rules.toml is right");
            let mut row = named.into_values().next().expect("a section has a row");
            row.all = row.collect();
            row
        })
    }
}

/// One command of the table.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Row {
    /// Further names of the same command.
    pub also: String,
    /// Why every form of the command differs.
    pub always: Option<String>,
    /// What to do instead where the command differs.
    pub instead: Option<String>,
    /// Why the outputs mean the same although the bytes are others.
    pub equivalent: Option<String>,
    pub status: Status,
    pub input: Ends,
    pub output: Ends,
    pub operands: Operands,
    /// Options end at the first operand.
    pub stops: bool,
    /// Long options cannot be abbreviated.
    pub exact: bool,
    /// Options that keep every record independent of the others.
    pub keeps: Options,
    /// Options that give another output, with the reason.
    pub differs: BTreeMap<String, Reason>,
    /// The merge that the command needs.
    pub merge: Option<Kind>,
    /// Options that make a merge necessary.
    pub merges: BTreeMap<String, Kind>,
    /// The option by which records end in NUL bytes.
    pub zeros: Options,
    /// A condition on the input.
    pub needs: Option<String>,
    /// How the condition can be looked for.
    pub check: Option<Check>,
    /// It costs so little that dealing it out gains nothing.
    pub light: bool,
    /// The options that lift the condition.
    pub lifts: Options,
    /// The module of `look` that reads the arguments.
    pub look: Option<Look>,
    #[serde(skip)]
    all: Vec<Known>,
}

/// What the operands of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Operands {
    /// Files to read instead of standard input; `-` is standard input.
    #[default]
    Files,
    /// The first is a script or pattern unless `-e` or `-f` gave it; then files.
    Script,
    /// Anything that is no file to read.
    Free,
    /// None are known.
    None,
}

/// A reason, perhaps with advice.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Reason {
    Why(String),
    Advised { why: String, instead: String },
}

impl Reason {
    pub(crate) fn parts(&self) -> (&str, Option<&str>) {
        match self {
            Self::Why(why) => (why, None),
            Self::Advised { why, instead } => (why, Some(instead)),
        }
    }
}

/// The merges that the table can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Sum,
    Greatest,
    Sort,
    Uniq,
    UniqCount,
    /// `head` with the value of the option as the number of lines.
    Head,
    /// `head -n 1`: whoever found something says so once.
    Once,
    /// The command itself over the outputs.
    SameHead,
    SameTail,
}

/// The Rust code that reads what the table cannot say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Look {
    Awk,
    Cat,
    Cut,
    Date,
    Grep,
    Head,
    Iconv,
    Jq,
    Numfmt,
    Perl,
    Rg,
    Sed,
    Sort,
    Tee,
    Tr,
    Uniq,
    Wc,
    Xargs,
}

/// A list of options as text: groups of names for the same option, separated by commas.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Options(String);

/// One option of a command: all its names, the first of which stands for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub names: Vec<String>,
    pub value: Value,
}

/// The value of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Value {
    None,
    Required,
    /// Attached or none.
    Optional,
    /// Two words follow.
    Two,
}

impl Known {
    /// Reads a group such as `-e: --regexp:`.
    pub(crate) fn read(group: &str) -> Self {
        let marks = [("::", Value::Two), (":", Value::Required), ("?", Value::Optional)];
        let mut known = Self { names: Vec::new(), value: Value::None };
        for name in group.split_whitespace() {
            let marked =
                marks.iter().find_map(|(mark, value)| Some((name.strip_suffix(mark)?, *value)));
            let (bare, value) = marked.unwrap_or((name, Value::None));
            known.names.push(bare.to_owned());
            known.value = value;
        }
        known
    }

    /// The name that stands for the option.
    pub(crate) fn name(&self) -> &str {
        &self.names[0]
    }
}

impl Options {
    pub(crate) fn groups(&self) -> impl Iterator<Item = Known> {
        self.0.split(',').filter(|group| !group.trim().is_empty()).map(Known::read)
    }
}

impl Row {
    /// All options of the command.
    pub(crate) fn options(&self) -> &[Known] {
        &self.all
    }

    fn collect(&self) -> Vec<Known> {
        let keys = self.differs.keys().chain(self.merges.keys());
        let listed = self.keeps.groups().chain(self.zeros.groups());
        listed.chain(keys.map(|key| Known::read(key))).collect()
    }
}

impl Table {
    /// The row of a command.
    pub(crate) fn row(&self, name: &str) -> Option<&Row> {
        self.commands.get(name).map(|at| self.sections[*at].row())
    }

    /// All names, sorted.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.commands.keys().copied().collect()
    }

    /// Finds the sections: each begins with its name between brackets and has the tables `[name.…]`, too.
    fn read(text: &'static str) -> Self {
        let mut table = Self { sections: Vec::new(), commands: BTreeMap::new() };
        let mut starts = text.match_indices("\n[").map(|(at, _)| at + 1).filter(|at| {
            let header = text[*at..].lines().next().unwrap_or_default();
            !header.contains('.')
        });
        let mut next = starts.next();
        while let Some(start) = next {
            next = starts.next();
            table.add(&text[start..next.unwrap_or(text.len())]);
        }
        table
    }

    fn add(&mut self, text: &'static str) {
        let lines = || text.lines();
        let name = lines().next().and_then(|line| line.strip_prefix('[')?.strip_suffix(']'));
        let also = lines().find_map(|line| line.strip_prefix("also = \"")?.strip_suffix('"'));
        let names = name.into_iter().chain(also.unwrap_or_default().split_whitespace());
        for name in names {
            let earlier = self.commands.insert(name.trim_matches('"'), self.sections.len());
            assert!(earlier.is_none(), "{name} is in rules.toml twice");
        }
        self.sections.push(Section { text, row: OnceLock::new() });
    }
}

/// The table; a row is read when it is asked for.
pub(crate) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(TEXT));
    &TABLE
}

const TEXT: &str = include_str!("../rules.toml");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::options::Parsed;

    /// The rows that promise something, each with its name.
    fn promising() -> impl Iterator<Item = (&'static &'static str, &'static Row)> {
        let table = table();
        let rows = table.commands.iter().map(|(name, at)| (name, table.sections[*at].row()));
        rows.filter(|(_, row)| row.always.is_none())
    }

    #[test]
    fn the_real_programs_are_asked_about_every_name_and_option() {
        let mut seen = BTreeSet::new();
        for line in include_str!("../tests/cases.txt").lines().filter(|line| !line.starts_with('#'))
        {
            let words = shell_words::split(&line.replace('␤', "\n")).unwrap();
            let Some(row) = words.get(1).and_then(|name| table().row(name)) else { continue };
            let parsed = Parsed::read(row, &words[2..]).unwrap_or_else(|| panic!("{line}"));
            seen.insert((words[1].clone(), String::new()));
            // An option of a row counts for all names of the row.
            let names = table()
                .commands
                .iter()
                .filter(|(_, at)| std::ptr::eq(table().sections[**at].row(), row));
            for (name, _) in names {
                seen.extend(
                    parsed.options.iter().map(|(option, _)| ((*name).to_owned(), option.clone())),
                );
            }
        }
        let mut missing = Vec::new();
        for (name, row) in promising() {
            let merges: Vec<Known> = row.merges.keys().map(|key| Known::read(key)).collect();
            let options = row.keeps.groups().chain(row.zeros.groups()).chain(merges);
            for option in options.map(|known| known.name().to_owned()).chain([String::new()]) {
                if !seen.contains(&((*name).to_owned(), option.clone())) {
                    missing.push(format!("{name} {option}"));
                }
            }
        }
        assert!(missing.is_empty(), "not in tests/cases.txt: {}", missing.join(", "));
    }

    #[test]
    fn the_sections_are_those_of_the_whole_text() {
        let whole: BTreeMap<String, Row> = toml::from_str(TEXT).unwrap();
        assert_eq!(whole.len(), table().sections.len());
        let mut names = BTreeSet::new();
        for (name, row) in &whole {
            for name in std::iter::once(name.as_str()).chain(row.also.split_whitespace()) {
                let found = table().row(name).unwrap();
                let mut row = format!("{row:?}");
                row.truncate(row.rfind(", all:").unwrap());
                assert!(format!("{found:?}").starts_with(&row), "{name}");
                names.insert(name);
            }
        }
        assert_eq!(table().names(), names.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn no_name_stands_for_two_options_of_a_command() {
        for (name, row) in promising() {
            let mut seen = BTreeSet::new();
            for option in row.options().iter().flat_map(|known| &known.names) {
                assert!(option.starts_with('-'), "{name} {option}");
                assert!(seen.insert(option), "{name} {option} is there twice");
            }
        }
    }

    #[test]
    fn what_lifts_a_condition_is_an_option_of_the_command() {
        for (name, row) in promising() {
            for option in row.lifts.groups() {
                assert!(row.options().iter().any(|known| known.name() == option.name()), "{name}");
            }
        }
    }
}
