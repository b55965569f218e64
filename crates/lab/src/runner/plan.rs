//! What to run, and what an onlooker is told meanwhile.

use std::collections::BTreeSet;

use crate::record::{Effort, LabRun, Machine, SuiteRun};
use crate::suite::{Axis, Case, Need, Run, Suite, points};
use crate::{Parameter, Parameters};

/// Sees what happens while it happens.
pub trait Onlooker {
    /// A trial is about to start.
    fn progress(&mut self, progress: &Progress<'_>);

    /// A pass over a case is done; the record holds what it found.
    fn case_done(&mut self, run: &LabRun);

    /// A suite is done, or what will be done of it: its intervals are the last ones.
    fn suite_done(&mut self, suite: &SuiteRun);
}

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// `suite/case`
    pub case: &'a str,
    /// The engine that runs now, for people.
    pub engine: &'a str,
    /// The swept values of the point, for people.
    pub point: &'a str,
    /// The pass over the suite, from 1.
    pub pass: u32,
    /// Passes there are.
    pub passes: u32,
    /// The round of this point, over all passes; 0 while answers are checked.
    pub round: u32,
    /// Visits to points that are done, of all suites; each point is visited once a pass.
    pub visits_done: usize,
    /// Visits there are.
    pub visits: usize,
    /// Time it has taken so far.
    pub elapsed_ns: u64,
    /// Time it will still take, by what the visits took so far.
    pub left_ns: u64,
}

/// What to run, and what the record says about it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The suites; cases that are not wanted are left out of them.
    pub suites: Vec<Suite>,
    /// How much to measure.
    pub effort: Effort,
    /// Values of `{dir}` and `{fullbore}`.
    pub places: Parameters,
    /// The command, options without suites, that repeats it: `fullbore lab --quick`.
    pub command: String,
    /// When it began.
    pub started_unix_ns: u64,
    /// Where it runs.
    pub machine: Machine,
    /// Version of the program.
    pub fullbore_version: String,
}

impl Plan {
    /// Names of the programs that take part.
    #[must_use]
    pub fn programs(&self) -> BTreeSet<String> {
        let engines =
            self.suites.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.engines);
        let named = |need: &Need| match need {
            Need::Program { name, .. } => Some(name.clone()),
            _ => None,
        };
        engines
            .flat_map(|engine| {
                let first = match &engine.run {
                    Run::Words(words) => words.first().filter(|word| !word.contains('{')).cloned(),
                    Run::Builtin { .. } | Run::Line(_) => None,
                };
                engine.needs.iter().filter_map(named).chain(first).collect::<Vec<_>>()
            })
            .collect()
    }

    pub(super) fn points_of(&self, case: &Case) -> Vec<Parameters> {
        match self.effort {
            Effort::Quick => points(&case.quick_sweep, &case.quick_fixed),
            Effort::Usual | Effort::Runs(_) => points(&case.sweep, &case.fixed),
        }
    }
}

/// The swept values for people: `chunk 64 KiB, busy true`.
#[must_use]
pub fn point_text(sweep: &[Axis], parameters: &Parameters) -> String {
    let part = |axis: &Axis| {
        let value = parameters.0.get(&axis.name)?;
        Some(format!("{} {}", axis.name.replace('_', " "), value_text(axis, value)))
    };
    sweep.iter().filter_map(part).collect::<Vec<_>>().join(", ")
}

/// One swept value for people.
#[must_use]
pub fn value_text(axis: &Axis, value: &Parameter) -> String {
    match value {
        Parameter::Number(bytes) if axis.is_size => fullbore_measure::Bytes(*bytes).to_string(),
        other => other.to_string(),
    }
}
