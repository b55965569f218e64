//! Lends blocks that the caller filled, and hands them out again when writing to them is safe.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use super::options::Strategy;
use super::ring::Held;
use crate::pages::{Faults, HUGE_BYTES, PAGE_BYTES, Pages};
use crate::scratch::zeros;

/// Memory that any thread may fill and hand to [`PipeWriter::exchange`](super::PipeWriter::exchange). It lies on huge
/// pages where Linux has them.
#[derive(Debug)]
pub struct Block {
    memory: Memory,
    /// Everything before this offset has been lent.
    start: usize,
    len: usize,
    /// Most bytes ever lent from it, in whole huge pages; this is how much memory it takes.
    touched: usize,
}

#[derive(Debug)]
pub(super) enum Memory {
    Huge(Pages),
    /// Used where a mapping of whole huge pages does not fit. It is never lent.
    Small(Vec<u8>),
}

impl Block {
    /// Makes a block of `len` bytes, all zero. It takes memory as it is touched, in pages of 2 MiB where Linux has
    /// them. Blocks of up to 2 MiB have room for more than one exchange, so that no huge page stays half used.
    ///
    /// # Errors
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory).
    pub fn new(len: usize) -> io::Result<Self> {
        let memory = match Self::memory_bytes(len).map(Pages::map) {
            Some(Ok(pages)) => Memory::Huge(pages),
            _ => Memory::Small(zeros(len)?),
        };
        Ok(Self { memory, start: 0, len, touched: 0 }.set_apart())
    }

    /// Returns how much memory a block of `len` bytes takes once all of it was touched; `None` when the size overflows.
    #[must_use]
    pub fn memory_bytes(len: usize) -> Option<usize> {
        let room = if len > HUGE_BYTES { len } else { 2 * len.max(1) };
        room.checked_next_multiple_of(HUGE_BYTES)
    }

    /// Excludes the block from sharing, so that rounds that end while it is being filled cost it nothing.
    fn set_apart(mut self) -> Self {
        if let Some(pages) = self.pages() {
            // If Linux refuses, the block still fills, with more faults.
            let _ = pages.set_shared(false);
        }
        self
    }

    /// Returns the block's bytes. After an exchange they contain bytes of earlier output.
    pub fn bytes(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Huge(pages) => pages.bytes(self.start..self.start + self.len),
            Memory::Small(bytes) => bytes,
        }
    }

    /// Returns where the first `count` bytes lie in its pages.
    pub(super) fn front(&self, count: usize) -> Range<usize> {
        self.start..self.start + count
    }

    /// Moves past the first `count` bytes, which were lent, and tells whether as much room as before is left.
    fn move_on(&mut self, count: usize) -> bool {
        self.start = (self.start + count).next_multiple_of(PAGE_BYTES);
        let mapped = self.pages().map_or(0, |pages| pages.len());
        self.start + self.len <= mapped
    }

    /// Returns the block's pages if it can be lent.
    pub(super) fn pages(&mut self) -> Option<&mut Pages> {
        match &mut self.memory {
            Memory::Huge(pages) => Some(pages),
            Memory::Small(_) => None,
        }
    }
}

