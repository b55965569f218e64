//! The tables as kernels want them: computed once from [`naive::code`], a page of 128 characters at a time.

use std::sync::OnceLock;

use super::naive;
use super::tables;

/// Length of a text that does not fit: ask [`Codes::long`].
pub(super) const LONG: u8 = 0xFF;
/// `first` of a character that kernels leave to the slow path.
pub(super) const LEFT_OUT: u8 = 0xFF;
/// What stands for a character without a code.
pub(super) const NOT_UNDERSTOOD: &str = "..--..";

/// 128 characters.
pub(super) struct Page {
    /// The signs, a space after each; the last byte is the length, 0 for no code, [`LONG`] for one of more than 15 bytes.
    pub(super) text: [[u8; 16]; 128],
    /// The first sign as bits, for a slot of eight bytes: a gap, then up to seven elements. Bits of the dashes.
    pub(super) dash: [u8; 128],
    /// Bits of the slot that are written, the gap among them; of a control character only bit 1. 0: no code.
    pub(super) keep: [u8; 128],
    /// The byte after the gap: `.`, `-`, `/` or the control character, with one of [`MARKS`]; or [`LEFT_OUT`].
    pub(super) first: [u8; 128],
}

/// Second signs of voiced kana, and the bits of [`Page::first`] that ask for them.
pub(super) const MARKS: [(u8, &str); 2] = [(0x80, ".."), (0x40, "..--.")];

/// A pair of ASCII characters, ready to be written.
pub(super) struct Pairs {
    /// Indexed by the two bytes as a little-endian number: signs, a space after each that no control character follows.
    pub(super) text: Vec<[u8; 16]>,
    /// Length of the text in bits 0 to 4, and the flags below.
    pub(super) shape: Vec<u8>,
}

/// The text begins with a control character: a gap before it goes.
pub(super) const BEGINS_IN_CONTROL: u8 = 0x20;
/// The text ends in a gap.
pub(super) const ENDS_IN_GAP: u8 = 0x40;
/// Not a pair for fast paths.
pub(super) const NO_PAIR: u8 = 0x80;
/// Pairs there are room for: both bytes below 0x80.
pub(super) const PAIRS: usize = 0x8000;

/// All pages.
pub(super) struct Codes {
    index: [u8; 512],
    pages: Vec<Page>,
    /// The texts that do not fit, those of ASCII first.
    long: Vec<(char, Long)>,
    /// See [`Pairs`].
    pub(super) pairs: Pairs,
}

impl Codes {
    pub(super) fn get() -> &'static Self {
        static CODES: OnceLock<Codes> = OnceLock::new();
        CODES.get_or_init(Self::new)
    }

    fn new() -> Self {
        let mut index = [0; 512];
        let mut pages = vec![Page::empty()];
        let mut long: Vec<(char, Long)> = Vec::new();
        let known = tables::ENCODED.iter().copied().flatten().flat_map(|row| row.0.chars());
        for character in known.chain(" \u{A0}\u{3000}".chars()) {
            let Some(slot) = index.get_mut(character as usize >> 7) else { continue };
            if *slot == 0 {
                *slot = pages.len().to_le_bytes()[0];
                pages.push(Page::empty());
            }
            if let Some(signs) = naive::code(character) {
                let page = &mut pages[usize::from(*slot)];
                page.set(character as usize & 0x7F, &signs);
                if page.first[character as usize & 0x7F] == LEFT_OUT {
                    long.push((character, Long::new(&(signs + " "))));
                }
            }
        }
        let ascii = &mut pages[usize::from(index[0])];
        b"\t\n\r".iter().for_each(|control| ascii.set_control(*control));
        let pairs = Pairs::new(ascii);
        long.sort_unstable_by_key(|(character, _)| *character);
        Self { index, pages, long, pairs }
    }

    /// The page of a character; an empty one for those that have no code.
    #[inline]
    pub(super) fn page(&self, character: u32) -> &Page {
        let page = self.index.get(character as usize >> 7).copied().unwrap_or(0);
        &self.pages[usize::from(page)]
    }

    /// The signs of a character, with the length as the last byte; see [`Page::text`].
    #[inline]
    pub(super) fn text(&self, character: u32) -> &[u8; 16] {
        &self.page(character).text[character as usize & 0x7F]
    }
}

/// The signs of a character that has many.
#[derive(Clone, Copy)]
pub(super) struct Long {
    /// The signs, a space after each.
    bytes: [u8; 80],
    length: usize,
    /// The same as [`bits`].
    bits: [(u8, u8); 8],
    count: usize,
}

