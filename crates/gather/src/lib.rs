//! The records of many runs → what limits the workflow that they belong to.
//!
//! Flow: the bytes of a file ─[`read`]─▶ [`Run`]; `[Run]` ─[`gather`]─▶ [`Workflow`], whose first finding is the verdict;
//! two `[Run]` ─[`compare()`]─▶ [`Comparison`]. Nothing here reads a file or a clock, and nothing is displayed.
//!
//! ```
//! use fullbore_gather::{Files, gather, read};
//! let text = br#"{"schema":"fullbore.run/2","command":"sort a","started_unix_ns":1,"elapsed_ns":2000000000}"#;
//! let run = read(text, "a.json").unwrap();
//! let workflow = gather(&[run], Files::default(), 10);
//! assert_eq!(workflow.totals.job_time_ns, 2_000_000_000);
//! ```
#![forbid(unsafe_code)]

mod cause;
mod compare;
mod critical;
mod expect;
mod findings;
mod hosts;
mod input;
mod jobs;
mod name;
mod outliers;
mod phrases;
mod rules;
mod run;
mod shape;
mod stages;
mod summary;
mod workflow;

pub use cause::{Cause, Causes};
pub use compare::compare;
pub use run::{NotARecord, Run, Stage, Verdict, read};
pub use summary::gather;
pub use workflow::{
    ChangedRule, Comparison, Costly, CostlyStage, CpuWait, Files, Finding, FindingKind, HostRow,
    JobRow, Outlier, RuleRow, SCHEMA, Side, Totals, Turns, Unread, Workflow,
};
