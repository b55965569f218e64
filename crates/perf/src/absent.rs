//! Stands for `counters`, `stacks` and `switches` on CPUs for which nobody has described perf events to Rust: all are refused.

use crate::count::{Count, Counter};
use crate::reading::{Reading, StackReading};
use crate::refused::Refused;

fn refused() -> Refused {
    Refused::by_fullbore("perf events", "fullbore cannot read those of this CPU")
}

/// Would see every switch; cannot be had on this CPU.
#[derive(Debug)]
pub enum Switches {}

impl Switches {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn of_descendants() -> Result<Self, Refused> {
        Err(refused())
    }

    /// Is never called.
    pub fn read(&mut self) -> Reading {
        match *self {}
    }
}

/// Would take stacks; cannot be had on this CPU.
#[derive(Debug)]
pub enum Stacks {}

impl Stacks {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn of_descendants(_: u32) -> Result<Self, Refused> {
        Err(refused())
    }

    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn of_threads(_: u32, _: &[i32]) -> Result<Self, Refused> {
        Err(refused())
    }

    /// Is never called.
    #[must_use]
    pub fn period_ns(&self) -> u64 {
        match *self {}
    }

    /// Is never called.
    #[must_use]
    pub fn sees_kernel(&self) -> bool {
        match *self {}
    }

    /// Is never called.
    pub fn read(&mut self) -> StackReading {
        match *self {}
    }
}

/// Would count; cannot be had on this CPU.
#[derive(Debug)]
pub enum Counters {}

impl Counters {
    /// Refuses.
    ///
    /// # Errors
    /// Always.
    pub fn of_thread(_: i32) -> Result<Self, Refused> {
        Err(refused())
    }

    /// Is never called.
    pub fn read(&mut self) -> Vec<(Counter, Count)> {
        match *self {}
    }
}
