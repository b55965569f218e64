//! Experiments that anyone can run, with statistics that can be trusted.
//!
//! ```text
//! suites/*.toml ─▶ Suite ─▶ [Case] ─expand─▶ [Point] × [Engine] ─runner (Executor: Real | Mock)─▶ [Trial] ─▶ LabRun ─compare─▶ [Verdict]
//!                                                                        │
//!                                                                        └─ Job ─▶ engines ─▶ Sample   (in a process of its own)
//! ```
//!
//! It measures and never shows: [`LabRun`](record::LabRun) is all there is to show, and `fullbore-report` does that.
#![forbid(unsafe_code)]

pub mod compare;
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
pub use job::{EngineError, Job, Latency, Parameter, Parameters, Sample, Side};
pub use machine::machine;
pub use real::{Real, versions};
pub use statistics::Estimate;
