//! Where a blocked thread is: its stack pointer and program counter, its stack, and what its process has mapped.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::{Activity, Root, Unavailable, Wait};

/// Where a thread entered the kernel to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockedAt {
    /// Its stack pointer.
    pub stack: u64,
    /// Its program counter.
    pub instruction: u64,
    /// What it waits for.
    pub wait: Wait,
}

/// Memory that a process may execute: one line of `/proc/PID/maps`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedCode {
    /// Its first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// Where in the file it begins, in bytes.
    pub offset: u64,
    /// The file as Linux names it, with ` (deleted)` at the end if it has no name any more; `[vdso]` and the like for what
    /// is no file; empty for memory without one.
    pub path: String,
}

impl Root {
    /// Where a thread is blocked; `None` when it runs.
    ///
    /// Source: proc_pid_syscall(5).
    ///
    /// # Errors
    /// The reason when that is not available: the thread may be gone, or permissions hide it.
    pub fn try_blocked_at(&self, pid: i32, tid: i32) -> Result<Option<BlockedAt>, Unavailable> {
        let text = self.bytes(pid, &format!("task/{tid}/syscall"))?;
        Ok(blocked_at(&String::from_utf8_lossy(&text)))
    }

    /// Reads memory of a process, which needs the same permission as to trace it (ptrace(2)); nothing is stopped. Returns how
    /// many bytes there were before the end of what is mapped.
    ///
    /// # Errors
    /// The reason when none is available.
    pub fn try_memory(
        &self,
        pid: i32,
        address: u64,
        into: &mut [u8],
    ) -> Result<usize, Unavailable> {
        let path = self.file(pid, "mem");
        let read = File::open(&path).and_then(|file| file.read_at(into, address));
        read.map_err(|error| self.why_missing(pid, &path, &error))
    }

    pub(crate) fn read_memory(
        &self,
        pid: i32,
        address: u64,
        memory: &mut [u8],
    ) -> Result<(), Unavailable> {
        let path = self.file(pid, "mem");
        let read = File::open(&path).and_then(|file| file.read_exact_at(memory, address));
        read.map_err(|error| self.why_missing(pid, &path, &error))
    }

    /// What a process may execute, in the order of addresses.
    ///
    /// # Errors
    /// The reason when that is not available.
    pub fn try_mapped_code(&self, pid: i32) -> Result<Vec<MappedCode>, Unavailable> {
        let text = self.bytes(pid, "maps")?;
        Ok(String::from_utf8_lossy(&text).lines().filter_map(MappedCode::of_line).collect())
    }
}

impl MappedCode {
    /// `START-END PERMISSIONS OFFSET DEVICE INODE   PATH`, proc_pid_maps(5); `None` for what may not be executed.
    fn of_line(line: &str) -> Option<Self> {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let permissions = fields.next()?;
        let offset = hex(fields.next()?)?;
        let path = fields.nth(2).unwrap_or_default().trim_start().to_owned();
        let is_code = permissions.as_bytes().get(2) == Some(&b'x');
        let (start, end) = (hex(start)?, hex(end)?);
        is_code.then_some(Self { start, end, offset, path })
    }
}

/// The last two words of `/proc/PID/syscall`.
fn blocked_at(text: &str) -> Option<BlockedAt> {
    let Some(Activity::Blocked(wait)) = Activity::parse(text) else { return None };
    let mut words = text.split_ascii_whitespace().rev();
    let mut register = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (instruction, stack) = (register()?, register()?);
    Some(BlockedAt { stack, instruction, wait })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Machine;

    const MAPS: &str = "\
55d0c0000000-55d0c0002000 r--p 00000000 fe:00 123                        /usr/bin/cat
55d0c0002000-55d0c0007000 r-xp 00002000 fe:00 123                        /usr/bin/cat
7f0000000000-7f0000100000 r-xp 00000000 00:00 0 
7f0000200000-7f0000201000 r-xp 00001000 fe:00 9                          /tmp/a b (deleted)
7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0                          [stack]
";

    #[test]
    fn code_has_its_file_and_place() {
        let code: Vec<MappedCode> = MAPS.lines().filter_map(MappedCode::of_line).collect();
        let paths: Vec<&str> = code.iter().map(|code| code.path.as_str()).collect();
        assert_eq!(paths, ["/usr/bin/cat", "", "/tmp/a b (deleted)"]);
        let cat = &code[0];
        assert_eq!((cat.start, cat.end, cat.offset), (0x55d0_c000_2000, 0x55d0_c000_7000, 0x2000));
        assert!(
            ["nonsense", "", "1-2", "1-2 r-xp"]
                .into_iter()
                .all(|line| MappedCode::of_line(line).is_none())
        );
    }

    #[test]
    fn a_blocked_thread_has_a_stack_and_one_that_runs_has_none() {
        let text = "0 0x3 0x0 0x1 0x0 0xff 0x0 0x7ffc56a0ecb8 0x7f5b08e2c2ad\n";
        let at =
            |wait| Some(BlockedAt { stack: 0x7ffc_56a0_ecb8, instruction: 0x7f5b_08e2_c2ad, wait });
        if Machine::own() == Machine::X86_64 {
            assert_eq!(blocked_at(text), at(Wait::Read(3)));
        }
        assert_eq!(blocked_at("-1 0x7ffc56a0ecb8 0x7f5b08e2c2ad\n"), at(Wait::Other));
        assert_eq!(blocked_at("running\n"), None);
    }

    #[test]
    fn memory_of_this_process_can_be_read() {
        let own = std::process::id().cast_signed();
        let known = *b"what is here is known";
        let mut read = [0; 21];
        let address = known.as_ptr() as u64;
        assert_eq!(Root::system().try_memory(own, address, &mut read).unwrap(), 21);
        assert_eq!(read, known);
        assert!(Root::system().try_memory(own, 8, &mut read).is_err());
    }
}
