//! What both sides of the engine know and share: the parameters and the report.

use super::super::builtin::{size, wrong};
use super::super::clock::Usage;
use super::super::peers::Report;
use crate::{EngineError, Parameters};

/// Round trips before the timed ones.
pub(super) const WARM_UP_TRIPS: u64 = 200;

/// The smallest message, in bytes.
pub(super) const LEAST_MESSAGE: usize = 64;

/// The parameters, as both sides use them.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) kind: String,
    pub(super) is_latency: bool,
    pub(super) message: usize,
    /// Messages one way, or timed round trips.
    pub(super) count: u64,
    pub(super) buffer: usize,
}

impl Plan {
    pub(super) fn new(parameters: &Parameters) -> Result<Self, EngineError> {
        let kind = parameters.text("kind")?.to_owned();
        let is_latency = parameters.text("task")? == "latency";
        let message = size(parameters.number("message")?)?;
        let buffer = size(parameters.number("buffer")?)?;
        if !buffer.is_power_of_two() {
            return Err(wrong(format!("transport: buffer = {buffer}: must be a power of two")));
        }
        if kind == "eventfd" && !is_latency {
            return Err(wrong("transport: eventfd carries no bytes; use task = latency"));
        }
        if kind == "eventfd" && message > LEAST_MESSAGE {
            return Err(EngineError::Unavailable {
                what: "a larger message: an eventfd carries none, whatever its size".to_owned(),
                remedy: format!("message = {LEAST_MESSAGE} measures it"),
            });
        }
        if kind == "shm-spin" && parameters.text("pin")? == "same" {
            return Err(EngineError::Unavailable {
                what: "two sides that spin on one CPU: each waits for the end of the other's time slice"
                    .to_owned(),
                remedy: "it needs a CPU for each side".to_owned(),
            });
        }
        let count = match is_latency {
            true => parameters.number("trips")?,
            false => parameters.number("total")?.div_ceil(message as u64),
        };
        Ok(Self { kind, is_latency, message, count, buffer })
    }
}

pub(super) fn report(plan: &Plan, usage: Usage, wrong: Option<u64>) -> Report {
    Report {
        usage,
        bytes: Some(plan.count * plan.message as u64),
        operations: Some(plan.count),
        answer: wrong.map(|wrong| answer(wrong, plan.count)),
        latency: None,
    }
}

/// `ok`, or how many messages were wrong.
pub(super) fn answer(wrong: u64, count: u64) -> String {
    if wrong == 0 { "ok".to_owned() } else { format!("{wrong} of {count} messages wrong") }
}
