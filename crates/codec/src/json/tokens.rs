//! Neighbouring pairs of tokens and brackets, as bits of a word.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_pdep_u64, _pext_u64};

use super::between::{Between, MOST_LEVELS};
use super::classes::{self, BITS, FOLLOWERS, IN_OBJECT, KEY_FOLLOWS, TOKENS, TOP};

/// How often pairs of brackets are removed that have no brackets between them, before the rest is read one by one. Two is a
/// record with objects and arrays in it.
#[cfg(target_arch = "x86_64")]
const ROUNDS: usize = 2;

/// What is known after some tokens.
#[derive(Clone, Copy)]
pub(super) struct Tokens {
    /// See `Stack::innermost_first`.
    pub(super) stack: u64,
    /// Class of the last token with what is around it, and of the one before it.
    pub(super) last: u8,
    pub(super) before_last: u8,
    /// Whether the last token is a name.
    pub(super) is_key: bool,
    /// Documents that ended, or are strings that have begun.
    pub(super) documents: u64,
}

/// Brackets of 64 tokens.
#[derive(Clone, Copy)]
pub(super) struct Brackets {
    pub(super) all: u64,
    pub(super) closing: u64,
    pub(super) of_objects: u64,
}

impl Brackets {
    /// Returns the opening and the closing ones.
    #[inline]
    pub(super) fn sides(&self) -> (u64, u64) {
        (self.all & !self.closing, self.all & self.closing)
    }
}

/// Which of 64 tokens are what; all others are numbers and literals.
#[derive(Clone, Copy)]
pub(super) struct Kinds {
    pub(super) strings: u64,
    pub(super) colons: u64,
    pub(super) commas: u64,
    pub(super) brackets: Brackets,
}

/// What is around each of 64 tokens.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) object: u64,
    pub(super) nothing: u64,
    /// Not 0 when brackets do not match.
    pub(super) wrong: u64,
}

impl Tokens {
    pub(super) fn new(begin: Between) -> Self {
        let is_in_object = begin.stack > 1 && begin.stack & 1 == 1;
        let (last, is_key) = classes::before(begin.next, is_in_object);
        Self { stack: begin.stack, last, before_last: last, is_key, documents: 0 }
    }

    /// Checks pairs of neighbours among up to 64 tokens, given by their first bytes, which are at least one.
    #[inline]
    pub(super) fn pairs(&mut self, first_bytes: &[u8], kinds: &Kinds, around: Around) -> u64 {
        let length = first_bytes.len();
        let valid = u64::MAX >> (64 - length);
        let Kinds { strings, colons, commas, brackets } = *kinds;
        let Around { object, nothing, wrong } = around;
        let opening = brackets.all & !brackets.closing;
        let closing = brackets.all & brackets.closing;
        let ends = !(colons | commas | opening);
        let values = !(colons | commas | closing);
        let begin_objects = opening & brackets.of_objects;
        let class = |at: usize| {
            let class = TOKENS.get(usize::from(first_bytes[at])).copied().unwrap_or_default();
            let in_object = if object >> at & 1 == 1 { IN_OBJECT } else { 0 };
            let at_top = if nothing >> at & 1 == 1 { TOP } else { 0 };
            class | in_object | at_top
        };
        // The tables know what may follow the token before the first.
        let followers = FOLLOWERS[usize::from(self.last) % 64];
        let first = usize::from(class(0)) % 16;
        let mut all_wrong = wrong | u64::from(followers & BITS[first] == 0);
        let key_places = (commas & object | begin_objects) << 1;
        let keys = strings & (key_places | u64::from(followers & KEY_FOLLOWS != 0));
        all_wrong |= colons ^ (keys << 1 | u64::from(self.is_key));
        all_wrong |= (commas & object) << 1 & !strings;
        all_wrong |= begin_objects << 1 & !(strings | closing);
        all_wrong |= (opening & !begin_objects) << 1 & !(values | closing);
        all_wrong |= (colons | commas & !object) << 1 & !values;
        all_wrong |= (ends & !nothing) << 1 & !(commas | closing | colons);
        all_wrong |= (ends & nothing) << 1 & !values;
        all_wrong |= commas & nothing;
        self.documents += u64::from((nothing & valid).count_ones());
        self.is_key = keys >> (length - 1) & 1 == 1;
        self.before_last = if length > 1 { class(length - 2) } else { self.last };
        self.last = class(length - 1);
        all_wrong & valid
    }

    /// Matches brackets, and finds what is around each token; for brackets that close, around the whole value.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
    pub(super) fn around(&mut self, mut brackets: Brackets) -> Around {
        let Brackets { closing, of_objects, .. } = brackets;
        let (mut filled, mut in_object, mut wrong) = (0, 0, 0);
        for _ in 0..ROUNDS {
            let all = brackets.all;
            let closing_next = _pext_u64(closing, all);
            let objects = _pext_u64(of_objects, all);
            let opening = _pext_u64(all & !closing, all);
            let ends = opening << 1 & closing_next;
            wrong |= (objects ^ objects << 1) & ends;
            let (begin, end) = (_pdep_u64(ends >> 1, all), _pdep_u64(ends, all));
            // Subtracting fills from each beginning up to its end.
            let inside = (end & of_objects).wrapping_sub(begin & of_objects);
            in_object |= inside & !filled;
            filled |= end.wrapping_sub(begin);
            brackets.all &= !(begin | end);
        }
        let rest = self.one_by_one(brackets);
        Around {
            object: rest.object & !filled | in_object,
            nothing: rest.nothing & !filled,
            // Any bit: the tokens that are wrong may lie beyond the end of `valid`.
            wrong: if wrong | rest.wrong != 0 { u64::MAX } else { 0 },
        }
    }

    /// Does the same; without PEXT, all brackets are read one by one.
    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    pub(super) fn around(&mut self, brackets: Brackets) -> Around {
        let found = self.one_by_one(brackets);
        // Any bit: the tokens that are wrong may lie beyond the end of `valid`.
        Around { wrong: if found.wrong != 0 { u64::MAX } else { 0 }, ..found }
    }

    #[inline]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "bmi1,bmi2,lzcnt,popcnt"))]
    fn one_by_one(&mut self, brackets: Brackets) -> Around {
        let mut stack = self.stack;
        let is_object = |stack: u64| if stack > 1 && stack & 1 == 1 { u64::MAX } else { 0 };
        let is_nothing = |stack: u64| if stack == 1 { u64::MAX } else { 0 };
        let (mut object, mut nothing) = (is_object(stack), is_nothing(stack));
        let (mut left, mut wrong) = (brackets.all, 0);
        while left != 0 {
            let at = left.trailing_zeros();
            left &= left - 1;
            let from = u64::MAX << at;
            let kind = brackets.of_objects >> at & 1;
            let closes = brackets.closing >> at & 1;
            wrong |= (stack ^ kind) & closes;
            wrong |= stack >> MOST_LEVELS & !closes;
            stack = if closes == 1 { stack >> 1 } else { stack << 1 | kind };
            wrong |= u64::from(stack == 0);
            object = object & !from | is_object(stack) & from;
            nothing = nothing & !from | is_nothing(stack) & from;
        }
        self.stack = stack;
        Around { object, nothing, wrong }
    }
}
