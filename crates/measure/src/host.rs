//! Describes the machine of a measurement (data only; `fullbore-proc` fills it in).

use serde::{Deserialize, Serialize};

/// The facts about a machine that a reader needs to judge its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Name of the machine, as `uname -n` prints it; empty when unknown.
    #[serde(default)]
    pub name: String,
    /// Release of Linux, as `uname -r` prints it.
    pub kernel: String,
    /// Model name of the CPU.
    pub cpu: String,
    /// Number of CPUs this process may use.
    pub cpus: u32,
    /// Memory in the machine, in bytes.
    pub memory_bytes: u64,
    /// Size of a page of memory, in bytes.
    pub page_bytes: u64,
    /// Largest pipe that an unprivileged user may ask for, in bytes (`/proc/sys/fs/pipe-max-size`).
    pub pipe_max_bytes: Option<u64>,
    /// Pages that all pipes of one unprivileged user may hold before new ones shrink (`pipe-user-pages-soft`; 0 means
    /// no limit).
    pub pipe_user_pages_soft: Option<u64>,
}
