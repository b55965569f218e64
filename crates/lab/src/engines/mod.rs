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
//!                                              └─ side() ─▶ role(Seat) ─▶ Report ─▶ Sample
//! ```
//! A program that runs engines must call [`side`] when its only argument is [`SIDE`]; [`stage()`] offers the two sides of
//! `overlap` as stages of a shell pipeline.

mod clock;
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

use crate::{EngineError, Job, Parameter, Parameters, Sample};
pub use peers::SIDE;
pub use seat::side;
pub use spec::{Kind, Spec};
pub use stage::stage;

/// An engine by name.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// Its name in suite files.
    pub name: &'static str,
    /// One line on what it does.
    pub about: &'static str,
    /// What it may be told.
    pub parameters: &'static [Spec],
    /// Runs one trial; every parameter is there and within its range.
    run: fn(&Parameters) -> Result<Sample, EngineError>,
}

impl Builtin {
    /// The same parameters with the defaults filled in.
    ///
    /// # Errors
    /// A name that no parameter of this engine has (the known ones are listed), or a value that it cannot have.
    pub fn complete(&self, given: &Parameters) -> Result<Parameters, EngineError> {
        spec::complete(self.name, self.parameters, given)
    }
}

impl Builtin {
    /// Of the parameters of a point those that this engine knows, then its own, whether it knows them or not.
    #[must_use]
    pub fn told(&self, point: &Parameters, own: &Parameters) -> Parameters {
        let is_known = |name: &String| self.parameters.iter().any(|spec| spec.name == *name);
        let of_point = point.0.iter().filter(|(name, _)| is_known(name));
        let all = of_point.chain(&own.0).map(|(name, value)| (name.clone(), value.clone()));
        Parameters(all.collect())
    }
}

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
pub fn run(job: &Job) -> Result<Sample, EngineError> {
    let engine = find(&job.engine)?;
    (engine.run)(&engine.complete(&job.parameters)?)
}

/// What a side of a trial does: one function for each part that an engine hands out.
type Role = fn(&mut seat::Seat) -> Result<peers::Report, EngineError>;

/// All parts, by the name they are handed out under.
const ROLES: &[(&str, Role)] = &[
    (pipe::WRITER, pipe::write_side),
    (pipe::READER, pipe::read_side),
    (transport::NEAR, transport::near_side),
    (transport::FAR, transport::far_side),
    (overlap::PRODUCER, overlap::produce_side),
    (overlap::CONSUMER, overlap::consume_side),
];

/// Parameter of every engine with two processes.
const LIMIT: Spec =
    Spec::number("limit", "seconds", (1, 3600), 120, "a trial that takes longer is ended");
/// Parameter of every engine with two processes.
const PIN: Spec = Spec::text(
    "pin",
    &["none", "same", "neighbours"],
    "where the processes run: where Linux likes, both on one CPU, on two neighbouring CPUs",
);

/// Parameter of the engines that can count.
const COUNTERS: Spec = Spec::flag(
    "counters",
    "counters of the processor are read, too; they make every switch dearer",
);

/// A parameter or a combination that makes no sense.
fn wrong(why: impl Into<String>) -> EngineError {
    EngineError::Failed(why.into())
}

/// A size of memory or of a count of loops on this machine.
fn size(number: u64) -> Result<usize, EngineError> {
    usize::try_from(number).map_err(|_| wrong(format!("{number}: too large for this machine")))
}
