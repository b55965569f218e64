//! Perf events as Linux gives them.

mod counters;
mod cpus;
mod ring;
mod stacks;
mod switches;

pub use counters::Counters;
pub use stacks::Stacks;
pub use switches::Switches;
