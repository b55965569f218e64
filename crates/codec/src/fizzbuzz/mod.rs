//! FizzBuzz: 1, 2, Fizz, 4, Buzz, … for numbers of any length, without end.
//!
//! Numbers of one length come in blocks of 300 lines that differ only in some digits (`block`). The portable version
//! keeps the text of a block, changes these digits in it, and copies it out. With AVX-512, one shuffle of three numbers
//! writes every 64 bytes of a block straight to the output.

mod block;
pub mod naive;

#[cfg(target_arch = "x86_64")]
mod avx512;

use block::{Block, FEWEST_DIGITS, LINES};

use crate::Tier;
use crate::generate::{Skip, Source};
use crate::tier::Granted;

/// Generates the lines of all numbers from 1, without end.
#[derive(Clone)]
pub struct FizzBuzz {
    #[cfg_attr(
        not(target_arch = "x86_64"),
        allow(dead_code, reason = "only AVX-512 has a kernel")
    )]
    tier: Granted,
    /// How many lines are left; `None` means no limit.
    lines_left: Option<u64>,
    block: Block,
    #[cfg(target_arch = "x86_64")]
    pattern: Option<avx512::Pattern>,
    /// Digits before the last two of the numbers in the text of `block`, for each hundred.
    uppers: [Vec<u8>; 3],
    /// Whether `block.text` contains the digits of `uppers`.
    is_text_current: bool,
    /// Text that is partly written: the numbers below 100, or a part of the text of `block`.
    begun: Begun,
}

/// Text that is partly written, and how much of it.
#[derive(Clone)]
enum Begun {
    /// No text.
    None,
    /// Text of the first numbers.
    Head(Vec<u8>, usize),
    /// A range of the block's text.
    Block(usize, usize),
}

impl FizzBuzz {
    /// Generates all lines.
    #[must_use]
    pub fn new(tier: Tier) -> Self {
        Self::with_lines(tier, None)
    }

    /// Generates the first `lines` lines, or all of them for `None`.
    #[must_use]
    pub fn with_lines(tier: Tier, lines: Option<u64>) -> Self {
        let head = lines.map_or(99, |lines| lines.min(99));
        Self {
            tier: tier.granted(),
            lines_left: lines.map(|lines| lines - head),
            block: Block::new(FEWEST_DIGITS),
            #[cfg(target_arch = "x86_64")]
            pattern: None,
            uppers: block::first_uppers(FEWEST_DIGITS - 2),
            is_text_current: true,
            begun: Begun::Head(naive::lines(1, head.into()), 0),
        }
    }

    /// Generates all lines from 10ⁿ on, where n is `zeros`: for tests of numbers too large to count up to.
    ///
    /// # Panics
    /// When `zeros` is less than 2.
    #[must_use]
    pub fn from_power_of_ten(tier: Tier, zeros: usize) -> Self {
        let mut source = Self::new(tier);
        source.begun = Begun::None;
        source.set_digits(zeros + 1);
        source
    }

    /// Moves to `blocks` blocks before the end of the numbers of this length.
    #[doc(hidden)]
    #[must_use]
    pub fn near_the_end_of_length(mut self, blocks: u8) -> Self {
        for (upper, below) in self.uppers.iter_mut().zip([3u8, 2, 1]) {
            upper.fill(b'9');
            let below = usize::from(blocks - 1) * 3 + usize::from(below) - 1;
            let length = upper.len();
            // This is 999…9 − below, for below < 100.
            upper[length - 1] -= (below % 10).to_le_bytes()[0];
            if length > 1 {
                upper[length - 2] -= (below / 10).to_le_bytes()[0];
            }
        }
        self.is_text_current = false;
        self
    }

    fn set_digits(&mut self, digits: usize) {
        self.block = Block::new(digits);
        #[cfg(target_arch = "x86_64")]
        {
            self.pattern = None;
        }
        self.uppers = block::first_uppers(digits - 2);
        self.is_text_current = true;
    }

    /// Writes the digits of `uppers` into the text of the block.
    fn refresh(&mut self) {
        if !self.is_text_current {
            let upper_digits = self.block.upper_digits;
            for (upper, starts) in self.uppers.iter().zip(&self.block.starts) {
                for start in starts {
                    self.block.text[*start..][..upper_digits].copy_from_slice(upper);
                }
            }
            self.is_text_current = true;
        }
    }

    /// Moves to the next block, and makes its text from this one's.
    fn advance(&mut self) {
        let upper_digits = self.block.upper_digits;
        for (upper, starts) in self.uppers.iter_mut().zip(&self.block.starts) {
            let changed = block::add(upper, 3);
            if !self.is_text_current {
                continue;
            }
            // Change two digits at once in the usual case; loop over the rest.
            let text = &mut self.block.text;
            if let (1..=2, Some(last)) = (changed, upper.last_chunk::<2>()) {
                for start in starts {
                    text[*start + upper_digits - 2..][..2].copy_from_slice(last);
                }
            } else {
                let from = upper_digits - changed;
                for start in starts {
                    text[*start + from..][..changed].copy_from_slice(&upper[from..]);
                }
            }
        }
        self.lengthen();
    }

    /// Moves past the last number of a length, where 999 + 3 has come out as 002.
    fn lengthen(&mut self) {
        if self.uppers[0][0] == b'0' {
            self.set_digits(self.block.upper_digits + 3);
        }
    }

