//! Splits the arguments of a command into options and operands, as getopt_long(3) does.

use crate::table::{Known, Row, Value};

/// The arguments of a command.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// The options in their order: the name that stands for each, and its value.
    pub options: Vec<(String, Option<String>)>,
    pub operands: Vec<String>,
}

impl Parsed {
    /// Tells whether an option is there, by the name that stands for it in the table.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.options.iter().any(|(option, _)| option == name)
    }

    /// The values of all options with one of these names, in order.
    pub(crate) fn values<'a>(&'a self, names: &[&str]) -> Vec<&'a str> {
        let found = self.options.iter().filter(|(option, _)| names.contains(&option.as_str()));
        found.filter_map(|(_, value)| value.as_deref()).collect()
    }

    /// The value that counts: that of the last option of this name.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.values(&[name]).pop()
    }

    /// Takes the arguments apart; `None` if an option is not in the table, lacks its value or has one too many.
    pub(crate) fn read(row: &Row, arguments: &[String]) -> Option<Self> {
        let mut parsed = Self::default();
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                parsed.operands.extend(rest.by_ref().cloned());
            } else if word.starts_with("--") {
                parsed.long(row, word, &mut rest)?;
            } else if word.len() > 1 && word.starts_with('-') {
                parsed.cluster(row, &word[1..], &mut rest)?;
            } else {
                parsed.operands.push(word.clone());
                if row.stops {
                    parsed.operands.extend(rest.by_ref().cloned());
                }
            }
        }
        Some(parsed)
    }

    /// Reads `--name`, `--name=value` or `--name value`.
    fn long<'a>(
        &mut self,
        row: &Row,
        word: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Option<()> {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word, None),
        };
        let known = long(row, name)?;
        let value = match (known.value, attached) {
            (Value::None | Value::Two, Some(_)) => return None,
            (Value::None | Value::Optional, attached) => attached,
            (Value::Required, Some(value)) => Some(value),
            (Value::Required, None) => Some(rest.next()?.clone()),
            (Value::Two, None) => Some(format!("{} {}", rest.next()?, rest.next()?)),
        };
        self.options.push((known.name().to_owned(), value));
        Some(())
    }

    /// Reads what follows a single `-`: letters, the last of which may have a value.
    fn cluster<'a>(
        &mut self,
        row: &Row,
        letters: &str,
        rest: &mut impl Iterator<Item = &'a String>,
    ) -> Option<()> {
        let mut left = letters;
        while let Some(letter) = left.chars().next() {
            let after = &left[letter.len_utf8()..];
            if let Some(known) = short(row, &format!("-{letter}")) {
                let value = match known.value {
                    Value::None => None,
                    Value::Optional => Some(after.to_owned()).filter(|value| !value.is_empty()),
                    Value::Required if after.is_empty() => Some(rest.next()?.clone()),
                    Value::Required => Some(after.to_owned()),
                    Value::Two => return None,
                };
                left = if known.value == Value::None { after } else { "" };
                self.options.push((known.name().to_owned(), value));
            } else {
                let digits = left.bytes().take_while(u8::is_ascii_digit).count();
                let known = short(row, "-#").filter(|_| digits > 0)?;
                let (number, after) = left.split_at(digits);
                self.options.push((known.name().to_owned(), Some(number.to_owned())));
                left = after;
            }
        }
        Some(())
    }
}

fn short<'r>(row: &'r Row, name: &str) -> Option<&'r Known> {
    row.options().iter().find(|known| known.names.iter().any(|one| one == name))
}

/// Finds a long option by its name or by the beginning of only one.
fn long<'r>(row: &'r Row, name: &str) -> Option<&'r Known> {
    short(row, name).or_else(|| {
        let starts = |known: &&Known| known.names.iter().any(|one| one.starts_with(name));
        let mut found = row.options().iter().filter(starts);
        let only = found.next().filter(|_| !row.exact && name.len() > 2)?;
        found.next().is_none().then_some(only)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::table;

    fn read(line: &str) -> Option<(String, String)> {
        let words = shell_words::split(line).unwrap();
        let parsed = Parsed::read(table().row(&words[0]).unwrap(), &words[1..])?;
        let text = |(name, value): &(String, Option<String>)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.clone(),
        };
        let options: Vec<_> = parsed.options.iter().map(text).collect();
        Some((options.join(" "), parsed.operands.join(" ")))
    }

    #[test]
    fn options_are_read_as_getopt_reads_them() {
        let cases = [
            ("grep -vc x", "-v -c", "x"),
            ("grep -ve x y", "-v -e=x", "y"),
            ("grep x -v", "-v", "x"),
            ("grep -v -- -c", "-v", "-c"),
            ("grep --regexp=x --regexp y", "-e=x -e=y", ""),
            ("grep --color x", "--color", "x"),
            ("grep --colo=never x", "--color=never", "x"),
            ("grep --invert x", "-v", "x"),
            ("head -5", "-#=5", ""),
            ("head -n5 -", "-n=5", "-"),
            ("sort -t, -k2,2n -rk1", "-t=, -k=2,2n -r -k=1", ""),
            ("tr -d a -s", "-d", "a -s"),
            ("jq --arg name value .x", "--arg=name value", ".x"),
        ];
        for (line, options, operands) in cases {
            let expected = (options.to_owned(), operands.to_owned());
            assert_eq!(read(line), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_is_not_in_the_table_or_not_right_is_refused() {
        // `--no` begins two long options of grep.
        for line in
            ["grep --frob x", "grep -e", "grep --count=3 x", "grep --no x", "cat -Q", "jq --ar x"]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
