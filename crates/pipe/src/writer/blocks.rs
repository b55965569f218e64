//! Blocks that are filled elsewhere, lent to the pipe whole, and filled again when that is safe.

use std::collections::VecDeque;
use std::ops::Range;

use super::options::Strategy;
use super::ring::Held;
use crate::pages::{Faults, HUGE_BYTES, PAGE_BYTES, Pages};

/// Memory to be filled, on huge pages where Linux has them; see [`PipeWriter::exchange`](super::PipeWriter::exchange).
#[derive(Debug)]
pub struct Block {
    memory: Memory,
    /// What is before has been lent.
    start: usize,
    len: usize,
    /// Most bytes that were lent of it, in whole huge pages: as much memory it takes.
    touched: usize,
}

#[derive(Debug)]
pub(super) enum Memory {
    Huge(Pages),
    /// Where there is no room for a mapping of whole huge pages. Never lent.
    Small(Vec<u8>),
}

impl Block {
    /// A block of `len` bytes, zero. It has room for more than one exchange, where that leaves no huge page half used:
    /// memory is taken as it is touched, and large blocks may all be touched to their ends.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let room = if len > HUGE_BYTES { len } else { 2 * len.max(1) };
        let memory = match Pages::map(room.next_multiple_of(HUGE_BYTES)) {
            Ok(pages) => Memory::Huge(pages),
            Err(_) => Memory::Small(vec![0; len]),
        };
        Self { memory, start: 0, len, touched: 0 }.set_apart()
    }

    /// The block, out of the way of rounds that end while it is filled.
    fn set_apart(mut self) -> Self {
        if let Some(pages) = self.pages() {
            // Refused, it is filled all the same, with more faults.
            let _ = pages.set_shared(false);
        }
        self
    }

    /// Its bytes. What they hold is undefined after an exchange.
    pub fn bytes(&mut self) -> &mut [u8] {
        match &mut self.memory {
            Memory::Huge(pages) => pages.bytes(self.start..self.start + self.len),
            Memory::Small(bytes) => bytes,
        }
    }

    /// The first `count` bytes in its pages.
    pub(super) fn front(&self, count: usize) -> Range<usize> {
        self.start..self.start + count
    }

    /// Moves on behind the first `count` bytes, which were lent; whether there is room for as much as before.
    fn move_on(&mut self, count: usize) -> bool {
        self.start = (self.start + count).next_multiple_of(PAGE_BYTES);
        let mapped = self.pages().map_or(0, |pages| pages.len());
        self.start + self.len <= mapped
    }

    /// Its pages, if it can be lent.
    pub(super) fn pages(&mut self) -> Option<&mut Pages> {
        match &mut self.memory {
            Memory::Huge(pages) => Some(pages),
            Memory::Small(_) => None,
        }
    }
}