    /// Starts writing the next block, or what is left of it, piece by piece.
    fn begin(&mut self) {
        self.refresh();
        let lines = LINES as u64;
        let end = match self.lines_left {
            Some(0) => return,
            Some(left) if left < lines => nth_line_end(&self.block.text, left),
            _ => self.block.text.len(),
        };
        self.lines_left = self.lines_left.map(|left| left.saturating_sub(lines));
        self.begun = Begun::Block(0, end);
    }

    /// Writes whole blocks to the front of `output`, and returns the length.
    fn whole_blocks(&mut self, output: &mut [u8]) -> usize {
        let mut blocks = self.lines_left.unwrap_or(u64::MAX) / LINES as u64;
        let before = blocks;
        let written = self
            .shuffle_blocks(&mut blocks, output)
            .unwrap_or_else(|| self.copy_blocks(&mut blocks, output));
        self.lines_left = self.lines_left.map(|left| left - (before - blocks) * LINES as u64);
        written
    }

    /// Does the same with AVX-512, where that is possible.
    #[cfg(target_arch = "x86_64")]
    fn shuffle_blocks(&mut self, blocks: &mut u64, output: &mut [u8]) -> Option<usize> {
        let Granted::Avx512(proof) = self.tier else { return None };
        if self.block.upper_digits > avx512::MOST_DIGITS {
            return None;
        }
        let pattern = self.pattern.get_or_insert_with(|| avx512::Pattern::new(&self.block));
        let written = avx512::fill(proof, pattern, &mut self.uppers, blocks, output);
        if written > 0 {
            self.is_text_current = false;
            self.lengthen();
        }
        Some(written)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn shuffle_blocks(&mut self, _: &mut u64, _: &mut [u8]) -> Option<usize> {
        None
    }

    fn copy_blocks(&mut self, blocks: &mut u64, output: &mut [u8]) -> usize {
        let mut written = 0;
        self.refresh();
        while *blocks > 0 {
            let length = self.block.text.len();
            let Some(room) = output[written..].get_mut(..length) else { break };
            room.copy_from_slice(&self.block.text);
            written += length;
            *blocks -= 1;
            self.advance();
        }
        written
    }
}

/// Returns the length of the first `lines` lines of `text`.
fn nth_line_end(text: &[u8], lines: u64) -> usize {
    let index = usize::try_from(lines).unwrap_or(usize::MAX) - 1;
    memchr::memchr_iter(b'\n', text).nth(index).map_or(text.len(), |end| end + 1)
}

impl FizzBuzz {
    /// Hands out at most `most` bytes of the text that is partly written, and moves past them; returns 0 when there is
    /// none.
    fn hand_out(&mut self, most: usize, take: impl FnOnce(&[u8])) -> usize {
        let (text, at, end) = match &self.begun {
            Begun::Head(text, at) => (text.as_slice(), *at, text.len()),
            Begun::Block(at, end) => (self.block.text.as_slice(), *at, *end),
            Begun::None => return 0,
        };
        let length = most.min(end - at);
        let at = at + length;
        take(&text[at - length..at]);
        match &mut self.begun {
            Begun::Head(_, out) | Begun::Block(out, _) if at < end => *out = at,
            Begun::Block(..) => {
                self.begun = Begun::None;
                self.advance();
            }
            _ => self.begun = Begun::None,
        }
        length
    }

    /// Skips whole blocks, at most `bytes` and within one length, and returns how many bytes they have.
    fn skip_blocks(&mut self, bytes: u64) -> u64 {
        let block_bytes = self.block.text.len() as u64;
        let lines = self.lines_left.unwrap_or(u64::MAX);
        let of_length = block::steps_left(&self.uppers[0]);
        let blocks = (bytes / block_bytes).min(lines / LINES as u64).min(of_length);
        if blocks > 0 {
            for upper in &mut self.uppers {
                block::add_large(upper, 3 * blocks);
            }
            self.is_text_current = false;
            self.lines_left = self.lines_left.map(|left| left - blocks * LINES as u64);
            self.lengthen();
        }
        blocks * block_bytes
    }
}

impl Source for FizzBuzz {
    fn fill(&mut self, output: &mut [u8]) -> usize {
        let mut written = 0;
        while written < output.len() {
            let room = &mut output[written..];
            if let Begun::None = self.begun {
                let whole = self.whole_blocks(room);
                written += whole;
                if whole == 0 {
                    self.begin();
                    if let Begun::None = self.begun {
                        break;
                    }
                }
            } else {
                written +=
                    self.hand_out(room.len(), |text| room[..text.len()].copy_from_slice(text));
            }
        }
        written
    }
}

impl Skip for FizzBuzz {
    fn skip(&mut self, bytes: u64) -> u64 {
        let mut left = bytes;
        while left > 0 {
            if let Begun::None = self.begun {
                let whole = self.skip_blocks(left);
                left -= whole;
                if whole == 0 {
                    self.begin();
                    if let Begun::None = self.begun {
                        break;
                    }
                }
            } else {
                left -= self.hand_out(usize::try_from(left).unwrap_or(usize::MAX), |_| {}) as u64;
            }
        }
        bytes - left
    }
}
