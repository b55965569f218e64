//! What the readers of arguments are given.

use crate::options::Parsed;

/// What a command was called with.
pub(crate) struct Call<'a> {
    pub name: &'a str,
    pub parsed: &'a Parsed,
}

impl Call<'_> {
    /// The command with its options, without operands.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec![self.name.to_owned()];
        for (name, value) in &self.parsed.options {
            match value {
                Some(value) if name == "-#" => words.push(format!("-{value}")),
                Some(value) if name.starts_with("--") => words.push(format!("{name}={value}")),
                Some(value) => words.extend([name.clone(), value.clone()]),
                None => words.push(name.clone()),
            }
        }
        words
    }
}
