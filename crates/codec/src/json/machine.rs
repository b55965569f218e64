//! Reads JSON byte by byte: the only code that decides what is wrong, and where.

use super::Cause;
use super::between::{Between, MOST_LEVELS, Next, Stack};

/// Where in the grammar a stream is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the beginning, after this many bytes of a byte order mark.
    Begin(u8),
    Between(Next),
    /// After a number or literal that is a document.
    AfterScalar,
    /// In a string.
    Text,
    /// After a backslash.
    Escape,
    /// After `\u` and `seen` digits; `is_d`: the first is D; `is_high`: they begin the first half of a surrogate pair.
    Hex {
        seen: u8,
        is_d: bool,
        is_high: bool,
    },
    /// After the first half of a surrogate pair, and this many bytes of the second.
    Low(u8),
    /// In a character of which `left` bytes are missing; the next must lie in `least..=most`.
    Character {
        left: u8,
        least: u8,
        most: u8,
    },
    Minus,
    Zero,
    Digits,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
    /// In a literal of which this is missing.
    Literal(&'static [u8]),
    /// After an error; everything up to the next line end is skipped.
    Skipped,
}

/// Holds the state of a stream, and the documents that ended.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    state: State,
    stack: Stack,
    /// Whether the string in progress is a name.
    is_key: bool,
    pub(super) documents: u64,
}

impl Machine {
    pub(super) fn new() -> Self {
        Self { state: State::Begin(0), stack: Stack::EMPTY, is_key: false, documents: 0 }
    }

    /// Returns where the stream is, if that is between two tokens and not too deep for a kernel.
    pub(super) fn between(&self) -> Option<Between> {
        let State::Between(next) = self.state else { return None };
        Some(Between { next, stack: self.stack.innermost_first()? })
    }

    /// Continues at another position between two tokens.
    pub(super) fn go_on(&mut self, at: Between) {
        self.state = State::Between(at.next);
        self.stack = Stack::of_innermost_first(at.stack);
    }

    /// Forgets the document in progress, and skips the rest of the line.
    pub(super) fn skip_line(&mut self) {
        self.state = State::Skipped;
        self.stack = Stack::EMPTY;
    }

    /// Reads at least `least` bytes, and goes on to the next position where a kernel could begin; returns how many bytes it
    /// read.
    pub(super) fn run(&mut self, bytes: &[u8], least: usize) -> Result<usize, (usize, Cause)> {
        let mut at = 0;
        while at < bytes.len() {
            if at >= least && self.suits_kernel() {
                break;
            }
            let rest = &bytes[at..];
            at += match self.state {
                State::Text => plain(rest),
                State::Digits | State::Fraction | State::ExponentDigits => digits(rest),
                State::Skipped => {
                    let Some(end) = memchr::memchr(b'\n', rest) else { return Ok(bytes.len()) };
                    self.state = State::Between(Next::Document);
                    at += end + 1;
                    continue;
                }
                _ => 0,
            };
            if let Some(byte) = bytes.get(at) {
                self.step(*byte).map_err(|cause| (at, cause))?;
                at += 1;
            }
        }
        Ok(at)
    }

    fn suits_kernel(&self) -> bool {
        matches!(self.state, State::Between(_)) && self.stack.depth() <= MOST_LEVELS
    }

    /// Ends the stream.
    pub(super) fn end(&mut self) -> Result<(), Cause> {
        if self.is_whole_number() {
            self.end_value(true);
        }
        match self.state {
            State::Begin(0)
            | State::Between(Next::Document)
            | State::AfterScalar
            | State::Skipped => Ok(()),
            _ => Err(Cause::End),
        }
    }

    fn is_whole_number(&self) -> bool {
        matches!(self.state, State::Zero | State::Digits | State::Fraction | State::ExponentDigits)
    }

