//! Other ways to pass bytes from one process to another, for those who compare them with pipes.
//!
//! | type | what it is | descriptor |
//! |---|---|---|
//! | [`MessageQueue`] | a POSIX message queue without a name | the queue |
//! | [`SharedRing`] | memory that two processes map: counters, and a ring of bytes | the memory |
//! | [`Uring`] | reads and writes that go through io_uring, one at a time | none: it works on others |
//!
//! A queue and a ring are made in one process and handed to another as a descriptor. Only what safe libraries do not
//! offer is here; protocols are the caller's.

mod queue;
mod shared;
mod uring;

pub use queue::MessageQueue;
pub use shared::{Counter, SharedRing};
pub use uring::Uring;
