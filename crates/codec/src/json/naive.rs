//! Checks a whole text, one production of RFC 8259 after the other.

use super::{Cause, MOST_DEPTH};
use crate::utf8::first::{First, first};

/// Where a text is wrong (bytes before it), and why.
pub type Fault = (usize, Cause);

/// Returns how many documents the text consists of.
///
/// # Errors
/// The first byte with which no valid text can continue.
pub fn check(text: &[u8]) -> Result<u64, Fault> {
    let mut reader = Reader { text, at: 0 };
    if text.first() == Some(&0xEF) {
        for byte in [0xEF, 0xBB, 0xBF] {
            reader.expect(&[byte], Cause::Value)?;
        }
    }
    let mut documents = 0;
    loop {
        while matches!(reader.peek(), Some(b' ' | b'\t' | b'\r' | b'\n' | 0x1E)) {
            reader.at += 1;
        }
        let Some(begin) = reader.peek() else { return Ok(documents) };
        reader.value(0, Cause::Value)?;
        documents += 1;
        let separator = b" \t\r\n\x1E\"[]{},:";
        if !matches!(begin, b'"' | b'[' | b'{')
            && reader.peek().is_some_and(|byte| !separator.contains(&byte))
        {
            return Err((reader.at, Cause::Separator));
        }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Takes a byte that is one of `allowed`.
    fn expect(&mut self, allowed: &[u8], cause: Cause) -> Result<u8, Fault> {
        let byte = self.peek().ok_or((self.at, Cause::End))?;
        if !allowed.contains(&byte) {
            return Err((self.at, cause));
        }
        self.at += 1;
        Ok(byte)
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize, cause: Cause) -> Result<(), Fault> {
        match self.peek() {
            Some(b'{' | b'[') if depth == MOST_DEPTH => Err((self.at, Cause::TooDeep)),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string(),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err((self.at, cause)),
            None => Err((self.at, Cause::End)),
        }
    }

    fn object(&mut self, depth: usize) -> Result<(), Fault> {
        self.at += 1;
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        let mut cause = Cause::KeyOrEnd;
        loop {
            self.space();
            match self.peek() {
                Some(b'"') => self.string()?,
                Some(_) => return Err((self.at, cause)),
                None => return Err((self.at, Cause::End)),
            }
            self.space();
            self.expect(b":", Cause::Colon)?;
            self.space();
            self.value(depth, Cause::Value)?;
            self.space();
            if self.expect(b",}", Cause::NextInObject)? == b'}' {
                return Ok(());
            }
            cause = Cause::Key;
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), Fault> {
        self.at += 1;
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        let mut cause = Cause::ValueOrEnd;
        loop {
            self.space();
            self.value(depth, cause)?;
            self.space();
            if self.expect(b",]", Cause::NextInArray)? == b']' {
                return Ok(());
            }
            cause = Cause::Value;
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Fault> {
        word.iter().try_for_each(|byte| self.expect(&[*byte], Cause::Literal).map(drop))
    }

    fn digits(&mut self) -> Result<(), Fault> {
        self.expect(b"0123456789", Cause::Number)?;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
            if matches!(self.peek(), Some(b'0'..=b'9')) {
                return Err((self.at, Cause::Number));
            }
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            match rest.first() {
                None => return Err((self.at, Cause::End)),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.escape()?,
                Some(..0x20) => return Err((self.at, Cause::Control)),
                Some(lead) => match first(rest) {
                    First::Character(_, length) => self.at += length,
                    First::Unfinished => return Err((self.text.len(), Cause::End)),
                    First::Malformed(length) => {
                        let begins_character = (0xC2..=0xF4).contains(lead);
                        let wrong = self.at + if begins_character { length } else { 0 };
                        return Err((wrong, Cause::Utf8));
                    }
                },
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        self.at += 1;
        if self.expect(b"\"\\/bfnrtu", Cause::Escape)? != b'u' {
            return Ok(());
        }
        let first = self.hexadecimal()?;
        let second_at = self.at;
        let second = self.hexadecimal()?;
        let is_surrogate = first == 0xD && second >= 8;
        if is_surrogate && second >= 0xC {
            return Err((second_at, Cause::Surrogate));
        }
        self.hexadecimal()?;
        self.hexadecimal()?;
        if !is_surrogate {
            return Ok(());
        }
        self.expect(b"\\", Cause::Surrogate)?;
        self.expect(b"u", Cause::Surrogate)?;
        for least in [0xD, 0xC] {
            let at = self.at;
            let digit = self.hexadecimal()?;
            if digit < least || (least == 0xD && digit != 0xD) {
                return Err((at, Cause::Surrogate));
            }
        }
        self.hexadecimal()?;
        self.hexadecimal()?;
        Ok(())
    }

    fn hexadecimal(&mut self) -> Result<u32, Fault> {
        let byte = self.expect(b"0123456789abcdefABCDEF", Cause::Hexadecimal)?;
        Ok(char::from(byte).to_digit(16).unwrap_or_default())
    }
}
