//! Encoding with AVX2: the portable kernel, compiled for this tier.
#![allow(unsafe_code)]

use super::OnError;
use super::encode_portable::run;
use super::written::Progress;

/// The kernel, for a CPU that has been found to have the tier.
pub(super) fn kernel() -> fn(&[u8], &mut [u8], &mut bool, OnError) -> Progress {
    |input, output, is_gap_owed, on_error| {
        // SAFETY: only `Encoder::new` takes this function, for `Tier::Avx2`, which `Tier` gives only to CPUs that have it.
        unsafe { encode(input, output, is_gap_owed, on_error) }
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn encode(input: &[u8], output: &mut [u8], is_gap_owed: &mut bool, on_error: OnError) -> Progress {
    run(input, output, is_gap_owed, on_error)
}
