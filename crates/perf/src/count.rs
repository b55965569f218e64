//! What can be counted, and a count.

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Counter {
    /// Cycles of the CPU's core.
    Cycles,
    /// Instructions that were completed.
    Instructions,
    /// Cycles of a clock that always has the same frequency.
    ReferenceCycles,
    /// Accesses to the last cache.
    CacheReferences,
    /// … that did not find their data there.
    CacheMisses,
    /// Branches that went another way than predicted.
    BranchMisses,
    /// Loads whose address was not in the data TLB.
    DtlbMisses,
    /// Time on a CPU, in nanoseconds.
    TaskClock,
    /// Pages that were not mapped when they were used.
    PageFaults,
    /// … and had to come from a disk.
    MajorFaults,
    /// Times a thread left its CPU.
    ContextSwitches,
    /// Times a thread went to another CPU.
    Migrations,
}

impl Counter {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Cycles,
        Self::Instructions,
        Self::ReferenceCycles,
        Self::CacheReferences,
        Self::CacheMisses,
        Self::BranchMisses,
        Self::DtlbMisses,
        Self::TaskClock,
        Self::PageFaults,
        Self::MajorFaults,
        Self::ContextSwitches,
        Self::Migrations,
    ];

    /// Whether the CPU counts it, and not Linux.
    #[must_use]
    pub fn is_hardware(self) -> bool {
        self < Self::TaskClock
    }

    /// Whether it only happens in the kernel, so that who may not look there cannot count it.
    #[must_use]
    pub fn is_in_kernel(self) -> bool {
        matches!(self, Self::ContextSwitches | Self::Migrations)
    }
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The number.
    pub value: u64,
    /// How long it was to be counted, in nanoseconds.
    pub enabled_ns: u64,
    /// How long it was: where there are more counters than the CPU has places, they take turns.
    pub running_ns: u64,
}

impl Count {
    /// What would have been counted without taking turns; `None` if it never was counted.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
    pub fn scaled(self) -> Option<u64> {
        match self.running_ns {
            0 if self.enabled_ns > 0 => None,
            running_ns if running_ns >= self.enabled_ns => Some(self.value),
            running_ns => {
                Some((self.value as f64 * self.enabled_ns as f64 / running_ns as f64) as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_turns_is_scaled_and_what_never_ran_is_unknown() {
        let count = |enabled_ns, running_ns| Count { value: 100, enabled_ns, running_ns };
        assert_eq!(count(1000, 1000).scaled(), Some(100));
        assert_eq!(count(1000, 250).scaled(), Some(400));
        assert_eq!(count(1000, 0).scaled(), None);
        assert_eq!(Count::default().scaled(), Some(0));
    }
}
