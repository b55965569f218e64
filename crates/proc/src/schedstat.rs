//! `/proc/PID/task/TID/schedstat`: exact times of the scheduler.

/// How long a thread was on a CPU and how long it waited for one.
///
/// Source: Documentation/scheduler/sched-stats.rst, "/proc/PID/schedstat".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Nanoseconds on a CPU.
    pub running_ns: u64,
    /// Nanoseconds ready to run, but waiting for a CPU.
    pub waiting_ns: u64,
}

impl SchedStat {
    /// Reads the text of the file; `None` when it is not of that form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_ascii_whitespace().map(str::parse);
        Some(Self { running_ns: numbers.next()?.ok()?, waiting_ns: numbers.next()?.ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_two_numbers_count() {
        let parsed = SchedStat::parse("940316 43259 2\n");
        assert_eq!(parsed, Some(SchedStat { running_ns: 940_316, waiting_ns: 43_259 }));
        assert_eq!(SchedStat::parse(""), None);
        assert_eq!(SchedStat::parse("12"), None);
    }
}
