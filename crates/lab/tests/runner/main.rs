//! The runner with an executor that only pretends: order, passes, warm-up, stopping, budget, answers, Ctrl-C; no clock, no process.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod compare;
mod mock;
mod order;
mod outcomes;
mod passes;
mod statistics;
mod suites;
