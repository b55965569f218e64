//! Engines built into fullbore. Each runs one trial, alone in a process of its own.

use crate::{EngineError, Job, Parameters, Sample};

/// An engine by name.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name in suite files.
    pub name: &'static str,
    /// One line on what it does.
    pub about: &'static str,
    /// Runs one trial.
    pub run: fn(&Parameters) -> Result<Sample, EngineError>,
}

/// All of them, by name.
pub const ENGINES: &[Builtin] = &[];

/// Runs one trial of a built-in engine in this process.
///
/// # Errors
/// No such engine, a wrong parameter, or what the engine says.
pub fn run(job: &Job) -> Result<Sample, EngineError> {
    let engine = ENGINES.iter().find(|engine| engine.name == job.engine);
    let engine = engine.ok_or_else(|| EngineError::Failed(format!("no engine {}", job.engine)))?;
    (engine.run)(&job.parameters)
}
