//! Lists the tiers that tests use.

use fullbore_codec::Tier;

/// Returns the tiers of this CPU, and says which are missing.
pub(crate) fn tested() -> Vec<Tier> {
    let tiers = Tier::all();
    let of_cpu: &[Tier] = if cfg!(target_arch = "aarch64") {
        &[Tier::Neon]
    } else if cfg!(target_arch = "x86_64") {
        &[Tier::Avx2, Tier::Avx2Gfni, Tier::Avx512]
    } else {
        &[]
    };
    for missing in of_cpu {
        if !tiers.contains(missing) {
            lacking(&format!("the kernels of {missing}"));
        }
    }
    tiers
}

/// Prints what is not tested because this CPU lacks it. That is no failure even in CI, which cannot install a CPU:
/// it names what was left out when it ends.
#[allow(clippy::print_stderr, reason = "whoever runs the tests has to see it")]
pub(crate) fn lacking(what: &str) {
    eprintln!("skipped: {what}, which this CPU lacks");
}
