//! What is read from the rings.

use crate::record::Switch;
use crate::stack_record::Event;

/// What was read of switches at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// In the order in which they happened.
    pub switches: Vec<Switch>,
    /// Until when they are complete, in nanoseconds of `CLOCK_MONOTONIC`.
    pub until_ns: u64,
    /// Records that found no room since the reading before: who runs is unknown until each thread's next switch.
    pub lost: u64,
}

/// What was read of stacks at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackReading {
    /// In the order in which they happened.
    pub events: Vec<Event>,
    /// Records that found no room since the reading before.
    pub lost: u64,
}
