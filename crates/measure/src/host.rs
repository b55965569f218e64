//! The machine a measurement was made on (data only; `fullbore-proc` fills it in).

use serde::{Deserialize, Serialize};

/// What a reader of a record must know about the machine to judge its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Release of Linux, as `uname -r` prints it.
    pub kernel: String,
    /// Model name of the CPU.
    pub cpu: String,
    /// CPUs this process may use.
    pub cpus: u32,
    /// Memory in the machine, in bytes.
    pub memory_bytes: u64,
    /// Size of a page of memory, in bytes.
    pub page_bytes: u64,
    /// Largest pipe an unprivileged user may ask for, in bytes (`/proc/sys/fs/pipe-max-size`).
    pub pipe_max_bytes: Option<u64>,
    /// Pages all pipes of one unprivileged user may hold before new ones shrink (`pipe-user-pages-soft`; 0: no limit).
    pub pipe_user_pages_soft: Option<u64>,
}
