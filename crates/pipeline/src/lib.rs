//! Runs a pipeline, watches it, tunes its pipes, and says what held it back.
//!
//! Flow: [`Command`] → start → (census → look → changes to pipes, again and again) → summarise → diagnose →
//! [`RunRecord`](fullbore_record::RunRecord).
//! The pipeline cannot tell that it is watched: its bytes, exit status and signals are the shell's.
//! This crate shows nothing; an [`Onlooker`] and the record do.
//!
//! ```no_run
//! use fullbore_pipeline::{Command, Nobody, Options, run};
//! let command = Command::Line { shell: "sh".into(), line: "seq 9 | sort -r".into() };
//! let finished = run(&command, Options::default(), &mut Nobody)?;
//! println!("{:?}", finished.record.findings);
//! # Ok::<(), fullbore_pipeline::Error>(())
//! ```
#![forbid(unsafe_code)]

mod account;
mod attach;
mod attached;
mod command;
mod counting;
mod error;
mod graph;
mod incidents;
mod named;
mod observed;
mod onlooker;
mod pace;
mod profiling;
mod recording;
mod sample;
mod sampler;
mod session;
mod subject;
mod summarise;
mod survey;
mod topology;
mod tune;
mod wake;
mod watch;

pub use attach::{AttachOptions, Visit, attach};
pub use command::Command;
pub use error::{AttachError, Error};
pub use named::{Named, named};
pub use onlooker::{Nobody, Onlooker};
pub use recording::{ReplayError, replay};
pub use session::{Finished, Options, run};
pub use subject::{Exact, die_of};
pub use survey::Survey;
pub use tune::{AdjustError, Adjusted, Tuning};
