//! Reads `/proc/PID/task/TID/schedstat`: the scheduler's exact times.

/// How long a thread was on a CPU and how long it waited for one.
///
/// Source: Documentation/scheduler/sched-stats.rst, "/proc/PID/schedstat".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedStat {
    /// Nanoseconds on a CPU.
    pub running_ns: u64,
    /// Nanoseconds spent runnable, waiting for a CPU.
    pub waiting_ns: u64,
    /// How many times it got a CPU. A thread that waits for something, and for which this does not grow, has waited for
    /// the same thing ever since.
    pub timeslices: u64,
}

impl SchedStat {
    /// Parses the file's text; returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // The line ends with a newline; a cut one may end within a number.
        let mut numbers = text.strip_suffix('\n')?.split_ascii_whitespace().map(str::parse);
        let mut number = || numbers.next()?.ok();
        Some(Self { running_ns: number()?, waiting_ns: number()?, timeslices: number()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_three_numbers() {
        let times = SchedStat { running_ns: 940_316, waiting_ns: 43_259, timeslices: 2 };
        assert_eq!(SchedStat::parse("940316 43259 2\n"), Some(times));
    }

    #[test]
    fn a_truncated_line_is_refused() {
        let line = "940316 43259 2\n";
        for end in 0..line.len() {
            assert_eq!(SchedStat::parse(&line[..end]), None, "{}", &line[..end]);
        }
        assert_eq!(SchedStat::parse("-1 2 3\n"), None);
    }
}
