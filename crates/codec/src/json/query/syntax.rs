//! Mistakes in paths and expressions, and what both are read from.

use std::fmt;

/// A mistake in the text of a path or expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Where it is: bytes before it; the length of the text if something is missing at its end. Always the beginning of a
    /// character.
    pub at: usize,
    /// What was expected there, or what is wrong, such as `expected a name in quotes`.
    pub message: String,
}

impl SyntaxError {
    pub(super) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// A position in the text of a path or expression.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) text: &'a str,
    /// Bytes before it: the beginning of a character.
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Self {
        Self { text, at }
    }

    /// Returns what is not read yet.
    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes the text if it comes next.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let is_next = self.rest().starts_with(text);
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Takes all characters up to the first of another kind.
    pub(super) fn take_while(&mut self, is_wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|letter| !is_wanted(letter)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    pub(super) fn skip_space(&mut self) {
        self.take_while(|letter| letter.is_ascii_whitespace());
    }

    /// Returns a mistake at this position.
    pub(super) fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(self.at, message)
    }

    /// Takes a string that begins with the quote at this position, and returns it decoded. The escapes are those of JSON,
    /// and the quote.
    pub(super) fn string(&mut self) -> Result<String, SyntaxError> {
        let begin = self.at;
        let quote = self.peek().unwrap_or('"');
        self.at += quote.len_utf8();
        let mut decoded = String::new();
        loop {
            decoded.push_str(self.take_while(|letter| letter != quote && letter != '\\'));
            match self.peek() {
                None => {
                    return Err(SyntaxError::new(begin, format!("this {quote} is never closed")));
                }
                Some('\\') => decoded.push(self.escape(quote)?),
                Some(_) => {
                    self.at += quote.len_utf8();
                    return Ok(decoded);
                }
            }
        }
    }

    /// Takes a backslash and what belongs to it.
    fn escape(&mut self, quote: char) -> Result<char, SyntaxError> {
        let begin = self.at;
        self.at += 1;
        let letter = match self.peek() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => return self.unicode(begin),
            Some(letter) if letter == quote || letter == '\\' || letter == '/' => letter,
            _ => {
                let allowed = format!("expected one of {quote} \\ / b f n r t u after \\");
                return Err(self.error(allowed));
            }
        };
        self.at += 1;
        Ok(letter)
    }

    /// Takes the rest of an escape `\u…`, and of the second one if two make a character.
    fn unicode(&mut self, begin: usize) -> Result<char, SyntaxError> {
        let first = self.hexadecimal()?;
        let mut code = first;
        if first & 0xFC00 == 0xD800 && self.rest().starts_with("\\u") {
            self.at += 1;
            let second = self.hexadecimal()?;
            let is_low = second & 0xFC00 == 0xDC00;
            code = if is_low { 0x1_0000 + ((first & 0x3FF) << 10 | second & 0x3FF) } else { first };
        }
        let half = || SyntaxError::new(begin, "half of a surrogate pair");
        char::from_u32(code).ok_or_else(half)
    }

    /// Takes the letter u and four digits.
    fn hexadecimal(&mut self) -> Result<u32, SyntaxError> {
        self.at += 1;
        let digits = self.rest().as_bytes().iter().take(4);
        let digits = digits.map_while(|digit| char::from(*digit).to_digit(16));
        let (count, code) =
            digits.fold((0, 0), |(count, code), digit| (count + 1, code << 4 | digit));
        self.at += count;
        if count < 4 {
            return Err(self.error("expected four hexadecimal digits after \\u"));
        }
        Ok(code)
    }
}
