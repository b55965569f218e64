//! `/proc/PID/task/TID/syscall`: whether a thread waits, and in which call on which descriptor.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::Root;
use crate::syscall_numbers::{Shape, shape};

/// What a thread does at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It is on a CPU or waiting for one.
    Running,
    /// It waits.
    Blocked(Wait),
}

/// What a blocked thread waits for. Descriptors are those of its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Reading from a descriptor.
    Read(i32),
    /// Writing to a descriptor.
    Write(i32),
    /// Moving data from one descriptor to another (splice, tee, sendfile).
    Move {
        /// Read from.
        from: i32,
        /// Written to.
        to: i32,
    },
    /// poll(2): `count` entries at `address` of its memory.
    Poll {
        /// Address of the first `struct pollfd`.
        address: u64,
        /// Number of entries.
        count: u64,
    },
    /// select(2) on descriptors below `count`.
    Select {
        /// One more than the highest descriptor.
        count: u64,
        /// Address of the set to read from, or 0.
        reads: u64,
        /// Address of the set to write to, or 0.
        writes: u64,
    },
    /// epoll_wait(2) on an epoll descriptor.
    Epoll(i32),
    /// A call on a socket.
    Socket(i32),
    /// It asked to sleep.
    Sleep,
    /// A lock, or another thread.
    Lock,
    /// The end of a child.
    Child,
    /// Opening a file; on a FIFO, for the other side to open it.
    Open,
    /// Data to reach the disk.
    Sync,
    /// A call fullbore has no name for, or no call at all (a page fault, a stop).
    Other,
}

/// One descriptor that a thread polls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollEntry {
    /// The descriptor.
    pub fd: i32,
    /// It waits until it can read.
    pub reads: bool,
    /// It waits until it can write.
    pub writes: bool,
}

/// Entries looked at in one poll set; a program with more is served by the first ones.
const POLL_ENTRIES_MAX: u64 = 256;
const POLLIN: u16 = 0x001 | 0x040; // POLLIN | POLLRDNORM, poll(2)
const POLLOUT: u16 = 0x004 | 0x100; // POLLOUT | POLLWRNORM

impl Activity {
    /// Reads the text of the file; `None` when it is not of that form.
    ///
    /// Source: proc_pid_syscall(5).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_ascii_whitespace();
        let first = words.next()?;
        if first == "running" {
            return Some(Self::Running);
        }
        let number: i64 = first.parse().ok()?;
        if number < 0 {
            return Some(Self::Blocked(Wait::Other));
        }
        let mut arguments = [0_u64; 6];
        for argument in &mut arguments {
            *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
        }
        Some(Self::Blocked(Wait::in_call(number, &arguments)))
    }
}

impl Wait {
    fn in_call(number: i64, arguments: &[u64; 6]) -> Self {
        let Some(shape) = shape(number) else {
            return Self::Other;
        };
        let fd = |argument: usize| descriptor(arguments[argument]);
        match shape {
            Shape::Read => Self::Read(fd(0)),
            Shape::Write => Self::Write(fd(0)),
            Shape::Tee => Self::Move { from: fd(0), to: fd(1) },
            Shape::Splice => Self::Move { from: fd(0), to: fd(2) },
            Shape::Sendfile => Self::Move { from: fd(1), to: fd(0) },
            Shape::Poll => Self::Poll { address: arguments[0], count: arguments[1] },
            Shape::Select => {
                Self::Select { count: arguments[0], reads: arguments[1], writes: arguments[2] }
            }
            Shape::Epoll => Self::Epoll(fd(0)),
            Shape::Socket => Self::Socket(fd(0)),
            Shape::Sleep => Self::Sleep,
            Shape::Lock => Self::Lock,
            Shape::Child => Self::Child,
            Shape::Open => Self::Open,
            Shape::Sync => Self::Sync,
        }
    }
}

/// A descriptor as the low 32 bits of a register: Linux ignores the others.
#[expect(clippy::cast_possible_truncation, reason = "the kernel takes the low 32 bits, too")]
fn descriptor(register: u64) -> i32 {
    (register as u32).cast_signed()
}

