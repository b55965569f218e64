//! Paths that no record has, and which ones were probably meant.

use std::collections::BTreeSet;
use std::ops::Range;

use fullbore_codec::json::query::{Duplicates, Path, Step, Value};

use crate::nearest::nearest;

/// Records in which names are looked for that a path could have meant.
const SAMPLE: usize = 100;
/// Most names to choose from.
const MOST_NAMES: usize = 1000;

/// What one worker has seen of each path.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Whether a record has it.
    pub(crate) has: Vec<bool>,
    /// The names that the first records have where a path leads nowhere, after the number of that step.
    near: Vec<BTreeSet<(usize, String)>>,
    is_sampled: bool,
    /// Whether there was a record to look at.
    pub(crate) has_records: bool,
}

impl Seen {
    pub(crate) fn new(paths: usize) -> Self {
        Self {
            has: vec![false; paths],
            near: vec![BTreeSet::new(); paths],
            is_sampled: false,
            has_records: false,
        }
    }

    /// Notes which columns of a block have a value.
    pub(crate) fn note(&mut self, values: &[Range<usize>]) {
        let columns = self.has.len();
        self.has_records |= !values.is_empty();
        for (column, has) in self.has.iter_mut().enumerate() {
            *has |= values.iter().skip(column).step_by(columns).any(|value| !value.is_empty());
        }
    }

    /// After a block: looks for names in the first records, once, if a path was not found in any.
    pub(crate) fn sample(&mut self, paths: &[Path], text: &[u8], documents: &[Range<usize>]) {
        if documents.is_empty() || std::mem::replace(&mut self.is_sampled, true) {
            return;
        }
        for ((path, has), near) in paths.iter().zip(&self.has).zip(&mut self.near) {
            if *has {
                continue;
            }
            for document in documents.iter().take(SAMPLE) {
                if near.len() < MOST_NAMES {
                    add_near(path, &text[document.clone()], near);
                }
            }
        }
    }

    /// Adds what another worker has seen.
    pub(crate) fn add(&mut self, other: Self) {
        self.has_records |= other.has_records;
        for (has, other) in self.has.iter_mut().zip(other.has) {
            *has |= other;
        }
        for (near, other) in self.near.iter_mut().zip(other.near) {
            near.extend(other);
        }
    }

    /// The warnings for the paths that no record has.
    pub(crate) fn warnings(&self, paths: &[Path]) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.has_records {
            return warnings;
        }
        for ((path, has), near) in paths.iter().zip(&self.has).zip(&self.near) {
            if *has {
                continue;
            }
            let warning = match meant(path, near) {
                Some(meant) => format!("no record has {path}; did you mean {meant}?"),
                None => format!("no record has {path}"),
            };
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        warnings
    }
}

/// Returns the path with the name that was probably meant where it led farthest.
fn meant(path: &Path, near: &BTreeSet<(usize, String)>) -> Option<Path> {
    let (step, _) = near.last()?;
    let Step::Name(wrong) = path.steps.get(*step)? else { return None };
    // Names of fields are short, and another field is no slip: one wrong letter, and one more for every four.
    let most = 1 + wrong.chars().count() / 4;
    let is_slip = |name: &&str| strsim::osa_distance(wrong, name) <= most;
    let names = near.iter().filter(|(at, _)| at == step).map(|(_, name)| name.as_str());
    let name = nearest(wrong, names.filter(is_slip))?;
    let mut meant = path.clone();
    meant.steps[*step] = Step::Name(name.to_owned());
    Some(meant)
}

/// Adds the names that the record has where the path leads nowhere.
fn add_near(path: &Path, document: &[u8], near: &mut BTreeSet<(usize, String)>) {
    let mut text = document;
    for (at, step) in path.steps.iter().enumerate() {
        let value = Value::new(text);
        let next = match step {
            Step::Name(name) => value.member(name, Duplicates::First).ok().flatten(),
            Step::Index(index) => value.elements().nth(usize::try_from(*index).unwrap_or_default()),
            Step::Each => value.elements().next(),
        };
        if let Some(next) = next {
            text = &text[next];
            continue;
        }
        if let Step::Name(_) = step {
            for (name, _) in value.members() {
                let name = Value::new(&text[name]).decoded();
                near.insert((at, String::from_utf8_lossy(&name).into_owned()));
            }
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_slip_finds_the_one_that_was_meant() {
        let record = br#"{"price":1,"user":{"name":"x","mail":"y"},"items":[{"total":3}]}"#;
        for (path, warning) in [
            (".pirce", "no record has .pirce; did you mean .price?"),
            (".user.nmae", "no record has .user.nmae; did you mean .user.name?"),
            (".items[].totl", "no record has .items[].totl; did you mean .items[].total?"),
            (".xyz", "no record has .xyz"),
            (".time", "no record has .time"),
            (".user.price", "no record has .user.price"),
            (".items[].total.x", "no record has .items[].total.x"),
        ] {
            let paths = [Path::parse(path).unwrap()];
            let mut seen = Seen::new(1);
            let whole = 0..record.len();
            seen.has_records = true;
            seen.sample(&paths, record, std::slice::from_ref(&whole));
            assert_eq!(seen.warnings(&paths), [warning]);
        }
    }
}
