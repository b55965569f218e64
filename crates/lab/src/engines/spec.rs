//! What an engine may be told: names, units, ranges and defaults, so that a suite file can be checked before it runs.

use std::fmt;

use crate::{EngineError, Parameter, Parameters};

/// One parameter of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// Its name in suite files.
    pub name: &'static str,
    /// What it may be, and what it is when it is not mentioned.
    pub kind: Kind,
    /// What it does.
    pub about: &'static str,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A count or a size.
    Number {
        /// What is counted: `bytes`, `threads`, …
        unit: &'static str,
        /// The smallest allowed.
        least: u64,
        /// The largest allowed.
        most: u64,
        /// When it is not mentioned.
        default: u64,
    },
    /// One of these names; the first when it is not mentioned.
    Text(&'static [&'static str]),
    /// On or off; off when it is not mentioned.
    Flag,
}

impl Spec {
    /// A count or a size.
    pub(super) const fn number(
        name: &'static str,
        unit: &'static str,
        (least, most): (u64, u64),
        default: u64,
        about: &'static str,
    ) -> Self {
        Self { name, kind: Kind::Number { unit, least, most, default }, about }
    }

    /// One of several names, the first of which is the default.
    pub(super) const fn text(
        name: &'static str,
        names: &'static [&'static str],
        about: &'static str,
    ) -> Self {
        Self { name, kind: Kind::Text(names), about }
    }

    /// On or off.
    pub(super) const fn flag(name: &'static str, about: &'static str) -> Self {
        Self { name, kind: Kind::Flag, about }
    }

    /// What it is when it is not mentioned.
    #[must_use]
    pub fn default(&self) -> Parameter {
        match self.kind {
            Kind::Number { default, .. } => Parameter::Number(default),
            Kind::Text(names) => Parameter::Text((*names.first().unwrap_or(&"")).to_owned()),
            Kind::Flag => Parameter::Flag(false),
        }
    }

    fn allows(&self, value: &Parameter) -> bool {
        match (self.kind, value) {
            (Kind::Number { least, most, .. }, Parameter::Number(number)) => {
                (least..=most).contains(number)
            }
            (Kind::Text(names), Parameter::Text(text)) => names.contains(&text.as_str()),
            (Kind::Flag, Parameter::Flag(_)) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { unit, least, most: u64::MAX, .. } => {
                write!(f, "{unit}, {least} or more")
            }
            Self::Number { unit, least, most, .. } => write!(f, "{unit}, {least} to {most}"),
            Self::Text(names) => write!(f, "one of {}", names.join(", ")),
            Self::Flag => f.write_str("true or false"),
        }
    }
}

/// The same parameters with the defaults filled in.
///
/// # Errors
/// A name that no parameter has, or a value that it cannot have.
pub(super) fn complete(
    engine: &str,
    specs: &[Spec],
    given: &Parameters,
) -> Result<Parameters, EngineError> {
    let mut all = Parameters::default();
    for (name, value) in &given.0 {
        let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
            let known: Vec<_> = specs.iter().map(|spec| spec.name).collect();
            let known = known.join(", ");
            return Err(EngineError::Failed(format!(
                "{engine}: no parameter {name}; there are {known}"
            )));
        };
        if !spec.allows(value) {
            return Err(EngineError::Failed(format!(
                "{engine}: {name} = {value}: must be {}",
                spec.kind
            )));
        }
    }
    for spec in specs {
        let value = given.0.get(spec.name).cloned().unwrap_or_else(|| spec.default());
        all.0.insert(spec.name.to_owned(), value);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[Spec] = &[
        Spec::number("size", "bytes", (8, 64), 16, "bytes at once"),
        Spec::text("task", &["copy", "read"], "what is done"),
        Spec::flag("huge", "huge pages"),
    ];

    fn parameters(json: &str) -> Parameters {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn what_is_not_mentioned_has_its_default() {
        let all = complete("memory", SPECS, &parameters(r#"{"task": "read"}"#)).unwrap();
        assert_eq!(all, parameters(r#"{"size": 16, "task": "read", "huge": false}"#));
    }

    #[test]
    fn wrong_parameters_are_named_with_what_they_could_be() {
        let cases = [
            (r#"{"sise": 8}"#, "memory: no parameter sise; there are size, task, huge"),
            (r#"{"size": 7}"#, "memory: size = 7: must be bytes, 8 to 64"),
            (r#"{"size": "8"}"#, "memory: size = 8: must be bytes, 8 to 64"),
            (r#"{"task": "sing"}"#, "memory: task = sing: must be one of copy, read"),
            (r#"{"huge": 1}"#, "memory: huge = 1: must be true or false"),
        ];
        for (json, message) in cases {
            let error = complete("memory", SPECS, &parameters(json)).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
    }
}
