//! Experiments that anyone can run, with statistics that can be trusted.
//!
//! ```text
//! suites/*.toml ─▶ Suite ─expand─▶ Case × point × Engine ─▶ Trial ─Executor─▶ TrialResult ─statistics─▶ LabRun ─compare─▶ Comparison
//!                                                                    └─ Job ─▶ engines, in a process of their own
//! ```
//!
//! It measures and never shows: [`LabRun`](record::LabRun) is all there is to show, and `fullbore-report` does that.
#![forbid(unsafe_code)]

pub mod compare;
pub mod disk;
pub mod engines;
mod executor;
mod job;
mod machine;
mod passes;
mod real;
pub mod record;
pub mod runner;
pub mod statistics;
pub mod suite;

pub use executor::{Executor, Missing, Program, Purpose, Trial};
pub use job::{EngineError, Job, Latency, Parameter, Parameters, Side, TrialResult};
pub use machine::machine;
pub use real::{Real, versions};
pub use statistics::Estimate;
