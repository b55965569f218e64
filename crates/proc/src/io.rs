//! Reads `/proc/PID/io`: bytes and calls.

/// What a process has read and written, including ended threads and children it waited for.
///
/// Linux does not count splice(2), vmsplice(2) and tee(2), so a process that uses them shows less than it moves.
///
/// Source: proc_pid_io(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Io {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// System calls that read.
    pub read_calls: u64,
    /// System calls that wrote.
    pub write_calls: u64,
}

impl Io {
    /// Parses the file's text; returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut values = [None; 4];
        // Use whole lines only: a cut one may end within a number.
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let Some((name, value)) = line.split_once(": ") else {
                continue;
            };
            let place = match name {
                "rchar" => 0,
                "wchar" => 1,
                "syscr" => 2,
                "syscw" => 3,
                _ => continue,
            };
            values[place] = value.trim().parse().ok();
        }
        let [read_bytes, written_bytes, read_calls, write_calls] = values;
        Some(Self {
            read_bytes: read_bytes?,
            written_bytes: written_bytes?,
            read_calls: read_calls?,
            write_calls: write_calls?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_of_the_lines_count() {
        let text = "rchar: 6976\nwchar: 12\nsyscr: 10\nsyscw: 3\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n";
        let io = Io { read_bytes: 6976, written_bytes: 12, read_calls: 10, write_calls: 3 };
        assert_eq!(Io::parse(text), Some(io));
        assert_eq!(Io::parse("rchar: 1\n"), None);
        assert_eq!(Io::parse(&text[..text.find("\nread_bytes").unwrap()]), None);
    }
}
