//! Blocks that are filled elsewhere, lent to the pipe whole, and filled again when that is safe.

use std::collections::VecDeque;

use super::options::Strategy;
use super::ring::Held;
use crate::pages::{Faults, HUGE_BYTES, Pages};

/// Memory to be filled, on huge pages where Linux has them; see [`PipeWriter::exchange`](super::PipeWriter::exchange).
#[derive(Debug)]
pub struct Block {
    memory: Memory,
    len: usize,
}

#[derive(Debug)]
pub(super) enum Memory {
    Huge(Pages),
    /// Where there is no room for a mapping of whole huge pages. Never lent.
    Small(Vec<u8>),
}

impl Block {
    /// A block of `len` bytes, zero.
    #[must_use]
    pub fn new(len: usize) -> Self {
        let memory = match Pages::map(len.next_multiple_of(HUGE_BYTES).max(HUGE_BYTES)) {
            Ok(pages) => Memory::Huge(pages),
            Err(_) => Memory::Small(vec![0; len]),
        };
        Self { memory, len }.set_apart()
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
            Memory::Huge(pages) => pages.bytes(0..self.len),
            Memory::Small(bytes) => bytes,
        }
    }

    /// Its pages, if it can be lent.
    pub(super) fn pages(&mut self) -> Option<&mut Pages> {
        match &mut self.memory {
            Memory::Huge(pages) => Some(pages),
            Memory::Small(_) => None,
        }
    }

    fn mapped_bytes(&self) -> usize {
        self.len.next_multiple_of(HUGE_BYTES)
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

    /// Takes back a block whose pages the pipe has.
    pub(super) fn lent(&mut self, mut block: Block) {
        // One that the end of the round could not share is given up.
        if block.pages().is_some_and(|pages| pages.set_shared(true).is_ok()) {
            self.lent.push_back((block, self.round));
        }
    }

    /// A block of `len` bytes that may be filled: one that was lent, when there are `most_bytes` of them.
    pub(super) fn take(&mut self, len: usize, most_bytes: usize, strategy: Strategy) -> Block {
        let lent_bytes: usize = self.lent.iter().map(|(block, _)| block.mapped_bytes()).sum();
        if lent_bytes < most_bytes {
            return Block::new(len);
        }
        let is_this_round = self.lent.front().is_some_and(|(_, round)| *round == self.round);
        if is_this_round && !self.end_round(lent_bytes, strategy) {
            // They are given up; the pipe keeps what it still has of them.
            self.lent.clear();
        }
        match self.lent.pop_front() {
            Some((block, _)) if block.len == len => block.set_apart(),
            _ => Block::new(len),
        }
    }

    /// Makes all that is lent copy-on-write; whether that was done.
    fn end_round(&mut self, lent_bytes: usize, strategy: Strategy) -> bool {
        if strategy != Strategy::Ring || self.held.wants_new_pages(lent_bytes) {
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
    use super::*;
    use crate::pages::{alone, minor_faults};

    #[test]
    fn a_block_is_filled_again_only_after_its_round_has_ended() {
        let _turn = alone();
        let mut blocks = Blocks::new();
        for strategy in [Strategy::Ring, Strategy::Fresh] {
            for _ in 0..20 {
                let mut block = blocks.take(5000, 2 * HUGE_BYTES, strategy);
                block.bytes().fill(1);
                blocks.lent(block);
                let newest = blocks.lent.back().unwrap().1;
                assert_eq!(newest, blocks.round);
                assert!(blocks.lent.len() <= 2, "{} blocks are lent", blocks.lent.len());
            }
        }
        assert!(blocks.round >= 5, "{} rounds", blocks.round);
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
