//! Splits an awk program into tokens.

/// A token. Comments and continued lines leave none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    Name(String),
    /// A name with a parenthesis right behind it; the parenthesis is the next token.
    Call(String),
    Number,
    /// A string as it is written, without its quotes.
    Text(String),
    Regex,
    Operator(&'static str),
    Newline,
}

impl Token {
    pub(super) fn is(&self, operator: &str) -> bool {
        matches!(self, Self::Operator(one) if *one == operator)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self, Self::Name(one) | Self::Call(one) if one == name)
    }
}

/// All operators, the longer before the shorter.
const OPERATORS: [&str; 42] = [
    "**=", "||", "&&", "==", "<=", ">=", "!=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=",
    "^=", "**", "|&", ">>", "{", "}", "(", ")", "[", "]", ";", ",", "+", "-", "*", "/", "%", "^",
    "!", ">", "<", "|", "?", ":", "~", "$", "=",
];

/// Splits a program; `None` if something is unfinished or not of the language.
pub(super) fn split(program: &str) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = program;
    while let Some(c) = rest.chars().next() {
        let (token, length) = match c {
            ' ' | '\t' => (None, 1),
            '\n' => (Some(Token::Newline), 1),
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '\\' if rest.starts_with("\\\n") => (None, 2),
            '"' => {
                let length = quoted(rest, '"')?;
                (Some(Token::Text(rest[1..length - 1].to_owned())), length)
            }
            '/' if begins_regex(tokens.last()) => (Some(Token::Regex), quoted(rest, '/')?),
            c if c.is_ascii_digit() || is_point(rest) => (Some(Token::Number), number(rest)),
            c if c.is_ascii_alphabetic() || c == '_' => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
                let name = rest[..length].to_owned();
                let call = rest[length..].starts_with('(');
                (Some(if call { Token::Call(name) } else { Token::Name(name) }), length)
            }
            _ => {
                let found = OPERATORS.into_iter().find(|one| rest.starts_with(one))?;
                (Some(Token::Operator(found)), found.len())
            }
        };
        tokens.extend(token);
        rest = &rest[length..];
    }
    Some(tokens)
}

fn is_point(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next() == Some('.') && chars.next().is_some_and(|c| c.is_ascii_digit())
}

/// The length of a number such as `12`, `.5`, `1e-3` or `0x1f`.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let sign = matches!(byte, b'+' | b'-') && at > 0 && matches!(bytes[at - 1], b'e' | b'E');
        if !(byte.is_ascii_alphanumeric() || *byte == b'.' || sign) {
            break;
        }
        at += 1;
    }
    at
}

/// The length of a string or regular expression with its delimiters.
fn quoted(text: &str, delimiter: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    let mut in_bracket = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => {
                chars.next()?;
            }
            '\n' => return None,
            '[' if delimiter == '/' && !in_bracket => {
                in_bracket = true;
                // A bracket right behind the opening one is one of the characters.
                let after = text[at + 1..].strip_prefix('^').unwrap_or(&text[at + 1..]);
                if after.starts_with(']') {
                    chars.by_ref().find(|(_, c)| *c == ']')?;
                }
            }
            // Versions of awk do not agree on `/[/]/`.
            '/' if in_bracket => return None,
            ']' => in_bracket = false,
            c if c == delimiter => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Tells whether a slash behind this token begins a regular expression; else it divides.
fn begins_regex(before: Option<&Token>) -> bool {
    match before {
        None | Some(Token::Newline) => true,
        Some(Token::Name(name)) => {
            ["print", "printf", "return", "else", "do", "case", "in"].contains(&name.as_str())
        }
        Some(Token::Operator(operator)) => !matches!(*operator, ")" | "]" | "$" | "++" | "--"),
        Some(_) => false,
    }
}
