//! Names of code that a process made itself: `/tmp/perf-PID.map`, as many runtimes write it (V8, the JVM with an agent,
//! Python with `-X perf`).
//!
//! Source: tools/perf/Documentation/jit-interface.txt of Linux: lines `START SIZE NAME`, both numbers in hexadecimal.

/// The file of a process.
#[derive(Debug, Default)]
pub(crate) struct PerfMap(Vec<(u64, u64, String)>);

impl PerfMap {
    pub(crate) fn of(pid: i32) -> Self {
        let bytes = std::fs::read(format!("/tmp/perf-{pid}.map")).unwrap_or_default();
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    fn parse(text: &str) -> Self {
        let line = |line: &str| {
            let (start, rest) = line.split_once(' ')?;
            let (size, name) = rest.split_once(' ')?;
            let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
            Some((hex(start)?, hex(size)?, name.trim().to_owned()))
        };
        let mut all: Vec<(u64, u64, String)> = text.lines().filter_map(line).collect();
        // A place may be used again; the later line is the newer code.
        all.sort_by_key(|(start, ..)| *start);
        Self(all)
    }

    pub(crate) fn find(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|(start, ..)| *start <= address);
        let holds = |(start, size, _): &&(u64, u64, String)| address - start < *size;
        self.0[..after].iter().rev().take(64).find(holds).map(|(.., name)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_code_at_an_address_has_its_name() {
        let map = PerfMap::parse("1000 10 py::f:/a b.py\n0x2000 20 old\nnonsense\n2000 20 new\n");
        assert_eq!(map.find(0x100f), Some("py::f:/a b.py"));
        assert_eq!([map.find(0x1010), map.find(0xfff)], [None, None]);
        assert_eq!(map.find(0x2001), Some("new"));
    }
}
