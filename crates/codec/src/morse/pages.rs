//! Tables for the encoding kernels, computed once from [`naive::code`], a page of 128 characters at a time.

use std::sync::OnceLock;

use unicode_normalization::char::{compose, decompose_canonical};

use super::{Alphabet, OnError, naive, tables};

/// Length that marks a text which does not fit; [`Codes::long`] has it.
pub(super) const LONG: u8 = 0xFF;
/// Value of `first` for a character that kernels leave to the slow path.
pub(super) const LEFT_OUT: u8 = 0xFF;
/// Sign that replaces a character without a code.
pub(super) const NOT_UNDERSTOOD: &str = "..--..";

/// Codes of 128 characters.
pub(super) struct Page {
    /// The signs, a space after each. The last byte is the length: 0 for no code, [`LONG`] for one of more than 15
    /// bytes.
    pub(super) text: [[u8; 16]; 128],
    /// Dashes of the first sign, as bits of a slot of eight bytes: a gap, then up to seven elements.
    pub(super) dash: [u8; 128],
    /// Bits of the slot that are written, including the gap; for a control character only bit 1, and 0 for no code.
    pub(super) keep: [u8; 128],
    /// The byte after the gap: `.`, `-`, `/` or the control character, with one of [`MARKS`]; or [`LEFT_OUT`].
    pub(super) first: [u8; 128],
}

/// Second signs of voiced kana, with the bits of [`Page::first`] that request them.
pub(super) const MARKS: [(u8, &str); 2] = [(0x80, ".."), (0x40, "..--.")];

/// Pairs of ASCII characters, ready to be written.
pub(super) struct Pairs {
    /// Signs of a pair, indexed by its two bytes as a little-endian number. A space follows each sign that no control
    /// character follows.
    pub(super) text: Vec<[u8; 16]>,
    /// Length of the text in bits 0 to 4, and the flags below.
    pub(super) shape: Vec<u8>,
}

/// Flag of a text that begins with a control character, which removes a gap before it.
pub(super) const BEGINS_IN_CONTROL: u8 = 0x20;
/// Flag of a text that ends in a control character; any other ends in a gap.
pub(super) const ENDS_IN_CONTROL: u8 = 0x40;
/// Flag of a pair that the fast paths cannot take. A shape without any flag is a length.
pub(super) const NO_PAIR: u8 = 0x80;
/// Number of pairs in the tables: both bytes are below 0x80.
pub(super) const PAIRS: usize = 0x8000;

/// Number of characters that UTF-8 encodes in one byte or two.
pub(super) const SHORT: usize = 0x800;

/// All pages of an alphabet, or of all scripts.
pub(super) struct Codes {
    alphabet: Option<Alphabet>,
    index: [u8; 512],
    pages: Vec<Page>,
    /// The texts that do not fit, those of ASCII first.
    long: Vec<(char, Long)>,
    /// The characters that a mark after them may change.
    bases: Vec<char>,
    /// Codes of pairs of ASCII characters.
    pub(super) pairs: Pairs,
    /// The texts of the first [`SHORT`] characters, as in [`Page::text`], but with the length 0 for what is neither signs nor fits.
    pub(super) short: Vec<[u8; 16]>,
}

/// What the encoding kernels need to know.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub(super) codes: &'static Codes,
    pub(super) on_error: OnError,
}

