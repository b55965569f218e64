//! What perf events (perf_event_open(2)) tell about processes: facts, nothing concluded.
//!
//! [`Switches`] sees every moment at which a thread gets a CPU or leaves it, for all processes that the calling thread
//! starts afterwards. [`Stacks`] has the registers and the stack of whatever is on a CPU, some hundred times a second.
//! [`Counters`] counts what the CPU and Linux count. All need no privileges up to `kernel.perf_event_paranoid` 2.
#![forbid(unsafe_code)]
// On other CPUs nobody has described perf events to Rust: `absent` refuses them, and nothing reads records.
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
    allow(dead_code, reason = "records are read where there are any")
)]

mod body;
mod count;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
    path = "absent.rs"
)]
mod events;
mod reading;
mod record;
mod refused;
mod stack_record;

pub use count::{Count, Counter};
pub use events::{Counters, Stacks, Switches};
pub use reading::{Reading, StackReading};
pub use record::{Kind, Switch};
pub use refused::Refused;
pub use stack_record::{Event, Happened, Mapping, Registers, Sample};