/// Holds the blocks that were lent, the oldest first.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Each block with the round in which it was lent. The end of each round makes all memory copy-on-write, so a block
    /// of an earlier round may be filled again: Linux copies what someone holds.
    lent: VecDeque<(Block, u64)>,
    round: u64,
    held: Held,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { lent: VecDeque::new(), round: 0, held: Held::new(Faults::OfProcess) }
    }

    /// Returns a block to fill in exchange for one whose first `count` bytes the pipe has. That may be the rest of the
    /// same block.
    pub(super) fn next(
        &mut self,
        mut block: Block,
        count: usize,
        most_bytes: usize,
        strategy: Strategy,
    ) -> io::Result<Block> {
        if block.move_on(count) {
            return Ok(block);
        }
        let len = block.len;
        self.lent(block);
        self.take(len, most_bytes, strategy)
    }

    /// Takes back a block that has nothing left to lend.
    fn lent(&mut self, mut block: Block) {
        block.touched = block.touched.max(block.start.next_multiple_of(HUGE_BYTES));
        block.start = 0;
        // Drop a block that the end of the round could not share.
        if block.pages().is_some_and(|pages| pages.set_shared(true).is_ok()) {
            self.lent.push_back((block, self.round));
        }
    }

    /// Returns a block of `len` bytes that may be filled: a lent one when `most_bytes` of them are held, otherwise a
    /// new one.
    fn take(&mut self, len: usize, most_bytes: usize, strategy: Strategy) -> io::Result<Block> {
        let lent_bytes = self.lent_bytes();
        if lent_bytes < most_bytes {
            return Block::new(len);
        }
        let is_this_round = self.lent.front().is_some_and(|(_, round)| *round == self.round);
        if is_this_round && !self.end_round(lent_bytes, strategy) {
            // Drop them; the pipe keeps what it still has of them.
            self.lent.clear();
        }
        let next = self.lent.pop_front();
        // Drop blocks that took more memory this time.
        while self.lent_bytes() > most_bytes {
            self.lent.pop_front();
        }
        match next {
            Some((block, _)) if block.len == len => Ok(block.set_apart()),
            _ => Block::new(len),
        }
    }

    /// Returns how much memory the lent blocks take.
    fn lent_bytes(&self) -> usize {
        self.lent.iter().map(|(block, _)| block.touched).sum()
    }

    /// Makes all lent memory copy-on-write and tells whether that succeeded.
    fn end_round(&mut self, lent_bytes: usize, strategy: Strategy) -> bool {
        // Ignore the first round's faults, which come from touching memory for the first time.
        let is_known = self.round > 0;
        if strategy != Strategy::Ring || is_known && self.held.wants_new_pages(lent_bytes) {
            self.held.start_round();
            return false;
        }
        let Some(pages) = self.lent.front_mut().and_then(|(block, _)| block.pages()) else {
            return false;
        };
        let is_shared = pages.share().is_ok();
        self.round += u64::from(is_shared);
        self.held.start_round();
        is_shared
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::pages::{alone, can_share, minor_faults, skipped};
    use crate::writer::probe::is_huge;

    #[test]
    fn a_block_is_filled_again_only_after_its_round_has_ended() {
        let _turn = alone();
        if !can_share() {
            return;
        }
        // Small pages are copied one by one, which looks as if a reader held them; then nothing is filled again.
        if !is_huge(&mut Pages::map(HUGE_BYTES).unwrap()) {
            skipped("no huge pages of 2 MiB here");
            return;
        }
        // Faults of other tests would end rounds, too.
        let mut blocks = Blocks { held: Held::new(Faults::OfThread), ..Blocks::new() };
        let mut lent_in = HashMap::new();
        let mut again = 0;
        for strategy in [Strategy::Ring, Strategy::Fresh] {
            let mut block = Block::new(HUGE_BYTES).unwrap();
            for _ in 0..20 {
                block.bytes().fill(1);
                // Lend all of it.
                lent_in.insert(block.bytes().as_ptr(), blocks.round);
                block = blocks.next(block, 2 * HUGE_BYTES, 4 * HUGE_BYTES, strategy).unwrap();
                if blocks.lent.is_empty() {
                    // The blocks were dropped, so others may get their addresses.
                    lent_in.clear();
                }
                if let Some(round) = lent_in.get(&block.bytes().as_ptr()) {
                    assert!(*round < blocks.round, "lent in round {round}");
                    again += 1;
                }
                assert!(blocks.lent.len() <= 2, "{} blocks are lent", blocks.lent.len());
            }
        }
        assert!(blocks.round >= 5 && again >= 5, "{} rounds, {again} again", blocks.round);
    }

    #[test]
    fn the_lent_part_of_a_block_is_not_filled_again_with_the_rest() {
        let _turn = alone();
        for count in [1, 4095, 4096, 5000, 400_000] {
            let mut blocks = Blocks::new();
            let mut block = Block::new(400_000).unwrap();
            let first = block.bytes().as_ptr_range();
            let mut end = first.start;
            while blocks.lent.is_empty() {
                let bytes = block.bytes().as_ptr_range();
                assert!(bytes.start >= end && bytes.end as usize - bytes.start as usize == 400_000);
                end = bytes.start.wrapping_add(count);
                // The page in which it ends is lent, too.
                end = end.wrapping_add(end.align_offset(PAGE_BYTES));
                block = blocks.next(block, count, 4 * HUGE_BYTES, Strategy::Ring).unwrap();
            }
            let begun = end as usize - first.start as usize;
            assert!(begun + 400_000 > HUGE_BYTES, "{count}: given up after {begun} bytes");
        }
    }

    #[test]
    fn blocks_that_took_more_memory_are_given_up() {
        let _turn = alone();
        let mut blocks = Blocks::new();
        let mut block = Block::new(2 * HUGE_BYTES).unwrap();
        for count in [1, 2].into_iter().flat_map(|pages| [pages * HUGE_BYTES; 30]) {
            // Lend all of it, however little it is: one block at a time.
            block.start = 2 * HUGE_BYTES;
            block = blocks.next(block, count, 8 * HUGE_BYTES, Strategy::Ring).unwrap();
            assert!(blocks.lent_bytes() <= 8 * HUGE_BYTES, "{}", blocks.lent_bytes());
        }
    }

    #[test]
    fn the_end_of_a_round_costs_blocks_being_filled_nothing() {
        let _turn = alone();
        if !can_share() {
            return;
        }
        let mut filled = Block::new(HUGE_BYTES).unwrap();
        filled.bytes().fill(1);
        let mut other = Block::new(HUGE_BYTES).unwrap();
        Pages::map(HUGE_BYTES).unwrap().share().unwrap();
        // Everything else that writing touches was shared, too: a sanitizer's own memory, the stack.
        other.bytes().fill(2);
        let before = minor_faults(Faults::OfThread);
        filled.bytes().fill(2);
        assert_eq!(minor_faults(Faults::OfThread) - before, 0);
    }

    #[test]
    fn the_end_of_a_round_renews_every_lent_block() {
        let _turn = alone();
        if !can_share() {
            return;
        }
        let mut blocks = Blocks { held: Held::new(Faults::OfThread), ..Blocks::new() };
        let mut block = Block::new(HUGE_BYTES).unwrap();
        block.bytes().fill(1);
        blocks.lent(block);
        assert!(blocks.end_round(HUGE_BYTES, Strategy::Ring));
        let before = minor_faults(Faults::OfThread);
        let (mut block, _) = blocks.lent.pop_front().unwrap();
        block.bytes().fill(2);
        assert!(minor_faults(Faults::OfThread) > before, "it was still this process's alone");
    }
}
