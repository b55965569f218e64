//! Keys that somebody typed where they do not belong: no message repeats one, because messages end in logs.

use std::ffi::OsStr;
use std::iter::Peekable;
use std::str::CharIndices;

/// This many hexadecimal digits may be a key or half of one.
const LEAST_DIGITS: usize = 32;
/// The text that replaces it.
const HIDDEN: &str = "(not shown: it may be a key)";

/// Whether this argument, which should be a name, looks like a key.
pub(crate) fn may_be_key(argument: &OsStr) -> bool {
    let text = argument.to_string_lossy();
    hide_keys(&text) != text
}

/// Hides every word of a message that may be a key: hexadecimal digits, even with mistakes or separators, or base64.
pub(crate) fn hide_keys(message: &str) -> String {
    let mut shown = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(start) = rest.find(|c: char| !ends_word(c)) {
        let (before, from_word) = rest.split_at(start);
        shown.push_str(before);
        let digits = end_of_digits(from_word);
        let end = digits.or_else(|| from_word.find(ends_word)).unwrap_or(from_word.len());
        let (word, after) = from_word.split_at(end);
        let is_hidden = digits.is_some() || is_key(word);
        shown.push_str(if is_hidden { HIDDEN } else { word });
        rest = after;
    }
    shown + rest
}

fn ends_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '/' | '<' | '>' | '=' | ',')
}

/// Where a row of pairs of digits ends (`00 01 02 …`, `00:01:…`), if it is long enough to be a key.
fn end_of_digits(text: &str) -> Option<usize> {
    let mut characters = text.char_indices().peekable();
    let (mut digits, mut end) = (0, 0);
    while let Some(group) = group(&mut characters) {
        digits += group.len;
        end = group.end;
        if characters.next_if(|(_, c)| matches!(c, ' ' | ':' | '-')).is_none() {
            break;
        }
    }
    (digits >= LEAST_DIGITS).then_some(end)
}

struct Group {
    len: usize,
    end: usize,
}

/// The number of digits in a row, rounded down to an even number.
fn group(characters: &mut Peekable<CharIndices<'_>>) -> Option<Group> {
    let mut group = Group { len: 0, end: 0 };
    while let Some((at, _)) = characters.next_if(|(_, c)| c.is_ascii_hexdigit()) {
        group = Group { len: group.len + 1, end: at + 1 };
    }
    (group.len > 0 && group.len.is_multiple_of(2)).then_some(group)
}

fn is_key(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_hexdigit).count();
    let others = word.chars().filter(|c| !c.is_ascii_hexdigit() && c.is_alphanumeric()).count();
    let is_hexadecimal = digits >= LEAST_DIGITS && digits >= 2 * others;
    // 32 bytes are 43 characters; their padding ends the word.
    let of_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '_');
    let is_base64 = word.len() == 43
        && word.chars().all(of_base64)
        && word.contains(|c: char| c.is_ascii_digit())
        && word.contains(|c: char| c.is_ascii_uppercase());
    is_hexadecimal || is_base64
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F";

    #[test]
    fn whatever_may_be_a_key_is_hidden_wherever_it_stands_in_a_message() {
        let spaced: Vec<_> = KEY.as_bytes().chunks(2).map(String::from_utf8_lossy).collect();
        for key in [
            KEY.to_owned(),
            KEY[..63].to_owned(),
            KEY[..32].to_owned(),
            format!("0x{KEY}"),
            KEY.replace('0', "O"),
            format!("{}zz", &KEY[..62]),
            spaced.join(" "),
            spaced.join(":"),
            "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=".to_owned(),
        ] {
            for message in [
                format!("gost seal: reading: {key}: No such file or directory"),
                format!("unexpected argument '{key}' found"),
                format!("reading: /home/me/{key}: no"),
                format!("unexpected argument '--key={key}' found"),
            ] {
                let shown = hide_keys(&message);
                assert!(shown.contains(HIDDEN), "{message} → {shown}");
                assert!(!shown.contains(&key[..20]) && !shown.contains("1C1D"), "{shown}");
            }
            assert!(may_be_key(OsStr::new(&key)), "{key}");
        }
    }

    #[test]
    fn everything_else_in_a_message_stays() {
        for message in [
            "gost seal: reading: data-2026-11-22/decade_of_facades.sealed: No such file or directory",
            "gost open: standard input: authentication failed in chunk 3 at offset 3145824",
            "invalid value '99999999999999999999' for '--jobs <N>': a number from 1 to 1024 belongs here",
            "--key-file: key of the database in Frankfurt.hex: it is empty",
            "",
        ] {
            assert_eq!(hide_keys(message), message);
        }
    }
}