impl Long {
    const EMPTY: Self = Self { bytes: [0; 80], length: 0, bits: [(0, 0); 8], count: 0 };

    fn new(text: &str) -> Self {
        let mut long = Self::EMPTY;
        long.append(text.as_bytes());
        long
    }

    /// The signs as bits of slots.
    pub(super) fn bits(&self) -> &[(u8, u8)] {
        &self.bits[..self.count]
    }

    pub(super) fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn append(&mut self, text: &[u8]) {
        self.bytes[self.length..][..text.len()].copy_from_slice(text);
        self.length += text.len();
        for sign in text.trim_ascii_end().split(|byte| *byte == b' ') {
            self.bits[self.count] = bits(sign);
            self.count += 1;
        }
    }
}

impl Codes {
    /// The signs of a character that kernels leave out; or `None`, if it has none or they do not.
    pub(super) fn long(&self, character: char) -> Option<Long> {
        let Some(jamo) = tables::syllable(character) else {
            let first = self.page(character.into()).first[character as usize & 0x7F];
            if first != LEFT_OUT {
                return None;
            }
            return self.long.iter().find(|(long, _)| *long == character).map(|(_, long)| *long);
        };
        let mut long = Long::EMPTY;
        for jamo in jamo.into_iter().flatten() {
            let text = self.text(jamo.into());
            long.append(&text[..usize::from(text[15])]);
        }
        Some(long)
    }
}

/// A sign as bits of a slot: dashes, and the bits written.
pub(super) fn bits(sign: &[u8]) -> (u8, u8) {
    let dashes = sign.iter().rev().fold(0, |bits, element| bits << 1 | u8::from(*element == b'-'));
    let keep = (1u16 << (sign.len() + 1)) - 1;
    (dashes << 1, keep.to_le_bytes()[0])
}

impl Page {
    fn empty() -> Self {
        Self { text: [[0; 16]; 128], dash: [0; 128], keep: [0; 128], first: [0; 128] }
    }

    fn set(&mut self, index: usize, signs: &str) {
        let length = signs.len() + 1;
        let text = &mut self.text[index];
        text[15] = LONG;
        if length <= 15 {
            text[..signs.len()].copy_from_slice(signs.as_bytes());
            text[signs.len()] = b' ';
            text[15] = length.to_le_bytes()[0];
        }
        let (sign, rest) = signs.split_once(' ').unwrap_or((signs, ""));
        let mark = match rest {
            "" => Some(0),
            rest => MARKS.iter().find(|(_, sign)| *sign == rest).map(|(bit, _)| *bit),
        };
        (self.dash[index], self.keep[index], self.first[index]) = match mark {
            Some(mark) => {
                let (dash, keep) = bits(sign.as_bytes());
                (dash, keep, mark | sign.as_bytes()[0])
            }
            None => (0, 0, LEFT_OUT),
        };
    }

    fn set_control(&mut self, control: u8) {
        let index = usize::from(control);
        self.text[index][0] = control;
        self.text[index][15] = 1;
        self.keep[index] = 0b10;
        self.first[index] = control;
    }
}

impl Pairs {
    fn new(ascii: &Page) -> Self {
        let mut pairs = Self { text: vec![[0; 16]; PAIRS], shape: vec![NO_PAIR; PAIRS] };
        for second in 0..128 {
            for first in 0..128 {
                pairs.set(ascii, first, second);
            }
        }
        pairs
    }

    fn set(&mut self, ascii: &Page, first: usize, second: usize) {
        let is_control = |index: usize| ascii.keep[index] == 0b10;
        let (a, b) = (&ascii.text[first], &ascii.text[second]);
        let can_be_joined = |text: &[u8; 16]| (1..=8).contains(&text[15]);
        if !can_be_joined(a) || !can_be_joined(b) {
            return;
        }
        let is_gap_dropped = is_control(second) && !is_control(first);
        let split = usize::from(a[15] - u8::from(is_gap_dropped));
        let length = split + usize::from(b[15]);
        let index = first | second << 8;
        self.text[index][..split].copy_from_slice(&a[..split]);
        self.text[index][split..length].copy_from_slice(&b[..length - split]);
        self.shape[index] = length.to_le_bytes()[0]
            | if is_control(first) { BEGINS_IN_CONTROL } else { 0 }
            | if is_control(second) { 0 } else { ENDS_IN_GAP };
    }
}
