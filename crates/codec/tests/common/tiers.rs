//! Lists the tiers that tests use.

use fullbore_codec::Tier;

/// Returns the tiers of this CPU. It reports the missing ones as skipped, which is a failure when `FULLBORE_CI` is set.
pub(crate) fn tested() -> Vec<Tier> {
    let tiers = Tier::all();
    for missing in [Tier::Portable, Tier::Avx2, Tier::Avx512] {
        if !tiers.contains(&missing) {
            skipped(&format!("the kernels of {missing}, which this CPU lacks"));
        }
    }
    tiers
}

/// Prints what is not tested, and why; fails when nothing may be skipped.
#[allow(clippy::print_stderr, reason = "whoever runs the tests has to see it")]
pub(crate) fn skipped(why: &str) {
    assert!(
        std::env::var_os("FULLBORE_CI").is_none(),
        "skipped: {why} (FULLBORE_CI is set, so this is a failure)"
    );
    eprintln!("skipped: {why}");
}
