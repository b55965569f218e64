//! What limits a run.

/// What a run waits for most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// The computing of a stage, by its number.
    Stage(u32),
    /// A stage that itself waits for a disk, a network or a timer, by its number.
    Waiting(u32),
    /// More stages want to run than there are CPUs.
    Cpus,
    /// The two sides of a pipe wait for each other in turn, by the number of the pipe.
    Pipe(u32),
    /// What feeds or reads the pipeline from outside.
    Outside,
}
