//! Tests the alternatives to pipes: each keeps its promises, and refuses what it does not support.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test reports by panicking, and says what it skips"
)]

mod queue;
mod shared;
#[path = "../skip/mod.rs"]
mod skip;
mod uring;
