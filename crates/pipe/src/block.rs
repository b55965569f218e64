//! Working memory beside a [`PipeWriter`](crate::PipeWriter).

use std::io;

use crate::pages::{HUGE_BYTES, Pages};

/// A block of memory, on huge pages where Linux has them, that the children of a ring do not get.
///
/// Ordinary memory becomes copy-on-write with each round of the ring: a page fault for each 4 KiB, in which the ring
/// sees pages that someone holds. Measured with two workers of 1 MiB each: 6 % of their time.
#[derive(Debug)]
pub struct Block(Memory);

#[derive(Debug)]
enum Memory {
    Huge(Pages, usize),
    /// Where there is no room for a mapping of whole huge pages.
    Small(Vec<u8>),
}

impl Block {
    /// A block of `len` bytes, zero.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let mapped = |len: usize| -> io::Result<Pages> {
            let pages = Pages::map(len.next_multiple_of(HUGE_BYTES).max(HUGE_BYTES))?;
            pages.keep_from_children()?;
            Ok(pages)
        };
        Self(match mapped(len) {
            Ok(pages) => Memory::Huge(pages, len),
            Err(_) => Memory::Small(vec![0; len]),
        })
    }

    /// Its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Memory::Huge(pages, len) => pages.bytes(0..*len),
            Memory::Small(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_its_bytes_and_no_child_gets_it() {
        let mut block = Block::new((1 << 20) + 16);
        let bytes = block.bytes();
        assert_eq!(bytes.len(), (1 << 20) + 16);
        assert!(bytes.iter().all(|byte| *byte == 0));
        let start = format!("{:x}-", bytes.as_ptr().addr());
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        let map = maps.split_once(&start).expect("a mapping of its own").1;
        let flags = map.lines().find(|line| line.starts_with("VmFlags:")).unwrap();
        // proc_pid_smaps(5): dc, do not copy on fork.
        assert!(flags.split(' ').any(|flag| flag == "dc"), "{flags}");
    }
}
