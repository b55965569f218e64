//! Keeps keys out of core dumps.

use std::fs;

use anyhow::{Context, Result};
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

/// Prevents that a file, program or socket gets the memory of this process in a core dump.
///
/// A core dump limit of one byte prevents dumps into files. Linux treats that value specially and also starts no program that
/// receives dumps; a limit of 0 would not prevent that. An empty filter keeps all memory out of dumps made in another way.
///
/// The user can still read the process in /proc, so `fullbore run` sees what it waits for. With PR_SET_DUMPABLE, the files there
/// would belong to root; so that is used only if the two others fail.
///
/// # Errors
/// If none of the ways works.
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
