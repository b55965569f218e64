//! Other ways to pass bytes than pipes: each keeps what it promises, and refuses what it is not made for.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test reports by panicking, and says what it skips"
)]

mod queue;
mod shared;
mod uring;
