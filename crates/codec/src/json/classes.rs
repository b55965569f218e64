//! The classes of bytes and of pairs of tokens, as tables for kernels.

use super::between::Next;

// Classes of tokens. Brackets have bit 2; a closing one has bit 1, one of an object bit 0.
pub(super) const SCALAR: u8 = 0;
pub(super) const STRING: u8 = 1;
pub(super) const COLON: u8 = 2;
pub(super) const COMMA: u8 = 3;
pub(super) const BRACKET: u8 = 4;
pub(super) const CLOSES: u8 = 2;
pub(super) const OF_OBJECT: u8 = 1;
const BEGIN_ARRAY: u8 = BRACKET;
const BEGIN_OBJECT: u8 = BRACKET | OF_OBJECT;
const END_ARRAY: u8 = BRACKET | CLOSES;
const END_OBJECT: u8 = BRACKET | CLOSES | OF_OBJECT;
const WRONG: u8 = 8;

// What is around a token: nothing (`TOP`), an object, or (neither) an array.
pub(super) const IN_OBJECT: u8 = 16;
pub(super) const TOP: u8 = 32;

/// Classes of the first bytes of tokens.
pub(super) const TOKENS: [u8; 128] = {
    let mut table = of(b"0123456789-tfn", SCALAR + 1, [0; 128]);
    table = of(b"\"", STRING + 1, table);
    table = of(b":", COLON + 1, table);
    table = of(b",", COMMA + 1, table);
    table = of(b"[", BEGIN_ARRAY + 1, table);
    table = of(b"{", BEGIN_OBJECT + 1, table);
    table = of(b"]", END_ARRAY + 1, table);
    table = of(b"}", END_OBJECT + 1, table);
    // 0 so far: the byte begins no token.
    let mut byte = 0;
    while byte < 128 {
        table[byte] = if table[byte] == 0 { WRONG } else { table[byte] - 1 };
        byte += 1;
    }
    table
};

/// Adds `bit` to the entries of `bytes`.
const fn of(bytes: &[u8], bit: u8, mut table: [u8; 128]) -> [u8; 128] {
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] |= bit;
        index += 1;
    }
    table
}

// What may follow a token, as bits.
const VALUE: u8 = 1;
const TEXT: u8 = 2;
const MAY_COLON: u8 = 4;
const MAY_COMMA: u8 = 8;
const MAY_END_OBJECT: u8 = 16;
const MAY_END_ARRAY: u8 = 32;
/// A string that follows is a name.
pub(super) const KEY_FOLLOWS: u8 = 64;

/// The bit of each class of tokens among what may follow.
pub(super) const BITS: [u8; 16] = {
    let mut bits = [0; 16];
    bits[SCALAR as usize] = VALUE;
    bits[STRING as usize] = TEXT;
    bits[COLON as usize] = MAY_COLON;
    bits[COMMA as usize] = MAY_COMMA;
    bits[BEGIN_ARRAY as usize] = VALUE;
    bits[BEGIN_OBJECT as usize] = VALUE;
    bits[END_ARRAY as usize] = MAY_END_ARRAY;
    bits[END_OBJECT as usize] = MAY_END_OBJECT;
    bits
};

/// What may follow each class of tokens, with what is around the token; for a bracket that closes, around the whole value.
///
/// Which brackets match, and that exactly names are followed by a colon, is checked apart from this.
pub(super) const FOLLOWERS: [u8; 64] = {
    let mut table = [0; 64];
    let ends = [SCALAR, STRING, END_OBJECT, END_ARRAY];
    let mut index = 0;
    while index < ends.len() {
        table[ends[index] as usize] = MAY_COMMA | MAY_END_ARRAY;
        table[(ends[index] | IN_OBJECT) as usize] = MAY_COMMA | MAY_END_OBJECT;
        table[(ends[index] | TOP) as usize] = VALUE | TEXT;
        index += 1;
    }
    table[(STRING | IN_OBJECT) as usize] |= MAY_COLON;
    table[(COLON | IN_OBJECT) as usize] = VALUE | TEXT;
    table[COMMA as usize] = VALUE | TEXT;
    table[(COMMA | IN_OBJECT) as usize] = TEXT | KEY_FOLLOWS;
    let mut around = 0;
    while around < 64 {
        table[BEGIN_OBJECT as usize | around] = TEXT | MAY_END_OBJECT | KEY_FOLLOWS;
        table[BEGIN_ARRAY as usize | around] = VALUE | TEXT | MAY_END_ARRAY;
        around += 16;
    }
    table
};

