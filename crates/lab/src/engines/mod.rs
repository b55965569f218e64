//! Engines built into fullbore. Each runs one trial, alone in a process of its own.
//!
//! | engine | what is measured | parameters |
//! |---|---|---|
//! | [`memory`] | copying, reading and writing memory | in its page |
//! | [`pipe`] | ways to write a pipe against ways to read it | in its page |
//! | [`transport`] | ways to pass messages from process to process | in its page |
//! | [`overlap`] | whether both sides of a pipe run at the same time | in its page |
//!
//! ```text
//! Job ─check, fill in defaults─▶ engine ─┬─ threads of this process              (memory)
//!                                        └─ Peers: two processes of this program  (pipe, transport, overlap)
//!                                              └─ side() ─▶ role(Seat) ─▶ Report ─▶ TrialResult
//! ```
//! A program that runs engines must call [`side`] when its only argument is [`SIDE`]; [`stage()`] offers the two sides of
//! `overlap` as stages of a shell pipeline.

mod builtin;
mod clock;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
    path = "counters_absent.rs"
)]
mod counters;
pub mod memory;
pub mod overlap;
mod pages;
mod peers;
pub mod pipe;
mod place;
mod seat;
mod sequence;
mod spec;
mod stage;
pub mod transport;

use self::builtin::COUNTERS;
use self::seat::Role;
use crate::{EngineError, Job, Parameter, TrialResult};
pub use builtin::Builtin;
pub use peers::SIDE;
pub use spec::{Kind, Spec};
pub use stage::stage;

impl Job {
    /// The same trial with the counters of the processor, where the engine has any.
    pub(crate) fn counting(&self) -> Self {
        let mut job = self.clone();
        let can = find(&job.engine)
            .is_ok_and(|engine| engine.parameters.iter().any(|spec| spec.name == COUNTERS.name));
        if can {
            job.parameters.0.insert(COUNTERS.name.to_owned(), Parameter::Flag(true));
        }
        job
    }
}

/// All of them, by name.
pub const ENGINES: &[Builtin] = &[memory::ENGINE, overlap::ENGINE, pipe::ENGINE, transport::ENGINE];

/// The engine of this name.
///
/// # Errors
/// There is none; the error lists those there are.
pub fn find(name: &str) -> Result<&'static Builtin, EngineError> {
    ENGINES.iter().find(|engine| engine.name == name).ok_or_else(|| {
        let names: Vec<_> = ENGINES.iter().map(|engine| engine.name).collect();
        EngineError::Failed(format!("no engine {name}; there are {}", names.join(", ")))
    })
}

/// Runs one trial of a built-in engine in this process.
///
/// # Errors
/// No such engine, a wrong parameter, or what the engine says.
pub fn run(job: &Job) -> Result<TrialResult, EngineError> {
    let engine = find(&job.engine)?;
    (engine.run)(&engine.complete(&job.parameters)?)
}

/// All parts, by the name they are handed out under.
const ROLES: &[(&str, Role)] = &[
    (pipe::WRITER, pipe::write_side),
    (pipe::READER, pipe::read_side),
    (transport::NEAR, transport::near_side),
    (transport::FAR, transport::far_side),
    (overlap::PRODUCER, overlap::produce_side),
    (overlap::CONSUMER, overlap::consume_side),
];

/// Does one side of a trial: takes the task from standard input, and reports there.
///
/// # Errors
/// When standard input is not the socket of a trial. What goes wrong in the trial is reported, not returned.
pub fn side() -> Result<(), EngineError> {
    seat::serve(ROLES)
}
