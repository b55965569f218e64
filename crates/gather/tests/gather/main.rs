//! What `gather` finds in records, and what it does with odd ones.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_truncation,
    reason = "a test reports by printing and panicking, and makes up numbers"
)]

mod odd_records;
mod schema;
mod seeded;
mod seeded_workflows;
