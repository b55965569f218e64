//! Which CPU a process or thread runs on.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::peers::failed;
use crate::{EngineError, Parameters};

/// Puts this thread where the parameter `pin` wants side `number` (0 or 1).
///
/// # Errors
/// There is only one CPU and two are wanted; what Linux says.
pub(super) fn pin(parameters: &Parameters, number: usize) -> Result<(), EngineError> {
    match parameters.text("pin")? {
        "same" => pin_to(0),
        "neighbours" => pin_to(number),
        _ => Ok(()),
    }
}

/// Puts this thread on the CPU number `number` of those it may use.
///
/// # Errors
/// There are fewer; what Linux says.
pub(super) fn pin_to(number: usize) -> Result<(), EngineError> {
    let cpus = allowed()?;
    let Some(&cpu) = cpus.get(number) else {
        return Err(EngineError::Unavailable {
            what: format!("{} CPUs, this process may use {}", number + 1, cpus.len()),
            remedy: "more CPUs, or another value of pin or threads".to_owned(),
        });
    };
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|e| failed("sched_setaffinity", &e.into()))
}

/// The CPUs that this thread may use.
pub(super) fn allowed() -> Result<Vec<usize>, EngineError> {
    let set = sched_getaffinity(None).map_err(|e| failed("sched_getaffinity", &e.into()))?;
    Ok((0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect())
}
