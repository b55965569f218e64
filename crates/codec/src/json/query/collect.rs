//! Finds documents and members in the marks of the kernels.
//!
//! A batch has few strings that end like a name in question, and few documents end in it. Nothing is done for the rest: where
//! a document ends is known as the number of a token, and the place of a token is found by counting beginnings of tokens.

use std::ops::Range;

use super::names::Names;
use super::skip::{skip_space, skip_value};
use super::table::Table;
use super::value::{Duplicates, Value};
use crate::json::batches::opening_quote;
use crate::json::marks::{Filter, Mark, Marks, Watch, Word};

/// Collects the documents of a text while a kernel reads it.
pub(super) struct Collector<'a> {
    names: &'a Names,
    table: &'a mut Table,
    /// Where the text of the kernel begins in the text of the table.
    base: usize,
    marks: Marks,
    /// Where the values of [`Names::outermost`] begin in the document in progress; 0 for none.
    found: Vec<usize>,
    order: Order,
    /// Where these values are; kept for its memory.
    outermost: Vec<Range<usize>>,
    /// One of these names occurs twice in it, though none may.
    is_repeated: bool,
    /// Strings before this were looked at for escapes.
    decoded: usize,
    /// What comes before this is valid.
    valid: usize,
    /// Where the last document ended that is in the table.
    pub(super) end: usize,
    /// The next document is not for the kernel.
    is_over: bool,
}

impl Watch for Collector<'_> {
    #[inline]
    fn filter(&self) -> Option<&Filter> {
        Some(&self.names.filter)
    }

    #[inline]
    fn note(&mut self, block: usize, mark: Mark) {
        let is_worth = u64::from(mark.candidates | mark.escaped != 0);
        self.marks.worth |= is_worth << (block % 64);
        self.marks.blocks[block % 64] = mark;
        self.marks.blocks_noted = block + 1;
    }

    #[inline]
    fn note_tokens(&mut self, word: Word) {
        self.marks.words[self.marks.words_noted % 64] = word;
        self.marks.words_noted += 1;
    }

    #[inline(always)]
    fn passed(
        &mut self,
        input: &[u8],
        valid: Range<usize>,
        depth: u32,
        select: impl Fn(u64, usize) -> usize + Copy,
    ) -> bool {
        self.valid = valid.end;
        self.marks.depth = depth;
        let mut ends = Ends { select, word: 0, seen: 0, block: 0 };
        let mut blocks = self.marks.worth;
        while let Some(block) = first(blocks) {
            blocks &= blocks - 1;
            self.names(input, valid.start, block, &mut ends);
        }
        self.documents(input, valid.start, &mut ends, usize::MAX);
        self.marks.forget();
        !self.is_over
    }
}

impl<'a> Collector<'a> {
    /// Makes a collector for a text that begins at `base` of another, between two documents.
    pub(super) fn new(names: &'a Names, table: &'a mut Table, base: usize) -> Self {
        Self {
            names,
            table,
            base,
            marks: Marks::new(),
            found: vec![0; names.outermost.len()],
            order: Order { last: 0, followers: (1..names.outermost.len()).chain([0]).collect() },
            outermost: vec![0..0; names.outermost.len()],
            is_repeated: false,
            decoded: 0,
            valid: 0,
            end: 0,
            is_over: false,
        }
    }

    /// Looks at the strings of a block that may be names; `begin` is where the batch begins.
    #[inline(always)]
    fn names(
        &mut self,
        input: &[u8],
        begin: usize,
        block: usize,
        ends: &mut Ends<impl Fn(u64, usize) -> usize>,
    ) {
        let mark = self.marks.blocks[block % 64];
        let mut bits = mark.candidates | mark.escaped;
        while let Some(next) = first(bits) {
            bits &= bits - 1;
            let at = begin + 64 * block + next;
            if at < self.decoded {
                continue;
            }
            // With that of the string.
            let tokens =
                mark.tokens + (mark.begins & u64::MAX >> (63 - next)).count_ones() as usize;
            self.documents(input, begin, ends, tokens);
            if self.marks.depth_before(tokens) != 1 || self.is_over {
                continue;
            }
            if mark.candidates >> next & 1 == 1 {
                self.name(input, at);
            } else {
                self.escaped_name(input, at);
            }
        }
    }

    /// Takes the string of the outermost object that ends with the quote at `at` if it is a name in question.
    #[inline(always)]
    fn name(&mut self, input: &[u8], at: usize) {
        let text = &input[..=at];
        let ends = |number: usize| {
            let quoted = self.names.quoted.get(number).and_then(Option::as_ref);
            quoted.is_some_and(|quoted| quoted.ends(text))
        };
        // Documents mostly have their members in the order of the one before.
        let Order { last, followers } = &mut self.order;
        if !ends(followers[*last]) {
            let Some(number) = (0..followers.len()).find(|number| ends(*number)) else { return };
            followers[*last] = number;
        }
        *last = followers[*last];
        let number = *last;
        self.member(input, number, at + 1);
    }

