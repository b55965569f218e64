//! Other ways to pass bytes from one process to another, for comparison with pipes.
//!
//! | type | mechanism | descriptor |
//! |---|---|---|
//! | [`MessageQueue`] | a POSIX message queue without a name | the queue |
//! | [`SharedRing`] | memory that two processes map: counters, and a ring of bytes | the memory |
//! | [`Uring`] | reads and writes through io_uring, one at a time | none: it works on others |
//!
//! One process makes a queue or a ring and hands it to another as a descriptor. This module holds only what safe
//! libraries do not offer; the caller defines the protocol.

mod queue;
mod shared;
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")),
    path = "uring_absent.rs"
)]
mod uring;

pub use queue::MessageQueue;
pub use shared::{Counter, SharedRing};
pub use uring::Uring;
