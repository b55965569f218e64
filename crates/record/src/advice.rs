//! What to do about a finding: text to read and commands to paste.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One part of an advice. The parts in their order are the whole text, spaces included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AdvicePart {
    /// To be read.
    Text(String),
    /// To be pasted into a shell.
    Command(String),
    /// A part that a later version has a name for, as it was read.
    #[serde(untagged)]
    Other(Value),
}

impl AdvicePart {
    /// A part to be read.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A part to be pasted into a shell.
    #[must_use]
    pub fn command(command: impl Into<String>) -> Self {
        Self::Command(command.into())
    }
}

/// The advice as one line of text, with each command in backquotes. Unknown parts are left out.
#[must_use]
pub fn advice_text(parts: &[AdvicePart]) -> String {
    let mut line = String::new();
    for part in parts {
        match part {
            AdvicePart::Text(text) => line.push_str(text),
            AdvicePart::Command(command) => {
                line.push('`');
                line.push_str(command);
                line.push('`');
            }
            AdvicePart::Other(_) => {}
        }
    }
    line
}