    /// Takes the string with an escape at `at` if it is a name in question.
    #[cold]
    fn escaped_name(&mut self, input: &[u8], at: usize) {
        let begin = opening_quote(&input[..at]);
        let Some(end) = skip_value(input, begin) else {
            self.decoded = input.len();
            return;
        };
        self.decoded = end;
        if input.get(skip_space(input, end)) != Some(&b':') {
            return;
        }
        let name = Value::new(&input[begin..end]).decoded();
        let number = self.names.outermost.iter().position(|other| *other.as_bytes() == *name);
        if let Some(number) = number {
            self.member(input, number, end);
        }
    }

    /// Notes the value after the string that ends at `end`, if that is the name of a member.
    #[inline]
    fn member(&mut self, input: &[u8], number: usize, end: usize) {
        let colon = skip_space(input, end);
        if input.get(colon) != Some(&b':') {
            return;
        }
        let value = skip_space(input, colon + 1);
        let found = &mut self.found[number];
        if *found == 0 || self.names.duplicates == Duplicates::Last {
            *found = value;
        } else {
            self.is_repeated |= self.names.duplicates == Duplicates::Refuse;
        }
    }

    /// Takes the documents of the batch that end before the token before the one of this number.
    #[inline(always)]
    fn documents(
        &mut self,
        input: &[u8],
        begin: usize,
        ends: &mut Ends<impl Fn(u64, usize) -> usize>,
        before: usize,
    ) {
        while !self.is_over
            && let Some(token) = self.marks.next_end(ends)
            && token + 1 < before
        {
            ends.seen |= 1 << (token % 64);
            let place = begin + self.marks.place_of(token, ends);
            if let b'}' | b']' = input[place] {
                self.finish(input, place + 1);
                continue;
            }
            // A string, number or literal. What the kernel has not read of it is for the slow way.
            match skip_value(input, place).filter(|end| *end <= self.valid) {
                Some(end) => self.finish(input, end),
                None => self.is_over = true,
            }
        }
    }

    /// Puts the document in progress, which ends at `end`, into the table.
    fn finish(&mut self, input: &[u8], end: usize) {
        let document = skip_space(input, self.end)..end;
        if document.len() > self.names.most_bytes {
            self.is_over = true;
            return;
        }
        let found = self.found.iter_mut().zip(&mut self.outermost);
        for (begin, range) in found {
            let at = std::mem::take(begin);
            *range = match at {
                0 => 0..0,
                // The value has an end: the document has one.
                _ => at..skip_value(input, at).unwrap_or(at),
            };
        }
        let values = &mut self.table.values;
        let before = values.len();
        let resolved = self.names.resolve(input, &document, &self.outermost, values);
        if resolved.is_err() || self.is_repeated {
            values.truncate(before);
            self.is_over = true;
            return;
        }
        if self.base > 0 {
            for value in values[before..].iter_mut().filter(|value| value.start < value.end) {
                *value = value.start + self.base..value.end + self.base;
            }
        }
        self.table.documents.push(document.start + self.base..document.end + self.base);
        self.end = end;
    }
}

/// In which order names come.
struct Order {
    /// The name that was found last.
    last: usize,
    /// Which name came after each of them the last time.
    followers: Vec<usize>,
}

/// Which ends of documents were seen in a batch.
struct Ends<S> {
    /// Returns the place of the bit that is 1 and has this many such bits below it.
    select: S,
    word: usize,
    /// Those of the word that were seen.
    seen: u64,
    /// A block before which none of the others lies.
    block: usize,
}

impl Marks {
    /// Returns the number of the next token with which a document ends.
    #[inline(always)]
    fn next_end<S>(&self, ends: &mut Ends<S>) -> Option<usize> {
        while ends.word < self.words_noted {
            if let Some(next) = first(self.words[ends.word % 64].ends & !ends.seen) {
                return Some(64 * ends.word + next);
            }
            ends.word += 1;
            ends.seen = 0;
        }
        None
    }

    /// Returns the place of the token of this number in the batch, in bytes.
    #[inline(always)]
    fn place_of(&self, token: usize, ends: &mut Ends<impl Fn(u64, usize) -> usize>) -> usize {
        while ends.block + 1 < self.blocks_noted
            && self.blocks[(ends.block + 1) % 64].tokens <= token
        {
            ends.block += 1;
        }
        let block = &self.blocks[ends.block % 64];
        64 * ends.block + (ends.select)(block.begins, token - block.tokens)
    }

    /// Returns how many arrays and objects are around the token of this number.
    #[inline(always)]
    fn depth_before(&self, token: usize) -> u32 {
        let word = token / 64;
        if word >= self.words_noted {
            return self.depth;
        }
        let Word { opening, closing, depth, .. } = self.words[word % 64];
        let before = (1 << (token % 64)) - 1;
        depth + (opening & before).count_ones() - (closing & before).count_ones()
    }
}

/// Returns the first bit that is 1.
#[inline]
fn first(bits: u64) -> Option<usize> {
    (bits != 0).then(|| bits.trailing_zeros() as usize)
}