// Bits of bytes after a backslash or `\u`.
pub(super) const HEXADECIMAL: u8 = 1;
pub(super) const IS_D: u8 = 2;
/// 8 to B: with a D before it, the first half of a surrogate pair.
pub(super) const HIGH: u8 = 4;
/// C to F: with a D before it, the second half.
pub(super) const LOW: u8 = 8;
/// Stands for itself or a control character after a backslash.
pub(super) const ESCAPED: u8 = 16;

// Bits of the last bytes of names that somebody looks for.
pub(super) const LAST: u8 = 32;
pub(super) const SECOND_LAST: u8 = 64;
pub(super) const THIRD_LAST: u8 = 128;

/// Bits of bytes in escapes.
pub(super) const ESCAPES: [u8; 128] = {
    let mut table = of(b"0123456789abcdefABCDEF", HEXADECIMAL, [0; 128]);
    table = of(b"dD", IS_D, table);
    table = of(b"89abAB", HIGH, table);
    table = of(b"cdefCDEF", LOW, table);
    of(b"\"\\/bfnrt", ESCAPED, table)
};

// Bits of bytes in numbers.
pub(super) const DIGIT: u8 = 1;
pub(super) const ZERO: u8 = 2;
pub(super) const POINT: u8 = 4;
pub(super) const MINUS: u8 = 8;
pub(super) const PLUS: u8 = 16;
pub(super) const LETTER_E: u8 = 32;
/// Ends a number or literal.
pub(super) const END: u8 = 64;

/// Bits of bytes in numbers and after them.
pub(super) const NUMBERS: [u8; 128] = {
    let mut table = of(b"0123456789", DIGIT, [0; 128]);
    table = of(b"0", ZERO, table);
    table = of(b".", POINT, table);
    table = of(b"-", MINUS, table);
    table = of(b"+", PLUS, table);
    table = of(b"eE", LETTER_E, table);
    of(b" \t\r\n{}[]:,\"", END, table)
};

/// Returns whether a byte ends a number or literal.
pub(super) fn ends_scalar(byte: u8) -> bool {
    NUMBERS.get(usize::from(byte)).is_some_and(|bits| bits & END != 0)
}

/// Returns a class of tokens, with what is around it, after which `next` may come; and whether it is a name.
pub(super) fn before(next: Next, is_in_object: bool) -> (u8, bool) {
    match next {
        Next::Document => (SCALAR | TOP, false),
        Next::Value => (COMMA, false),
        Next::ValueOrEnd => (BEGIN_ARRAY, false),
        Next::Key => (COMMA | IN_OBJECT, false),
        Next::KeyOrEnd => (BEGIN_OBJECT, false),
        Next::Colon => (STRING | IN_OBJECT, true),
        Next::Comma if is_in_object => (SCALAR | IN_OBJECT, false),
        Next::Comma => (SCALAR, false),
    }
}

/// Returns what may come after a token of this class, with what is around it.
pub(super) fn after(class: u8, is_key: bool) -> Next {
    match class & 15 {
        _ if is_key => Next::Colon,
        COLON => Next::Value,
        COMMA if class & IN_OBJECT != 0 => Next::Key,
        COMMA => Next::Value,
        BEGIN_ARRAY => Next::ValueOrEnd,
        BEGIN_OBJECT => Next::KeyOrEnd,
        _ if class & TOP != 0 => Next::Document,
        _ => Next::Comma,
    }
}