impl Root {
    /// The descriptors a thread waits on in poll, select or epoll; empty for any other wait and when
    /// its memory may not be read.
    #[must_use]
    pub fn polled(&self, pid: i32, wait: Wait) -> Vec<PollEntry> {
        match wait {
            Wait::Poll { address, count } => {
                self.poll_entries(pid, address, count).unwrap_or_default()
            }
            Wait::Select { count, reads, writes } => self.select_entries(pid, count, reads, writes),
            Wait::Epoll(fd) => self.epoll_entries(pid, fd).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn poll_entries(&self, pid: i32, address: u64, count: u64) -> Option<Vec<PollEntry>> {
        let entries = usize::try_from(count.min(POLL_ENTRIES_MAX)).ok()?;
        let mut memory = vec![0; entries * 8];
        self.read_memory(pid, address, &mut memory)?;
        let (entries, _) = memory.as_chunks::<8>();
        Some(entries.iter().map(poll_entry).filter(|entry| entry.fd >= 0).collect())
    }

    fn select_entries(&self, pid: i32, count: u64, reads: u64, writes: u64) -> Vec<PollEntry> {
        let Ok(count) = usize::try_from(count.min(1024)) else {
            return Vec::new();
        };
        let set = |address: u64| {
            let mut memory = vec![0_u8; count.div_ceil(64) * 8];
            if address != 0 {
                self.read_memory(pid, address, &mut memory);
            }
            memory
        };
        let (reading, writing) = (set(reads), set(writes));
        let has = |set: &[u8], fd: usize| set[fd / 8] >> (fd % 8) & 1 == 1;
        (0..count)
            .filter_map(|fd| {
                let (reads, writes) = (has(&reading, fd), has(&writing, fd));
                let fd = i32::try_from(fd).ok()?;
                (reads || writes).then_some(PollEntry { fd, reads, writes })
            })
            .collect()
    }

    fn epoll_entries(&self, pid: i32, epoll: i32) -> Option<Vec<PollEntry>> {
        let bytes = self.bytes(pid, &format!("fdinfo/{epoll}"))?;
        Some(String::from_utf8_lossy(&bytes).lines().filter_map(epoll_entry).collect())
    }

    fn read_memory(&self, pid: i32, address: u64, memory: &mut [u8]) -> Option<()> {
        let file = File::open(self.file(pid, "mem")).ok()?;
        file.read_exact_at(memory, address).ok()
    }
}

/// `struct pollfd`: a descriptor, the events asked for, the events seen.
fn poll_entry(bytes: &[u8; 8]) -> PollEntry {
    let [a, b, c, d, low, high, _, _] = *bytes;
    let events = u16::from_ne_bytes([low, high]);
    PollEntry {
        fd: i32::from_ne_bytes([a, b, c, d]),
        reads: events & POLLIN != 0,
        writes: events & POLLOUT != 0,
    }
}

/// A line of an epoll descriptor's fdinfo: `tfd:        5 events:       19 data: …`.
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

    #[test]
    fn running_and_waiting_are_told_apart() {
        assert_eq!(Activity::parse("running\n"), Some(Activity::Running));
        assert_eq!(Activity::parse("-1 0x7ffe 0x7f5b\n"), Some(Activity::Blocked(Wait::Other)));
        assert_eq!(Activity::parse(""), None);
        assert_eq!(Activity::parse("0 0x1"), None);
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_call_and_its_descriptors_are_named() {
        let read = "0 0x3 0x7f5b08f12000 0x20000 0x0 0xffffffff 0x0 0x7ffc 0x7f5b\n";
        assert_eq!(Activity::parse(read), Some(Activity::Blocked(Wait::Read(3))));
        let splice = "275 0x0 0x0 0x1 0x0 0x100000 0x0 0x7ffc 0x7f5b";
        assert_eq!(Activity::parse(splice), Some(Activity::Blocked(Wait::Move { from: 0, to: 1 })));
        let sendfile = "40 0x1 0x5 0x0 0x100000 0x0 0x0 0x7ffc 0x7f5b";
        assert_eq!(
            Activity::parse(sendfile),
            Some(Activity::Blocked(Wait::Move { from: 5, to: 1 }))
        );
        let unknown = "999 0x1 0x5 0x0 0x100000 0x0 0x0 0x7ffc 0x7f5b";
        assert_eq!(Activity::parse(unknown), Some(Activity::Blocked(Wait::Other)));
    }

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
