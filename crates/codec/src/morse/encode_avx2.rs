//! Encodes with AVX2: the portable kernel, compiled for this tier.
#![allow(unsafe_code)]

use super::encode_portable::run;
use super::pages::Rules;
use super::written::Progress;
use crate::tier::Avx2;

/// Encodes like `encode_portable`.
pub(super) fn encode(
    _: Avx2,
    rules: Rules,
    input: &[u8],
    output: &mut [u8],
    is_gap_owed: &mut bool,
) -> Progress {
    // SAFETY: the first argument exists only where the CPU has the tier.
    unsafe { kernel(rules, input, output, is_gap_owed) }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn kernel(rules: Rules, input: &[u8], output: &mut [u8], is_gap_owed: &mut bool) -> Progress {
    run(rules, input, output, is_gap_owed)
}
