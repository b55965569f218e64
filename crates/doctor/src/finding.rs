//! What was found.

use serde::Serialize;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub enum Level {
    /// Pipelines are slower than they need be.
    #[serde(rename = "costs_speed")]
    Costs,
    /// fullbore cannot see or do something.
    #[serde(rename = "hides")]
    Hides,
    /// It explains numbers, and need not be changed.
    #[serde(rename = "good_to_know")]
    Note,
}

/// One thing about a machine that its user may want to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// A short name that does not change, such as `huge_pages`.
    pub name: &'static str,
    /// How much it matters.
    pub level: Level,
    /// What is so, with its value.
    pub what: String,
    /// What follows from it.
    pub consequence: String,
    /// Where the numbers of the consequence come from; empty where it has none.
    pub source: &'static str,
    /// Commands to paste into a shell that change or show it, in this order.
    pub commands: Vec<String>,
    /// Commands that undo them, in this order; empty where there is nothing to undo.
    pub undo: Vec<String>,
}

impl Finding {
    pub(crate) fn new(name: &'static str, level: Level, what: impl Into<String>) -> Self {
        Self {
            name,
            level,
            what: what.into(),
            consequence: String::new(),
            source: "",
            commands: Vec::new(),
            undo: Vec::new(),
        }
    }

    pub(crate) fn so(mut self, consequence: impl Into<String>) -> Self {
        self.consequence = consequence.into();
        self
    }

    pub(crate) fn source(mut self, source: &'static str) -> Self {
        self.source = source;
        self
    }

    pub(crate) fn command(mut self, command: impl Into<String>) -> Self {
        self.commands.push(command.into());
        self
    }

    /// Adds a command that undoes the last one; what was done last is undone first.
    pub(crate) fn undo(mut self, command: impl Into<String>) -> Self {
        self.undo.insert(0, command.into());
        self
    }

    /// Sets a sysctl, such as `fs.pipe-max-size`.
    pub(crate) fn sysctl(
        self,
        name: &str,
        now: impl std::fmt::Display,
        wanted: impl std::fmt::Display,
    ) -> Self {
        self.command(format!("sudo sysctl -w {name}={wanted}"))
            .undo(format!("sudo sysctl -w {name}={now}"))
    }

    /// Writes into a file of Linux.
    pub(crate) fn write(
        self,
        file: impl std::fmt::Display,
        now: impl std::fmt::Display,
        wanted: impl std::fmt::Display,
    ) -> Self {
        self.command(format!("echo {wanted} | sudo tee {file}"))
            .undo(format!("echo {now} | sudo tee {file}"))
    }
}
