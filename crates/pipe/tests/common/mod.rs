//! What several tests need to know about this machine.

use fullbore_pipe::{Probe, probe};

/// Whether pages can be lent again and again here; says so if not. An emulator of programs starts no child that shares
/// descriptors, and so has no ring.
#[allow(clippy::print_stderr, reason = "whoever runs the tests has to see it")]
pub(crate) fn has_ring() -> bool {
    let found = probe();
    let has_ring = matches!(found, Probe::Ring);
    if !has_ring {
        assert!(std::env::var_os("FULLBORE_CI").is_none(), "skipped: {found}");
        eprintln!("skipped: {found}");
    }
    has_ring
}
