//! Options of fio, one a line, as its job files have them.

use serde::{Deserialize, Serialize};

/// Lines such as `bs=4k`, in the order in which a job file shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Options(pub Vec<String>);

impl Options {
    /// The value of an option; an option without `=` has an empty one.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// All options, each with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|line| line.split_once('=').unwrap_or((line, "")))
    }

    /// Adds an option, or replaces its value where it is.
    pub fn set(&mut self, name: &str, value: &str) {
        let line = if value.is_empty() { name.to_owned() } else { format!("{name}={value}") };
        match self.0.iter_mut().find(|line| name_of(line) == name) {
            Some(known) => *known = line,
            None => self.0.push(line),
        }
    }

    /// Adds or replaces the options of others.
    pub fn set_all(&mut self, others: &Self) {
        others.iter().for_each(|(name, value)| self.set(name, value));
    }

    /// Takes options away.
    pub fn drop(&mut self, names: &[String]) {
        self.0.retain(|line| !names.iter().any(|name| name == name_of(line)));
    }
}

impl<N: AsRef<str>, V: AsRef<str>> FromIterator<(N, V)> for Options {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(all: I) -> Self {
        let mut options = Self::default();
        for (name, value) in all {
            options.set(name.as_ref(), value.as_ref());
        }
        options
    }
}

fn name_of(line: &str) -> &str {
    line.split_once('=').map_or(line, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_value_takes_the_place_of_the_earlier() {
        let mut options =
            Options(vec!["rw=read".to_owned(), "bs=4k".to_owned(), "sync".to_owned()]);
        options.set("rw", "write");
        options.set("depth", "1");
        assert_eq!(options.0, ["rw=write", "bs=4k", "sync", "depth=1"]);
        assert_eq!((options.get("sync"), options.get("none")), (Some(""), None));
        options.drop(&["bs".to_owned()]);
        assert_eq!(options.get("bs"), None);
    }
}
