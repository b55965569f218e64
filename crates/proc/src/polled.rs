//! Finds the descriptors that a thread polls in poll, select or epoll, from its memory and from `/proc/PID/fdinfo`.

use crate::{Root, Unavailable, Wait};

/// One descriptor that a thread polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollEntry {
    /// The descriptor.
    pub fd: i32,
    /// Whether the thread waits until it can read.
    pub reads: bool,
    /// Whether the thread waits until it can write.
    pub writes: bool,
}

/// Most entries read from one poll set; of a larger set, only the first ones count.
const POLL_ENTRIES_MAX: u64 = 256;
const POLLIN: u16 = 0x001 | 0x040; // POLLIN | POLLRDNORM, poll(2)
const POLLOUT: u16 = 0x004 | 0x100; // POLLOUT | POLLWRNORM

impl Root {
    /// Returns the descriptors a thread waits on in poll, select or epoll; empty for any other wait, and when its
    /// memory is not readable.
    #[must_use]
    pub fn polled(&self, pid: i32, wait: Wait) -> Vec<PollEntry> {
        self.try_polled(pid, wait).unwrap_or_default()
    }

    /// Returns the descriptors a thread waits on in poll, select or epoll; empty when it waits on none, or in another
    /// way.
    ///
    /// # Errors
    ///
    /// The reason when they are not available: the thread may be gone, or permissions hide its memory.
    pub fn try_polled(&self, pid: i32, wait: Wait) -> Result<Vec<PollEntry>, Unavailable> {
        match wait {
            Wait::Poll { address, count } => self.poll_entries(pid, address, count),
            Wait::Select { count, reads, writes } => self.select_entries(pid, count, reads, writes),
            Wait::Epoll(fd) => self.epoll_entries(pid, fd),
            _ => Ok(Vec::new()),
        }
    }

    fn poll_entries(
        &self,
        pid: i32,
        address: u64,
        count: u64,
    ) -> Result<Vec<PollEntry>, Unavailable> {
        let entries = usize::try_from(count.min(POLL_ENTRIES_MAX)).unwrap_or(0);
        let mut memory = vec![0; entries * 8];
        self.read_memory(pid, address, &mut memory)?;
        let (entries, _) = memory.as_chunks::<8>();
        Ok(entries.iter().map(poll_entry).filter(|entry| entry.fd >= 0).collect())
    }

    fn select_entries(
        &self,
        pid: i32,
        count: u64,
        reads: u64,
        writes: u64,
    ) -> Result<Vec<PollEntry>, Unavailable> {
        let count = usize::try_from(count.min(1024)).unwrap_or(0);
        // Words of 64 bits; the order of bytes in those of a 32-bit program is the same where it runs at all (x86, ARM).
        let set = |address: u64| {
            let mut memory = vec![0_u8; count.div_ceil(64) * 8];
            if address != 0 {
                self.read_memory(pid, address, &mut memory)?;
            }
            let (words, _) = memory.as_chunks::<8>();
            Ok(words.iter().copied().map(u64::from_ne_bytes).collect::<Vec<_>>())
        };
        let (reading, writing) = (set(reads)?, set(writes)?);
        let has = |set: &[u64], fd: usize| set[fd / 64] >> (fd % 64) & 1 == 1;
        let entry = |fd| {
            let (reads, writes) = (has(&reading, fd), has(&writing, fd));
            let fd = i32::try_from(fd).ok()?;
            (reads || writes).then_some(PollEntry { fd, reads, writes })
        };
        Ok((0..count).filter_map(entry).collect())
    }

    fn epoll_entries(&self, pid: i32, epoll: i32) -> Result<Vec<PollEntry>, Unavailable> {
        let bytes = self.bytes(pid, &format!("fdinfo/{epoll}"))?;
        Ok(String::from_utf8_lossy(&bytes).lines().filter_map(epoll_entry).collect())
    }
}

/// Parses a `struct pollfd`: a descriptor, the events asked for, the events seen.
fn poll_entry(bytes: &[u8; 8]) -> PollEntry {
    let [a, b, c, d, low, high, _, _] = *bytes;
    let events = u16::from_ne_bytes([low, high]);
    PollEntry {
        fd: i32::from_ne_bytes([a, b, c, d]),
        reads: events & POLLIN != 0,
        writes: events & POLLOUT != 0,
    }
}

/// Parses a line of an epoll descriptor's fdinfo: `tfd:        5 events:       19 data: …`.
fn epoll_entry(line: &str) -> Option<PollEntry> {
    let mut words = line.strip_prefix("tfd:")?.split_ascii_whitespace();
    let fd = words.next()?.parse().ok()?;
    let events =
        u32::from_str_radix(words.skip_while(|word| *word != "events:").nth(1)?, 16).ok()?;
    let has = |mask: u16| events & u32::from(mask) != 0;
    Some(PollEntry { fd, reads: has(POLLIN), writes: has(POLLOUT) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Activity;

    #[test]
    fn an_epoll_line_names_descriptor_and_direction() {
        let line = "tfd:        5 events:       19 data:                5  pos:0 ino:6b sdev:e";
        assert_eq!(epoll_entry(line), Some(PollEntry { fd: 5, reads: true, writes: false }));
        assert_eq!(epoll_entry("pos:\t0"), None);
    }

    #[test]
    fn poll_entries_are_read_from_memory() {
        let entries: Vec<u8> = [(7_i32, 0x004_u16), (-1, 0x001)]
            .iter()
            .flat_map(|(fd, events)| {
                [&fd.to_ne_bytes()[..], &events.to_ne_bytes(), &[0, 0]].concat()
            })
            .collect();
        let wait = Wait::Poll { address: entries.as_ptr().addr() as u64, count: 2 };
        let found = Root::system().polled(std::process::id().cast_signed(), wait);
        assert_eq!(found, [PollEntry { fd: 7, reads: false, writes: true }]);
    }

    #[test]
    fn a_thread_that_reads_an_empty_pipe_is_seen_to_wait_on_it() {
        use std::io::Write;
        let (reader, mut writer) = std::io::pipe().unwrap();
        let mut child = std::process::Command::new("cat")
            .stdin(reader)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let pid = child.id().cast_signed();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
        while Root::system().activity(pid, pid) != Some(Activity::Blocked(Wait::Read(0))) {
            assert!(std::time::Instant::now() < deadline, "cat was never seen to wait");
            std::thread::yield_now();
        }
        writer.write_all(b"end").unwrap();
        drop(writer);
        child.wait().unwrap();
        assert_eq!(Root::system().activity(pid, pid), None);
    }
}
