//! Sizes outside their range are clamped: a writer with any options delivers every byte.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod any_options;

use any_options::{every_byte_arrives, options, steps};
use fullbore_measure::Bytes;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn with_any_options_every_byte_arrives_whatever_is_written(options in options(), steps in steps()) {
        for capacity in [4096, 1 << 16] {
            every_byte_arrives(options, Bytes(capacity), &steps);
        }
    }
}
