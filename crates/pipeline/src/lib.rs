//! Runs a pipeline, watches it, tunes its pipes, and says what held it back.
//!
//! Flow: [`Command`] → spawn → discover → observe ⇄ tune → summarise → diagnose → [`record::RunRecord`].
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

mod command;
mod correct;
pub mod diagnose;
mod discover;
mod error;
mod events;
mod incidents;
pub mod label;
mod names;
mod observe;
mod pipes;
mod process;
mod reason;
pub mod record;
mod run;
mod spawn;
mod stage;
mod summarise;
mod timeline;
mod tune;

pub use command::Command;
pub use error::Error;
pub use events::die_of;
pub use run::{Finished, Nobody, Onlooker, Options, run};
pub use tune::Tuning;
