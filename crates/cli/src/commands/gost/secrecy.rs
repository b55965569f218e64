//! Nothing secret in a core dump.

use std::fs;

use anyhow::{Context, Result};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Neither a file nor a program or a socket that takes core dumps gets the memory of this process.
///
/// A limit of one byte prevents the file, which would be longer, and, as a value that Linux gives this meaning, the
/// program, for which a limit of 0 is none. An empty filter keeps all memory out of whatever is dumped all the same.
///
/// The process stays readable for its user in /proc: `fullbore run` sees what it waits for. A process that is not
/// dumpable (PR_SET_DUMPABLE) would belong to root there; that is the way only where the two others fail.
///
/// # Errors
/// When neither way is open.
///
/// Source: core(5); fs/coredump.c, `do_coredump`: `if (cprm.limit == 1)`.
pub(super) fn keep_out_of_core_dumps() -> Result<()> {
    let limit = setrlimit(Resource::Core, Rlimit { current: Some(1), maximum: Some(1) })
        // The limit was 0 already, and this user may not raise it.
        .or_else(|_| setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }));
    let filter = fs::write("/proc/self/coredump_filter", "0");
    if limit.is_ok() && filter.is_ok() {
        return Ok(());
    }
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .context("gost: keeping keys out of core dumps")
}
