//! What perf events (perf_event_open(2)) tell about processes: facts, nothing concluded.
//!
//! [`Switches`] sees every moment at which a thread gets a CPU or leaves it, for all processes that the calling thread
//! starts afterwards. [`Stacks`] has the registers and the stack of whatever is on a CPU, some hundred times a second.
//! [`Counters`] counts what the CPU and Linux count. All need no privileges up to `kernel.perf_event_paranoid` 2.
#![forbid(unsafe_code)]

mod body;
mod counters;
mod cpus;
mod record;
mod refused;
mod ring;
mod stack_record;
mod stacks;
mod switches;

pub use counters::{Count, Counter, Counters};
pub use record::{Kind, Switch};
pub use refused::Refused;
pub use stack_record::{Event, Happened, Mapping, Registers, Sample};
pub use stacks::{StackReading, Stacks};
pub use switches::{Reading, Switches};
