//! Who answers the questions, and how.

use std::ops::Range;

use fullbore_codec::Tier;
use fullbore_codec::json::Validator;
use fullbore_codec::json::query::{Duplicates, Scanner, Table};

use crate::simdjson::{self, Padded};

/// Bytes that fullbore takes at once, as from a pipe.
const BLOCK_BYTES: usize = 256 << 10;

/// A text in all the forms that contestants want.
pub(crate) struct Input {
    padded: Padded,
    lines: Vec<Range<usize>>,
    /// For those who change what they read.
    copy: Vec<u8>,
    buffers: simd_json::Buffers,
}

impl Input {
    /// Prepares a text, which must have one document a line.
    pub(crate) fn new(text: Vec<u8>) -> Self {
        let mut begin = 0;
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
        let lines = ends.map(|(end, _)| std::mem::replace(&mut begin, end + 1)..end).collect();
        let copy = text.clone();
        let buffers = simd_json::Buffers::new(1 << 20);
        Self { padded: Padded::new(text), lines, copy, buffers }
    }

    /// Returns the text.
    pub(crate) fn text(&self) -> &[u8] {
        self.padded.text()
    }

    /// Makes the copy anew; not part of anybody's time.
    pub(crate) fn restore(&mut self) {
        self.copy.copy_from_slice(self.padded.text());
    }
}

/// One who answers, or -1 for what is no JSON.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) answer: Box<dyn FnMut(&mut Input) -> i64>,
}

impl Contestant {
    fn new(name: &'static str, answer: impl FnMut(&mut Input) -> i64 + 'static) -> Self {
        Self { name, answer: Box::new(answer) }
    }
}

/// Those who count the documents and check them.
pub(crate) fn checkers(tier: Tier) -> Vec<Contestant> {
    vec![
        Contestant::new("fullbore", move |input| checked(tier, input.text())),
        Contestant::new("simdjson DOM", |input| simdjson::dom(&input.padded)),
        Contestant::new("sonic-rs IgnoredAny", |input| {
            valid_lines(input, |line| sonic_rs::from_slice::<serde::de::IgnoredAny>(line).is_ok())
        }),
        Contestant::new("sonic-rs LazyValue", |input| {
            valid_lines(input, |line| sonic_rs::from_slice::<sonic_rs::LazyValue>(line).is_ok())
        }),
        Contestant::new("sonic-rs Value", |input| {
            valid_lines(input, |line| sonic_rs::from_slice::<sonic_rs::Value>(line).is_ok())
        }),
        Contestant::new("simd-json tape", |input| {
            let Input { lines, copy, buffers, .. } = input;
            let is_valid = |line: &Range<usize>| {
                simd_json::to_tape_with_buffers(&mut copy[line.clone()], buffers).is_ok()
            };
            if lines.iter().all(is_valid) { lines.len() as i64 } else { -1 }
        }),
    ]
}

/// Those who look for one member of each document.
pub(crate) fn finders(tier: Tier, member: &'static str) -> Vec<Contestant> {
    let mut scanner = Scanner::new(tier, vec![vec![member.to_owned()]], Duplicates::Last);
    let mut table = Table::default();
    vec![
        Contestant::new("fullbore", move |input| found(&mut scanner, &mut table, input.text())),
        Contestant::new("simdjson On-Demand", move |input| {
            simdjson::ondemand(&input.padded, member)
        }),
    ]
}

fn checked(tier: Tier, text: &[u8]) -> i64 {
    let mut validator = Validator::new(tier);
    for block in text.chunks(BLOCK_BYTES) {
        if validator.push(block).is_err() {
            return -1;
        }
    }
    validator.finish().map_or(-1, |()| validator.documents() as i64)
}

fn valid_lines(input: &Input, is_valid: impl Fn(&[u8]) -> bool) -> i64 {
    let text = input.text();
    let all = input.lines.iter().all(|line| is_valid(&text[line.clone()]));
    if all { input.lines.len() as i64 } else { -1 }
}

fn found(scanner: &mut Scanner, table: &mut Table, text: &[u8]) -> i64 {
    let mut at = 0;
    let mut sum = 0;
    while at < text.len() {
        let block = &text[at..text.len().min(at + BLOCK_BYTES)];
        let Ok(read) = scanner.scan(block, at + block.len() == text.len(), table) else {
            return -1;
        };
        sum += table.values.iter().map(|value| mixed(&block[value.clone()])).sum::<u64>();
        at += read;
    }
    sum.cast_signed()
}

/// A sum that touches what was found; the same as `mixed` in simdjson.cpp.
fn mixed(token: &[u8]) -> u64 {
    let (Some(first), Some(last)) = (token.first(), token.last()) else { return 0 };
    token.len() as u64 + (u64::from(*first) << 16) + (u64::from(*last) << 24)
}
