//! Generates lines of one length.

use super::{Begun, Skip, Source};

/// Generates numbered lines of one length, without end: `0000000000000001 abcdefghij…`, the letters shifted by one from
/// line to line.
#[derive(Clone, Debug)]
pub struct Lines {
    length: usize,
    number: u64,
    begun: Begun,
}

impl Lines {
    /// Makes lines of `length` bytes including the line feed; at least 1. Where the number does not fit, the line has
    /// its last digits.
    ///
    /// # Panics
    /// When `length` is 0.
    #[must_use]
    pub fn new(length: usize) -> Self {
        assert!(length > 0, "a line has at least its line feed");
        Self { length, number: 0, begun: Begun::default() }
    }
}

/// Digits of the number.
const DIGITS: usize = 16;

fn append_line(number: u64, length: usize, text: &mut Vec<u8>) {
    let digits = DIGITS.min(length - 1);
    let number_text = format!("{number:0DIGITS$}");
    text.extend_from_slice(&number_text.as_bytes()[number_text.len() - digits..]);
    if length - 1 > digits {
        text.push(b' ');
    }
    let letters = (b'a'..=b'z').cycle().skip((number % 26) as usize);
    text.extend(letters.take((length - 1).saturating_sub(digits + 1)));
    text.push(b'\n');
}

impl Source for Lines {
    fn fill(&mut self, output: &mut [u8]) -> usize {
        let (length, number) = (self.length, &mut self.number);
        self.begun.fill(output, |text| {
            // Generate many short lines at once.
            while text.len() < 4096 {
                *number += 1;
                append_line(*number, length, text);
            }
        })
    }
}

impl Skip for Lines {
    fn skip(&mut self, bytes: u64) -> u64 {
        let left = bytes - self.begun.skip(bytes);
        let length = self.length as u64;
        self.number += left / length;
        let rest = left % length;
        if rest > 0 {
            self.number += 1;
            self.begun = Begun::default();
            append_line(self.number, self.length, &mut self.begun.text);
            self.begun.skip(rest);
        }
        bytes
    }
}
