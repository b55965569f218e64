//! `tr`: what becomes of the byte at which blocks are cut.
//!
//! Every byte is treated alike, except that `-s` looks at neighbours. So only a newline that `-s` may squeeze matters.

use super::reason::differ;
use crate::answer::{Dealt, Ends, Merge, Rule};
use crate::call::Call;

pub(super) fn look(rule: &mut Rule, call: &Call) {
    let parsed = call.parsed;
    let (delete, squeeze) = (parsed.has("-d"), parsed.has("-s"));
    let sets: Option<Vec<Vec<u8>>> = parsed.operands.iter().map(|text| expand(text)).collect();
    let first = sets.as_ref().and_then(|sets| sets.first());
    let (Some(first), Some(sets)) = (first, sets.as_ref()) else {
        rule.dealt = Dealt::Unknown;
        return;
    };
    let complement = parsed.has("-c");
    let chosen = first.contains(&b'\n') != complement;
    let image = match (delete, sets.get(1)) {
        (true, _) if chosen => None,
        (false, Some(second)) if chosen => {
            match translated(first, second, complement, parsed.has("-t")) {
                Some(image) => Some(image),
                None => {
                    rule.dealt = Dealt::Unknown;
                    return;
                }
            }
        }
        _ => Some(b'\n'),
    };
    rule.output = if image == Some(b'\n') { Ends::Lines } else { Ends::Bytes };
    if !squeeze {
        rule.is_light = true;
        return;
    }
    rule.input = Ends::Lines;
    let squeezed = |byte: u8| match sets.get(1) {
        Some(second) => second.contains(&byte),
        None => first.contains(&byte) != complement,
    };
    match image {
        // Squeezing after deleting: any byte can become a neighbour of any other.
        None => differ(rule, "squeezes across line ends that it deletes"),
        Some(byte) if squeezed(byte) => rule.dealt = Dealt::Merge(Merge::Squeeze(byte)),
        Some(_) => {}
    }
}

/// The byte that a newline of the first set becomes; `None` if this is not certain.
fn translated(first: &[u8], second: &[u8], complement: bool, truncate: bool) -> Option<u8> {
    let all: Vec<u8> = (0..=u8::MAX).filter(|byte| !first.contains(byte)).collect();
    let from = if complement { &all[..] } else { first };
    // The last of several places counts.
    let at = from.iter().rposition(|byte| *byte == b'\n')?;
    match second.get(at) {
        Some(byte) => Some(*byte),
        None if truncate => Some(b'\n'),
        None => second.last().copied(),
    }
}

/// The bytes of a set such as `a-z\n`; `None` for what is rare: `[c*n]`, `[=c=]`, bytes beyond ASCII in ranges.
fn expand(text: &str) -> Option<Vec<u8>> {
    let mut set = Vec::new();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        if let Some((class, after)) = class(rest) {
            set.extend((0..=u8::MAX).filter(|byte| class.contains(*byte)));
            rest = after;
            continue;
        }
        if let Some((filler, after)) = filler(rest) {
            // The last byte of a set is repeated anyway.
            after.is_empty().then_some(())?;
            set.push(filler);
            break;
        }
        if rest.starts_with(b"[=") || rest.starts_with(b"[:") || repeats(rest) {
            return None;
        }
        let (low, after) = byte(rest)?;
        rest = after;
        set.push(low);
        if let [b'-', end @ ..] = rest
            && !end.is_empty()
        {
            let (high, after) = byte(end)?;
            (low <= high).then_some(())?;
            set.extend(low + 1..=high);
            rest = after;
        }
    }
    Some(set)
}

/// `[c*]`: as many as are needed.
fn filler(text: &[u8]) -> Option<(u8, &[u8])> {
    let (filler, rest) = byte(text.strip_prefix(b"[")?)?;
    Some((filler, rest.strip_prefix(b"*]")?))
}

/// Tells whether this could be `[c*n]`.
fn repeats(text: &[u8]) -> bool {
    let inner = text.strip_prefix(b"[").and_then(byte);
    inner.is_some_and(|(_, rest)| rest.starts_with(b"*") && rest.contains(&b']'))
}

/// One byte, perhaps written as an escape.
fn byte(text: &[u8]) -> Option<(u8, &[u8])> {
    let (first, rest) = text.split_first()?;
    if *first != b'\\' {
        return Some((*first, rest));
    }
    let digits = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(*byte)).count();
    if digits > 0 {
        let value =
            rest[..digits].iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
        return Some((u8::try_from(value).ok()?, &rest[digits..]));
    }
    let (escaped, rest) = rest.split_first()?;
    let value = match escaped {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        other => *other,
    };
    Some((value, rest))
}

/// A class of characters in the C locale.
#[derive(Clone, Copy)]
struct Class(fn(u8) -> bool);

impl Class {
    fn contains(self, byte: u8) -> bool {
        self.0(byte)
    }
}

fn class(text: &[u8]) -> Option<(Class, &[u8])> {
    let inner = text.strip_prefix(b"[:")?;
    let end = inner.windows(2).position(|pair| pair == b":]")?;
    let contains: fn(u8) -> bool = match &inner[..end] {
        b"alpha" => |byte| byte.is_ascii_alphabetic(),
        b"digit" => |byte| byte.is_ascii_digit(),
        b"alnum" => |byte| byte.is_ascii_alphanumeric(),
        b"upper" => |byte| byte.is_ascii_uppercase(),
        b"lower" => |byte| byte.is_ascii_lowercase(),
        b"punct" => |byte| byte.is_ascii_punctuation(),
        b"space" => |byte| matches!(byte, 9..=13 | b' '),
        b"blank" => |byte| matches!(byte, b'\t' | b' '),
        b"cntrl" => |byte| byte.is_ascii_control(),
        b"print" => |byte| (b' '..=b'~').contains(&byte),
        b"graph" => |byte| (b'!'..=b'~').contains(&byte),
        b"xdigit" => |byte| byte.is_ascii_hexdigit(),
        _ => return None,
    };
    Some((Class(contains), &inner[end + 2..]))
}
