//! Skips tests where the machine lacks what they need.

/// Prints why a test is skipped; fails where `FULLBORE_CI` forbids skipping.
#[allow(dead_code, reason = "some tests ask for a CPU only")]
pub(crate) fn skipped(why: &str) {
    let may_skip = std::env::var_os("FULLBORE_CI").is_none();
    assert!(may_skip, "skipped: {why} (FULLBORE_CI is set, so this is a failure)");
    eprintln!("skipped: {why}");
}

/// Prints what is skipped because this CPU lacks it: no failure even in CI, which cannot install a CPU.
#[allow(dead_code, reason = "not every test asks the CPU for something")]
pub(crate) fn lacking(what: &str) {
    eprintln!("skipped: {what}, which this CPU lacks");
}
