//! `/proc/PID/io`: bytes and calls.

/// What a process read and wrote, ended threads and waited-for children included.
///
/// splice(2), vmsplice(2) and tee(2) are not counted by Linux: a process that uses them shows less
/// than it moves.
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
    /// Reads the text of the file; `None` when it is not of that form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut values = [None; 4];
        for line in text.lines() {
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
    }
}
