//! The numbers a finding rests on.

use std::collections::BTreeMap;

/// Numbers by name; names end in their unit.
#[derive(Default)]
pub(super) struct Evidence(BTreeMap<String, f64>);

impl Evidence {
    /// Adds a number, rounded to a thousandth of its unit; what is not a number is left out.
    pub(super) fn number(mut self, name: &str, value: f64) -> Self {
        let rounded = (value * 1000.0).round() / 1000.0;
        if rounded.is_finite() {
            self.0.insert(name.to_owned(), rounded);
        }
        self
    }

    /// Adds a number that may be unknown.
    pub(super) fn optional(self, name: &str, value: Option<u64>) -> Self {
        match value {
            Some(value) => self.number(name, value as f64),
            None => self,
        }
    }

    /// All of them.
    pub(super) fn done(self) -> BTreeMap<String, f64> {
        self.0
    }
}
