//! Stands for `counters` on CPUs for which nobody has described perf events to Rust: every counter has a reason, and none a count.

use std::collections::BTreeMap;

/// Every counter by its name, or why there is none.
pub(super) type Counted = BTreeMap<String, Result<u64, String>>;

/// Names of counters that cannot be had.
#[derive(Debug, Default)]
pub(super) struct Counters(&'static [&'static str]);

impl Counters {
    /// No counters at all.
    pub(super) fn none() -> Self {
        Self::default()
    }

    /// The names of all of them.
    pub(super) fn open() -> Self {
        Self(&[
            "dtlb_load_misses",
            "dtlb_store_misses",
            "cache_misses",
            "instructions",
            "cycles",
            "migrations",
        ])
    }

    /// Does nothing.
    pub(super) fn start(&mut self) {}

    /// Says of each why there is none.
    pub(super) fn stop(self) -> Counted {
        let why = || Err("fullbore cannot read the counters of this CPU".to_owned());
        self.0.iter().map(|name| ((*name).to_owned(), why())).collect()
    }
}
