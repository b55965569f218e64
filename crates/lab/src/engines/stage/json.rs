//! JSON cut into tokens, for well-formed input that may be cut anywhere.

/// Counts tokens: each bracket, brace, comma and colon, each string, each number or word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lexer {
    /// Bytes taken.
    pub(super) bytes: u64,
    /// Tokens begun.
    pub(super) tokens: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Between,
    Text,
    Escaped,
    /// In a number, or in `true`, `false` or `null`.
    Word,
}

impl Lexer {
    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let mut state = self.state;
        let mut tokens = 0_u64;
        for byte in bytes {
            let next = match (state, byte) {
                (State::Text, b'\\') => State::Escaped,
                (State::Text, b'"') => State::Between,
                (State::Text | State::Escaped, _) => State::Text,
                (_, b'"') => State::Text,
                (_, b' ' | b'\t' | b'\r' | b'\n') => State::Between,
                (_, b'{' | b'}' | b'[' | b']' | b',' | b':') => {
                    tokens += 1;
                    State::Between
                }
                _ => State::Word,
            };
            let begins = matches!(
                (state, next),
                (State::Between, State::Word) | (State::Between | State::Word, State::Text)
            );
            tokens += u64::from(begins);
            state = next;
        }
        (self.state, self.tokens) = (state, self.tokens + tokens);
        self.bytes += bytes.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_wherever_the_text_is_cut() {
        let texts = [
            ("", 0),
            ("{}", 2),
            (r#"{"a": [1, -2.5e3, true], "b\"c\\": null}"#, 15),
            ("\"{[,:]} \\\" x\"\n\"y\"", 2),
            (" 12 34\t5\n", 3),
        ];
        for (text, tokens) in texts {
            for step in 1..=text.len().max(1) {
                let mut lexer = Lexer::default();
                text.as_bytes().chunks(step).for_each(|piece| lexer.take(piece));
                assert_eq!(
                    (lexer.tokens, lexer.bytes),
                    (tokens, text.len() as u64),
                    "{text} by {step}"
                );
            }
        }
    }
}
