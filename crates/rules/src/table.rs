//! The table in `rules.toml`, as values. The head of that file explains its notation.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::answer::{Check, Ends, Status};

/// All commands, by name.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Row>,
    /// Which row a name has.
    commands: BTreeMap<String, usize>,
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
        self.commands.get(name).map(|at| &self.rows[*at])
    }

    /// All names, sorted.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.commands.keys().map(String::as_str).collect()
    }

    fn read(text: &str) -> Self {
        let named: BTreeMap<String, Row> = toml::from_str(text).expect("rules.toml is right");
        let mut table = Self { rows: Vec::new(), commands: BTreeMap::new() };
        for (name, mut row) in named {
            row.all = row.collect();
            let names = std::iter::once(name.as_str()).chain(row.also.split_whitespace());
            for name in names {
                let earlier = table.commands.insert(name.to_owned(), table.rows.len());
                assert!(earlier.is_none(), "{name} is in rules.toml twice");
            }
            table.rows.push(row);
        }
        table
    }
}

/// The table, read once.
pub(crate) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(|| Table::read(include_str!("../rules.toml")));
    &TABLE
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::options::Parsed;

    /// The rows that promise something, each with its name.
    fn promising() -> impl Iterator<Item = (&'static String, &'static Row)> {
        let table = table();
        let rows = table.commands.iter().map(|(name, at)| (name, &table.rows[*at]));
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
            let names =
                table().commands.iter().filter(|(_, at)| std::ptr::eq(&table().rows[**at], row));
            for (name, _) in names {
                seen.extend(
                    parsed.options.iter().map(|(option, _)| (name.clone(), option.clone())),
                );
            }
        }
        let mut missing = Vec::new();
        for (name, row) in promising() {
            let merges: Vec<Known> = row.merges.keys().map(|key| Known::read(key)).collect();
            let options = row.keeps.groups().chain(row.zeros.groups()).chain(merges);
            for option in options.map(|known| known.name().to_owned()).chain([String::new()]) {
                if !seen.contains(&(name.clone(), option.clone())) {
                    missing.push(format!("{name} {option}"));
                }
            }
        }
        assert!(missing.is_empty(), "not in tests/cases.txt: {}", missing.join(", "));
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
