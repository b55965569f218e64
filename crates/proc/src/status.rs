//! Reads `/proc/PID/status`: memory, owner, signals.

/// The lines of `/proc/PID/status` that fullbore uses.
///
/// Source: proc_pid_status(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Largest resident memory so far; `None` for a process without memory (a zombie).
    pub peak_memory_bytes: Option<u64>,
    /// Number of its process; that of a thread differs from the thread's own.
    pub process: Option<i32>,
    /// Effective user id.
    pub effective_uid: Option<u32>,
    /// Ignored signals: bit n − 1 for signal n.
    pub ignored_signals: u64,
    /// Signals that have a handler: bit n − 1 for signal n.
    pub caught_signals: u64,
    /// Signals pending for the process or its first thread: bit n − 1 for signal n.
    pub pending_signals: u64,
    /// How often the first thread gave up its CPU to wait for something, each time to be woken later; `None` on a Linux that
    /// does not count it.
    pub voluntary_switches: Option<u64>,
    /// How often it lost its CPU to another thread.
    pub involuntary_switches: Option<u64>,
    /// Capabilities in effect: bit n for capability n of capabilities(7).
    pub capabilities: u64,
}

impl Status {
    /// Parses the file's text.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut status = Self::default();
        // Use whole lines only: a cut one may end within a number.
        for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let mut words = value.split_ascii_whitespace();
            match name {
                "VmHWM" => {
                    let kib: Option<u64> = words.next().and_then(|word| word.parse().ok());
                    status.peak_memory_bytes = kib.and_then(|kib| kib.checked_mul(1024));
                }
                "Tgid" => status.process = words.next().and_then(|word| word.parse().ok()),
                "Uid" => status.effective_uid = words.nth(1).and_then(|word| word.parse().ok()),
                "SigIgn" => status.ignored_signals = mask(words.next()),
                "SigCgt" => status.caught_signals = mask(words.next()),
                "voluntary_ctxt_switches" => status.voluntary_switches = number(words.next()),
                "nonvoluntary_ctxt_switches" => status.involuntary_switches = number(words.next()),
                "CapEff" => status.capabilities = mask(words.next()),
                "SigPnd" | "ShdPnd" => status.pending_signals |= mask(words.next()),
                _ => {}
            }
        }
        status
    }

    /// Tells whether the process ignores signal `number`.
    #[must_use]
    pub fn ignores(&self, number: i32) -> bool {
        is_in(self.ignored_signals, number)
    }

    /// Tells whether a handler catches signal `number`.
    #[must_use]
    pub fn catches(&self, number: i32) -> bool {
        is_in(self.caught_signals, number)
    }

    /// Tells whether signal `number` is pending.
    #[must_use]
    pub fn has_pending(&self, number: i32) -> bool {
        is_in(self.pending_signals, number)
    }
}

fn number(word: Option<&str>) -> Option<u64> {
    word?.parse().ok()
}

fn mask(word: Option<&str>) -> u64 {
    word.and_then(|word| u64::from_str_radix(word, 16).ok()).unwrap_or(0)
}

fn is_in(mask: u64, number: i32) -> bool {
    (1..=64).contains(&number) && mask >> (number - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_owner_and_ignored_signals_are_read() {
        let text = "Name:\tcat\nTgid:\t42\nUid:\t1000\t0\t1000\t1000\nVmHWM:\t    1596 kB\nCapEff:\t0000000000080001\nSigIgn:\t0000000000001001\n";
        let status = Status::parse(text);
        assert_eq!(status.peak_memory_bytes, Some(1596 * 1024));
        assert_eq!(status.process, Some(42));
        assert_eq!((status.effective_uid, status.capabilities), (Some(0), 0x80001));
        assert!(
            status.ignores(1) && status.ignores(13) && !status.ignores(2) && !status.ignores(0)
        );
    }

    #[test]
    fn switches_are_counted_apart_by_whether_the_thread_wanted_them() {
        let text = "voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t54\n";
        let status = Status::parse(text);
        assert_eq!((status.voluntary_switches, status.involuntary_switches), (Some(150), Some(54)));
        let cut = Status::parse(&text[..text.len() - 2]);
        assert_eq!((cut.voluntary_switches, cut.involuntary_switches), (Some(150), None));
    }
}
