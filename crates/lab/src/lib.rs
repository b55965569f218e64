//! Experiments that anyone can run, with statistics that can be trusted.
//!
//! ```text
//! suites/*.toml ─▶ Suite ─▶ [Case] ─expand─▶ [Point] × [Engine] ─runner (Executor: Real | Mock)─▶ [Trial] ─▶ LabRun ─compare─▶ [Verdict]
//!                                                                        │
//!                                                                        └─ Job ─▶ engines ─▶ Sample   (in a process of its own)
//! ```

pub mod engines;
mod job;

pub use job::{EngineError, Job, Latency, Parameter, Parameters, Sample, Side};
