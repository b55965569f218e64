//! Reads `/proc/stat`: what the CPUs of the machine have done since it started.

/// Times of all CPUs together, in clock ticks.
///
/// Source: proc_stat(5), the line "cpu".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// All time, idle or not.
    pub total_ticks: u64,
    /// Time in which this virtual machine had work to do and its host ran something else ("steal").
    pub stolen_ticks: u64,
    /// Time in which a CPU had nothing to do, or waited for a disk.
    pub idle_ticks: u64,
}

impl CpuTimes {
    /// Parses the file's text; returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (line, _) = text.split_once('\n')?;
        let times = line.strip_prefix("cpu ")?.split_ascii_whitespace();
        let times: Vec<u64> = times.map(str::parse).collect::<Result<_, _>>().ok()?;
        // user, nice, system, idle, iowait, irq, softirq, steal; time of guests is in user and nice already.
        let times: &[u64; 8] = times.first_chunk()?;
        Some(Self {
            total_ticks: times.iter().sum(),
            stolen_ticks: times[7],
            idle_ticks: times[3] + times[4],
        })
    }

    /// The share of the time since `earlier` that was stolen, in percent; `None` when no time has passed.
    #[must_use]
    pub fn stolen_percent_since(self, earlier: Self) -> Option<f64> {
        let total = self.total_ticks.checked_sub(earlier.total_ticks).filter(|ticks| *ticks > 0)?;
        let stolen = self.stolen_ticks.saturating_sub(earlier.stolen_ticks);
        Some(stolen as f64 / total as f64 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "cpu  100 1 20 700 5 0 4 70 9 0\ncpu0 50 0 10 350 2 0 2 35 4 0\nintr 7\n";

    #[test]
    fn the_first_line_sums_up_all_cpus() {
        let times = CpuTimes { total_ticks: 900, stolen_ticks: 70, idle_ticks: 705 };
        assert_eq!(CpuTimes::parse(TEXT), Some(times));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "cpu", "cpu 1 2 3 4 5 6 7\n", "cpu 1 2 3 4 5 6 7 x\n", "intr 7\n"] {
            assert_eq!(CpuTimes::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_share_needs_time_to_pass() {
        let begin = CpuTimes { total_ticks: 900, stolen_ticks: 70, idle_ticks: 0 };
        let end = CpuTimes { total_ticks: 1100, stolen_ticks: 90, idle_ticks: 0 };
        assert_eq!(end.stolen_percent_since(begin), Some(10.0));
        assert_eq!(begin.stolen_percent_since(begin), None);
        assert_eq!(begin.stolen_percent_since(end), None);
    }
}
