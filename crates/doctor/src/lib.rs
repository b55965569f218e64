//! Finds what of a machine costs pipelines speed, or hides something from fullbore.
//!
//! Flow: [`Places`] and [`Attempts`] ─[`Machine::read`]─▶ [`Machine`] ─[`examine`]─▶ [[`Finding`]]. Reading changes nothing, and
//! `examine` is pure. What cannot be read is in [`Machine::unread`], and is never taken as fine.
//!
//! ```
//! use fullbore_doctor::{Attempts, Machine, Places, examine};
//! let machine = Machine::read(Places::system(), Attempts::make());
//! for finding in examine(&machine) {
//!     assert!(!finding.what.is_empty() && !finding.consequence.is_empty());
//! }
//! ```
#![forbid(unsafe_code)]

mod attempts;
mod cpus;
mod finding;
mod idle;
mod kernel;
mod machine;
mod memory;
mod pipes;
mod places;
mod pressure;
mod quota;
mod sight;

pub use attempts::{Attempt, Attempts};
pub use cpus::Cpus;
pub use finding::{Finding, Level};
pub use idle::Idle;
pub use kernel::Kernel;
pub use machine::{Machine, examine};
pub use memory::{GroupMemory, Memory};
pub use pipes::Pipes;
pub use places::{Places, Unread};
pub use pressure::Pressure;
pub use quota::{Quota, Throttled};
pub use sight::Sight;