    fn step(&mut self, byte: u8) -> Result<(), Cause> {
        self.state = match (self.state, byte) {
            (State::Begin(0), 0xEF) => State::Begin(1),
            (State::Begin(1), 0xBB) => State::Begin(2),
            (State::Begin(2), 0xBF) => State::Between(Next::Document),
            (State::Begin(0), _) => return self.token(Next::Document, byte),
            (State::Begin(_), _) => return Err(Cause::Value),
            (State::Between(next), _) => return self.token(next, byte),
            (State::AfterScalar, _) => return self.separator(byte),
            (State::Text | State::Escape | State::Character { .. }, _) => {
                return self.text(byte);
            }
            (State::Hex { .. } | State::Low(_), _) => self.unicode(byte)?,
            (State::Minus, b'0') => State::Zero,
            (State::Minus, b'1'..=b'9') | (State::Digits, b'0'..=b'9') => State::Digits,
            (State::Zero | State::Digits, b'.') => State::Point,
            (State::Point | State::Fraction, b'0'..=b'9') => State::Fraction,
            (State::Zero | State::Digits | State::Fraction, b'e' | b'E') => State::Exponent,
            (State::Exponent, b'+' | b'-') => State::ExponentSign,
            (State::Exponent | State::ExponentSign | State::ExponentDigits, b'0'..=b'9') => {
                State::ExponentDigits
            }
            (State::Zero, b'0'..=b'9') => return Err(Cause::Number),
            (State::Literal([byte_there, rest @ ..]), _) if byte == *byte_there => {
                if rest.is_empty() {
                    self.end_value(true);
                    return Ok(());
                }
                State::Literal(rest)
            }
            (State::Literal(_), _) => return Err(Cause::Literal),
            _ if self.is_whole_number() => {
                self.end_value(true);
                return self.step(byte);
            }
            _ => return Err(Cause::Number),
        };
        Ok(())
    }

    /// Handles a byte between two tokens.
    fn token(&mut self, next: Next, byte: u8) -> Result<(), Cause> {
        let is_in_object = self.stack.is_in_object();
        let cause = match next {
            Next::Document | Next::Value => Cause::Value,
            Next::ValueOrEnd => Cause::ValueOrEnd,
            Next::Key => Cause::Key,
            Next::KeyOrEnd => Cause::KeyOrEnd,
            Next::Colon => Cause::Colon,
            Next::Comma if is_in_object => Cause::NextInObject,
            Next::Comma => Cause::NextInArray,
        };
        match (next, byte) {
            (_, b' ' | b'\t' | b'\r' | b'\n') | (Next::Document, 0x1E) => {
                self.state = State::Between(next);
            }
            (Next::Document | Next::Value | Next::ValueOrEnd, b'"') => self.begin_string(false),
            (Next::Key | Next::KeyOrEnd, b'"') => self.begin_string(true),
            (Next::Document | Next::Value | Next::ValueOrEnd, _) if byte != b']' => {
                return self.begin_value(byte, cause);
            }
            (Next::Colon, b':') => self.state = State::Between(Next::Value),
            (Next::Comma, b',') if is_in_object => self.state = State::Between(Next::Key),
            (Next::Comma, b',') => self.state = State::Between(Next::Value),
            (Next::Comma, b'}') if is_in_object => self.close(),
            (Next::Comma, b']') if !is_in_object => self.close(),
            (Next::KeyOrEnd, b'}') | (Next::ValueOrEnd, b']') => self.close(),
            _ => return Err(cause),
        }
        Ok(())
    }

    fn begin_string(&mut self, is_key: bool) {
        self.is_key = is_key;
        self.state = State::Text;
    }

    fn begin_value(&mut self, byte: u8, cause: Cause) -> Result<(), Cause> {
        self.state = match byte {
            b'{' | b'[' => {
                if !self.stack.push(byte == b'{') {
                    return Err(Cause::TooDeep);
                }
                State::Between(if byte == b'{' { Next::KeyOrEnd } else { Next::ValueOrEnd })
            }
            b't' => State::Literal(b"rue"),
            b'f' => State::Literal(b"alse"),
            b'n' => State::Literal(b"ull"),
            b'-' => State::Minus,
            b'0' => State::Zero,
            b'1'..=b'9' => State::Digits,
            _ => return Err(cause),
        };
        Ok(())
    }

    fn close(&mut self) {
        self.stack.pop();
        self.end_value(false);
    }

    fn end_value(&mut self, is_scalar: bool) {
        self.state = if self.stack.depth() > 0 {
            State::Between(Next::Comma)
        } else {
            self.documents += 1;
            if is_scalar { State::AfterScalar } else { State::Between(Next::Document) }
        };
    }