impl Codes {
    /// Returns the codes of an alphabet, or of all scripts.
    pub(super) fn of(alphabet: Option<Alphabet>) -> &'static Self {
        static CODES: [OnceLock<Codes>; Alphabet::ALL.len() + 1] =
            [const { OnceLock::new() }; Alphabet::ALL.len() + 1];
        let index = alphabet.map_or(0, |alphabet| alphabet as usize + 1);
        CODES[index].get_or_init(|| Self::new(alphabet))
    }

    fn new(alphabet: Option<Alphabet>) -> Self {
        let mut codes = Self {
            alphabet,
            index: [0; 512],
            pages: vec![Page::empty()],
            long: Vec::new(),
            bases: Vec::new(),
            pairs: Pairs::EMPTY,
            short: Vec::new(),
        };
        let rows = tables::encoded(alphabet).into_iter().flatten();
        let known = rows.flat_map(|row| row.0.chars()).chain(naive::SPACES);
        for character in known.chain(tables::spelled()) {
            if let Some(signs) = naive::code_in(alphabet, character) {
                codes.add(character, &signs);
            }
        }
        for left_out in naive::MARKS.into_iter().flatten().chain([naive::BYTE_ORDER_MARK]) {
            if let Some(page) = codes.page_mut(left_out) {
                page.first[left_out as usize & 0x7F] = LEFT_OUT;
            }
        }
        if let Some(ascii) = codes.page_mut('\0') {
            b"\t\n\r".iter().for_each(|control| ascii.set_control(*control));
            codes.pairs = Pairs::new(codes.page(0));
        }
        codes.short = (0..).take(SHORT).map(|character| codes.short_text(character)).collect();
        codes.long.sort_unstable_by_key(|(character, _)| *character);
        codes.bases.sort_unstable();
        codes.bases.dedup();
        codes
    }

    fn add(&mut self, character: char, signs: &str) {
        let Some(page) = self.page_mut(character) else { return };
        page.set(character as usize & 0x7F, signs);
        if page.first[character as usize & 0x7F] == LEFT_OUT {
            self.long.push((character, Long::new(&format!("{signs} "))));
        }
        let mut parts = Vec::new();
        decompose_canonical(character, |part| parts.push(part));
        let mut base = parts[0];
        for mark in &parts[1..] {
            self.bases.push(base);
            base = compose(base, *mark).unwrap_or(base);
        }
    }

    /// Returns the page of a character, and makes it if there is none; `None` beyond the basic plane.
    fn page_mut(&mut self, character: char) -> Option<&mut Page> {
        let slot = self.index.get_mut(character as usize >> 7)?;
        if *slot == 0 {
            *slot = self.pages.len().to_le_bytes()[0];
            self.pages.push(Page::empty());
        }
        self.pages.get_mut(usize::from(*slot))
    }

    fn short_text(&self, character: u32) -> [u8; 16] {
        let mut text = *self.text(character);
        let is_control = self.page(character).keep[character as usize & 0x7F] == 0b10;
        if text[15] == LONG || is_control {
            text[15] = 0;
        }
        text
    }

    /// Tells whether a mark after a character may give it another code.
    pub(super) fn is_base(&self, character: char) -> bool {
        self.bases.binary_search(&character).is_ok()
    }

    /// Returns the character that `base` and the `mark` after it make; see [`naive::whole`].
    pub(super) fn whole(&self, base: char, mark: char) -> Option<char> {
        if self.is_base(base) { naive::whole(self.alphabet, base, mark) } else { None }
    }

    /// Returns the page of a character; an empty one for characters without a code.
    #[inline]
    pub(super) fn page(&self, character: u32) -> &Page {
        let page = self.index.get(character as usize >> 7).copied().unwrap_or(0);
        &self.pages[usize::from(page)]
    }

    /// Returns the signs of a character, with the length as the last byte; see [`Page::text`].
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
    /// The signs in the form of [`bits`].
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

    /// Returns the signs as bits of slots.
    #[cfg(target_arch = "x86_64")]
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
    /// Returns the signs of a character that kernels leave out; `None` if it has none or the kernels handle it.
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
            if text[15] == 0 {
                return None;
            }
            long.append(&text[..usize::from(text[15])]);
        }
        Some(long)
    }
}

/// Returns a sign as bits of a slot: its dashes, and the bits to write.
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
    const EMPTY: Self = Self { text: Vec::new(), shape: Vec::new() };

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
            | if is_control(second) { ENDS_IN_CONTROL } else { 0 };
    }
}
