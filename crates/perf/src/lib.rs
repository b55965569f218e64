//! What perf events (perf_event_open(2)) tell about processes: facts, nothing concluded.
//!
//! [`Switches`] sees every moment at which a thread gets a CPU or leaves it, for all processes that the calling thread
//! starts afterwards. It needs no privileges up to `kernel.perf_event_paranoid` 2.
#![forbid(unsafe_code)]

mod cpus;
mod record;
mod refused;
mod switches;

pub use record::{Kind, Switch};
pub use refused::Refused;
pub use switches::{Reading, Switches};