    fn separator(&mut self, byte: u8) -> Result<(), Cause> {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x1E | b'"' | b'[' | b']' | b'{' | b'}' | b','
            | b':' => self.token(Next::Document, byte),
            _ => {
                // What was counted when the number or literal seemed to end is no document.
                self.documents = self.documents.saturating_sub(1);
                Err(Cause::Separator)
            }
        }
    }

    /// Handles a byte of a string outside of `\u`.
    fn text(&mut self, byte: u8) -> Result<(), Cause> {
        self.state = match (self.state, byte) {
            (State::Escape, b'u') => State::Hex { seen: 0, is_d: false, is_high: false },
            (State::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => State::Text,
            (State::Escape, _) => return Err(Cause::Escape),
            (State::Character { left, least, most }, _) => {
                if !(least..=most).contains(&byte) {
                    return Err(Cause::Utf8);
                }
                match left {
                    1 => State::Text,
                    _ => State::Character { left: left - 1, least: 0x80, most: 0xBF },
                }
            }
            (_, b'"') if self.is_key => State::Between(Next::Colon),
            (_, b'"') => {
                self.end_value(false);
                return Ok(());
            }
            (_, b'\\') => State::Escape,
            (_, ..0x20) => return Err(Cause::Control),
            (_, ..0x80) => State::Text,
            (_, lead) => character(lead)?,
        };
        Ok(())
    }

    /// Handles a byte after `\u`, or of the second half of a surrogate pair.
    fn unicode(&self, byte: u8) -> Result<State, Cause> {
        let digit = char::from(byte).to_digit(16);
        match (self.state, digit) {
            (State::Low(0), _) if byte == b'\\' => Ok(State::Low(1)),
            (State::Low(1), _) if byte == b'u' => Ok(State::Low(2)),
            (State::Low(0 | 1), _) => Err(Cause::Surrogate),
            (_, None) => Err(Cause::Hexadecimal),
            (State::Low(2), Some(0xD)) => Ok(State::Low(3)),
            (State::Low(3), Some(0xC..)) => Ok(State::Low(4)),
            (State::Low(2 | 3), _) => Err(Cause::Surrogate),
            (State::Low(4), _) => Ok(State::Low(5)),
            (State::Low(_), _) => Ok(State::Text),
            (State::Hex { seen: 1, is_d: true, .. }, Some(0xC..)) => Err(Cause::Surrogate),
            (State::Hex { seen: 0, .. }, Some(digit)) => {
                Ok(State::Hex { seen: 1, is_d: digit == 0xD, is_high: false })
            }
            (State::Hex { seen: 1, is_d, .. }, Some(digit)) => {
                Ok(State::Hex { seen: 2, is_d, is_high: is_d && digit >= 8 })
            }
            (State::Hex { seen: 2, is_d, is_high }, _) => Ok(State::Hex { seen: 3, is_d, is_high }),
            (State::Hex { is_high: true, .. }, _) => Ok(State::Low(0)),
            _ => Ok(State::Text),
        }
    }
}

/// Returns the state after the first byte of a character.
///
/// Source: The Unicode Standard, table 3-7 (well-formed UTF-8).
fn character(lead: u8) -> Result<State, Cause> {
    let (left, least, most) = match lead {
        0xC2..=0xDF => (1, 0x80, 0xBF),
        0xE0 => (2, 0xA0, 0xBF),
        0xED => (2, 0x80, 0x9F),
        0xE1..=0xEF => (2, 0x80, 0xBF),
        0xF0 => (3, 0x90, 0xBF),
        0xF1..=0xF3 => (3, 0x80, 0xBF),
        0xF4 => (3, 0x80, 0x8F),
        _ => return Err(Cause::Utf8),
    };
    Ok(State::Character { left, least, most })
}

/// Most bytes of a string that are looked at in one go.
const MOST_PLAIN: usize = 4096;

/// Returns how many bytes at the beginning are plain text of a string: whole characters without quotes, backslashes and
/// control characters. It may return fewer.
fn plain(bytes: &[u8]) -> usize {
    let near = &bytes[..bytes.len().min(MOST_PLAIN)];
    let near = memchr::memchr2(b'"', b'\\', near).map_or(near, |end| &near[..end]);
    let has_controls = near.iter().fold(false, |has, byte| has | (*byte < 0x20));
    let control = if has_controls { near.iter().position(|byte| *byte < 0x20) } else { None };
    let near = control.map_or(near, |end| &near[..end]);
    simdutf8::compat::from_utf8(near).map_or_else(|error| error.valid_up_to(), str::len)
}

/// Returns how many bytes at the beginning are digits.
fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}
