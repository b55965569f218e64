//! What commands that keep a lot in memory share.

use std::path::Path;

use fullbore_measure::Bytes;
use fullbore_proc::{Root, available_memory};

/// The part of the available memory that a command may take.
const MEMORY_SHARE: u64 = 2;

/// The memory to assume where Linux does not tell.
const UNKNOWN_MEMORY: u64 = 1 << 30;

/// Half of the memory that is available.
pub(crate) fn default_memory() -> Bytes {
    let available = available_memory(&Root::system(), Path::new("/sys/fs/cgroup"));
    Bytes(available.unwrap_or(UNKNOWN_MEMORY) / MEMORY_SHARE)
}

/// A number that nobody can foresee.
pub(crate) fn seed(name: &str) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(name)
}
