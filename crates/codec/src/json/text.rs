//! Strings in 64 bytes, as bits of a word.

use super::classes::{ESCAPES, HEXADECIMAL, HIGH, IS_D, LOW};

/// What a block leaves for the next.
#[derive(Clone, Copy, Default)]
pub(super) struct Text {
    /// All bits are 1 within a string.
    in_string: u64,
    /// 1 when the next byte is escaped.
    escaped: u64,
    /// The last byte belongs to a number or literal.
    scalar: u64,
    unicode: Unicode,
}

/// Escapes `\u` of the last block: at their letter u, D after it, and at the second digit of a first half.
#[derive(Clone, Copy, Default)]
struct Unicode {
    letters: u64,
    ds: u64,
    highs: u64,
    is_pending: bool,
}

impl Text {
    pub(super) fn is_in_string(&self) -> bool {
        self.in_string != 0
    }

    pub(super) fn is_in_scalar(&self) -> bool {
        self.scalar != 0
    }

    /// Whether escapes of the last block go on in the next.
    #[inline]
    pub(super) fn is_escape_pending(&self) -> bool {
        self.unicode.is_pending
    }

    /// Returns which bytes are escaped by a backslash before them.
    ///
    /// Source: simdjson, `json_escape_scanner`: a run of backslashes escapes every other byte of itself.
    #[inline]
    pub(super) fn escaped(&mut self, backslashes: u64) -> u64 {
        const ODD: u64 = 0xAAAA_AAAA_AAAA_AAAA;
        let may_escape = backslashes & !self.escaped;
        let codes = (may_escape << 1 | ODD).wrapping_sub(may_escape) ^ ODD;
        let escaped = codes ^ (backslashes | self.escaped);
        self.escaped = (codes & backslashes) >> 63;
        escaped
    }

    /// Returns the bytes in strings with the quotes before but not after them; `quotes_up_to` has, for each byte, whether
    /// the number of quotes up to it is odd.
    #[inline]
    pub(super) fn inside(&mut self, quotes_up_to: u64) -> u64 {
        let inside = quotes_up_to ^ self.in_string;
        self.in_string = (inside.cast_signed() >> 63).cast_unsigned();
        inside
    }

    /// Returns the bytes after one of a number or literal.
    #[inline]
    pub(super) fn after_scalar(&mut self, scalar: u64) -> u64 {
        let after = scalar << 1 | self.scalar;
        self.scalar = scalar >> 63;
        after
    }

    /// Checks escapes other than those of one character; returns something other than 0 when one is wrong.
    pub(super) fn check_unicode(&mut self, of: &Escapes, unusual: u64) -> u64 {
        let letters = unusual & of.letters;
        let mut wrong = unusual & !letters;
        let before = self.unicode.letters;
        let digits = letters << 1 | letters << 2 | letters << 3 | letters << 4;
        let digits = digits | before >> 63 | before >> 62 | before >> 61 | before >> 60;
        wrong |= digits & !of.hexadecimal;
        let ds = (letters << 1 | before >> 63) & of.ds;
        let seconds = ds << 1 | self.unicode.ds >> 63;
        let highs = seconds & of.high;
        // The second half of a pair is six bytes after the first.
        wrong |= seconds & of.low ^ (highs << 6 | self.unicode.highs >> 58);
        let is_pending = letters >> 60 | ds >> 63 | highs >> 58 != 0;
        self.unicode = Unicode { letters, ds, highs, is_pending };
        wrong
    }
}

/// Which bytes of 64 are what in an escape.
pub(super) struct Escapes {
    /// u.
    pub(super) letters: u64,
    pub(super) hexadecimal: u64,
    /// d and D.
    pub(super) ds: u64,
    /// The second digit of a first half of a surrogate pair, and of a second half.
    pub(super) high: u64,
    pub(super) low: u64,
}

impl Escapes {
    /// Looks every byte up.
    pub(super) fn of(block: &[u8; 64]) -> Self {
        let all = |test: &dyn Fn(u8) -> bool| {
            block.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(test(*byte)))
        };
        let has =
            |bit: u8| all(&|byte| ESCAPES.get(usize::from(byte)).is_some_and(|b| b & bit != 0));
        Self {
            letters: all(&|byte| byte == b'u'),
            hexadecimal: has(HEXADECIMAL),
            ds: has(IS_D),
            high: has(HIGH),
            low: has(LOW),
        }
    }
}
