//! What Linux says about processes: small facts read from `/proc`, without privileges.
//!
//! Flow: [`Root`] (the real `/proc` or a captured one) → hot files read again and again with one
//! buffer ([`HotFile`]) → pure parsers → [`Stat`], [`SchedStat`], [`Io`], [`Wait`], [`Fd`].
//! A process that vanished is a normal answer (`None`), not an error. This crate decides nothing.
//!
//! ```
//! let root = fullbore_proc::Root::system();
//! let me = std::process::id().cast_signed();
//! assert!(root.stat(me).is_some_and(|stat| stat.threads >= 1));
//! ```
#![forbid(unsafe_code)]

mod blocked;
mod fds;
mod host;
mod io;
mod root;
mod schedstat;
mod stat;
mod status;
mod syscall_numbers;

pub use blocked::{Activity, PollEntry, Wait};
pub use fds::{Fd, Target};
pub use host::{PipeLimits, clock_ticks_per_second, host, pipe_limits};
pub use io::Io;
pub use root::{HotFile, Root};
pub use schedstat::SchedStat;
pub use stat::{Stat, State};
pub use status::Status;
