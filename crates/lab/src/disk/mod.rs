//! Storage: six workloads by fio, told in fio's own numbers, with intervals; and what changed between two records.
//!
//! ```text
//! suites/disk.toml ─DiskSuite::read─▶ DiskSuite ─jobs─▶ [Job], one for each workload
//! measuring   Place ─prepare─▶ laid-out file ;  Job × pass ─Tester::pass─▶ Pass ─summary─▶ WorkloadRun ─▶ DiskRun
//!             Tester is fio (its output ─fio::read─▶ Output ─pass─▶ Pass) or, where fio is missing, our own engine
//! importing   output of fio ─fio::read─▶ Output ─import─▶ DiskRun
//! comparing   DiskRun × DiskRun ─compare─▶ DiskComparison
//! ```
//!
//! Input and output are in `facts`, `place`, `prepare`, `by_fio`, `by_us` and `logs`. Everything else is a function of values.

pub mod bins;
mod by_fio;
mod by_us;
pub mod compare;
mod drift;
mod facts;
pub mod fio;
pub mod import;
pub mod job;
mod log;
mod logs;
pub mod metric;
mod mounts;
mod options;
mod place;
mod prepare;
pub mod record;
pub mod runner;
mod steps;
mod suite;
pub mod summary;

pub use by_fio::Fio;
pub use by_us::Threads;
pub use options::Options;
pub use place::{Place, PlaceError, device, directory};
pub use prepare::{Laid, lay_out};
pub use suite::{DiskSuite, Timing, Workload, suite};
