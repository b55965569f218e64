//! Runs a pipeline, watches it, tunes its pipes, and says what held it back.
#![forbid(unsafe_code)]

pub mod diagnose;
pub mod label;
pub mod record;
