//! Reads small facts about processes from `/proc`, without privileges.
//!
//! Flow: [`Root`] (the real `/proc` or a captured one) → hot files read again and again with one buffer ([`HotFile`]) →
//! pure parsers → [`Stat`], [`SchedStat`], [`Io`], [`Wait`], [`Fd`]. A vanished process is a normal answer, not an
//! error: [`Unavailable`] tells it from a process that permissions hide and from a kernel without that fact. This crate
//! decides nothing.
//!
//! ```
//! let root = fullbore_proc::Root::system();
//! let me = std::process::id().cast_signed();
//! assert!(root.stat(me).is_some_and(|stat| stat.threads >= 1));
//! ```
#![forbid(unsafe_code)]

mod blocked;
mod children;
mod cpu_model;
mod cpu_times;
mod environment;
mod fds;
mod groups;
mod host;
mod io;
mod machine;
mod memory;
mod polled;
mod quota;
mod root;
mod schedstat;
mod stacks;
mod stat;
mod status;
mod syscall_numbers;
mod tcp;
mod unavailable;
mod unix_sockets;

pub use blocked::{Activity, Wait};
pub use children::children;
pub use cpu_model::cpu_model;
pub use cpu_times::CpuTimes;
pub use environment::Environment;
pub use fds::{Fd, Target};
pub use groups::{Group, groups};
pub use host::{PipeLimits, clock_ticks_per_second, host, pipe_limits};
pub use io::Io;
pub use machine::OpenFile;
pub use memory::{MemoryLimit, available_memory, memory_limits};
pub use polled::PollEntry;
pub use quota::has_cpu_quota;
pub use root::{HotFile, Root};
pub use schedstat::SchedStat;
pub use stacks::{BlockedAt, MappedCode};
pub use stat::{Stat, State};
pub use status::Status;
pub use syscall_numbers::Machine;
pub use tcp::{TcpSocket, joined};
pub use unavailable::{Fact, Unavailable};