/// The blocks that were lent, the oldest first.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Each with the round in which it was lent. All memory was made copy-on-write at the end of each round, so a block
    /// of an earlier round may be filled again: Linux copies what someone holds.
    lent: VecDeque<(Block, u64)>,
    round: u64,
    held: Held,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { lent: VecDeque::new(), round: 0, held: Held::new(Faults::OfProcess) }
    }

    /// Gives a block to be filled for one whose first `count` bytes the pipe has, which may be what is left of it.
    pub(super) fn next(
        &mut self,
        mut block: Block,
        count: usize,
        most_bytes: usize,
        strategy: Strategy,
    ) -> Block {
        if block.move_on(count) {
            return block;
        }
        let len = block.len;
        self.lent(block);
        self.take(len, most_bytes, strategy)
    }

    /// Takes back a block of which there is nothing left to lend.
    fn lent(&mut self, mut block: Block) {
        block.touched = block.touched.max(block.start.next_multiple_of(HUGE_BYTES));
        block.start = 0;
        // One that the end of the round could not share is given up.
        if block.pages().is_some_and(|pages| pages.set_shared(true).is_ok()) {
            self.lent.push_back((block, self.round));
        }
    }

    /// A block of `len` bytes that may be filled: one that was lent, when there are `most_bytes` of them.
    fn take(&mut self, len: usize, most_bytes: usize, strategy: Strategy) -> Block {
        let lent_bytes = self.lent_bytes();
        if lent_bytes < most_bytes {
            return Block::new(len);
        }
        let is_this_round = self.lent.front().is_some_and(|(_, round)| *round == self.round);
        if is_this_round && !self.end_round(lent_bytes, strategy) {
            // They are given up; the pipe keeps what it still has of them.
            self.lent.clear();
        }
        let next = self.lent.pop_front();
        // Blocks that took more this time are given up.
        while self.lent_bytes() > most_bytes {
            self.lent.pop_front();
        }
        match next {
            Some((block, _)) if block.len == len => block.set_apart(),
            _ => Block::new(len),
        }
    }

    /// Memory of all that is lent.
    fn lent_bytes(&self) -> usize {
        self.lent.iter().map(|(block, _)| block.touched).sum()
    }

    /// Makes all that is lent copy-on-write; whether that was done.
    fn end_round(&mut self, lent_bytes: usize, strategy: Strategy) -> bool {
        // The faults of the first round are those of memory that is used for the first time.
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
    use crate::pages::{alone, minor_faults};

    #[test]
    fn a_block_is_filled_again_only_after_its_round_has_ended() {
        let _turn = alone();
        let mut blocks = Blocks::new();
        let mut lent_in = HashMap::new();
        let mut again = 0;
        for strategy in [Strategy::Ring, Strategy::Fresh] {
            let mut block = Block::new(HUGE_BYTES);
            for _ in 0..20 {
                block.bytes().fill(1);
                // All of it goes.
                lent_in.insert(block.bytes().as_ptr(), blocks.round);
                block = blocks.next(block, 2 * HUGE_BYTES, 4 * HUGE_BYTES, strategy);
                if blocks.lent.is_empty() {
                    // They were given up: others may come to their places.
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
    fn what_was_lent_of_a_block_is_not_filled_again_with_the_rest_of_it() {
        let _turn = alone();
        for count in [1, 4095, 4096, 5000, 400_000] {
            let mut blocks = Blocks::new();
            let mut block = Block::new(400_000);
            let first = block.bytes().as_ptr_range();
            let mut end = first.start;
            while blocks.lent.is_empty() {
                let bytes = block.bytes().as_ptr_range();
                assert!(bytes.start >= end && bytes.end as usize - bytes.start as usize == 400_000);
                end = bytes.start.wrapping_add(count);
                // The page in which it ends is lent, too.
                end = end.wrapping_add(end.align_offset(PAGE_BYTES));
                block = blocks.next(block, count, 4 * HUGE_BYTES, Strategy::Ring);
            }
            let begun = end as usize - first.start as usize;
            assert!(begun + 400_000 > HUGE_BYTES, "{count}: given up after {begun} bytes");
        }
    }

    #[test]
    fn blocks_that_took_more_memory_are_given_up() {
        let _turn = alone();
        let mut blocks = Blocks::new();
        let mut block = Block::new(2 * HUGE_BYTES);
        for count in [1, 2].into_iter().flat_map(|pages| [pages * HUGE_BYTES; 30]) {
            // All of it goes, however little: one block at a time.
            block.start = 2 * HUGE_BYTES;
            block = blocks.next(block, count, 8 * HUGE_BYTES, Strategy::Ring);
            assert!(blocks.lent_bytes() <= 8 * HUGE_BYTES, "{}", blocks.lent_bytes());
        }
    }

    #[test]
    fn a_round_that_ends_costs_nothing_to_blocks_that_are_being_filled() {
        let _turn = alone();
        let mut filled = Block::new(HUGE_BYTES);
        filled.bytes().fill(1);
        Pages::map(HUGE_BYTES).unwrap().share().unwrap();
        let before = minor_faults(Faults::OfThread);
        filled.bytes().fill(2);
        assert_eq!(minor_faults(Faults::OfThread) - before, 0);
    }

    #[test]
    fn a_round_that_ends_is_about_all_blocks_that_were_lent() {
        let _turn = alone();
        let mut blocks = Blocks::new();
        let mut block = Block::new(HUGE_BYTES);
        block.bytes().fill(1);
        blocks.lent(block);
        // Faults of other tests are counted, too, and put it off.
        assert!((0..1000).any(|_| blocks.end_round(HUGE_BYTES, Strategy::Ring)));
        let before = minor_faults(Faults::OfThread);
        let (mut block, _) = blocks.lent.pop_front().unwrap();
        block.bytes().fill(2);
        assert!(minor_faults(Faults::OfThread) > before, "it was still this process's alone");
    }
}
