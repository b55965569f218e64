//! Finds the elements in a stream that is known to be JSON.

use super::error::EachError;
use super::inside::{Inside, Text};
#[cfg(target_arch = "x86_64")]
use super::skip_avx2;
#[cfg(target_arch = "aarch64")]
use super::skip_neon;
use crate::Tier;
use crate::json::query::cells::write_on_one_line;
use crate::json::query::path::Step;
use crate::json::query::skip::{ENDS, table};
use crate::json::query::value::{Duplicates, Value, is_name};
use crate::place::Place;
use crate::tier::Granted;

/// Bytes of the longest escape, which decodes to one byte at least.
const LONGEST_ESCAPE: usize = 6;
/// Fewer bytes are not worth a kernel; at least one block.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const LEAST_BYTES: usize = 64;

/// A position in a stream of documents, and what is kept of the bytes before it.
#[derive(Clone, Debug)]
pub(super) struct Walker {
    tier: Granted,
    steps: Vec<Step>,
    duplicates: Duplicates,
    most_bytes: usize,
    /// The arrays and objects on the path that are open. What is in the last possible one are the elements.
    levels: Vec<Level>,
    state: State,
    /// The beginning of a name or element that began in an earlier block.
    kept: Vec<u8>,
    /// Where that began.
    place: Place,
    elements: u64,
    has_found: bool,
}

/// An array or object on the path.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// Number of the next element of an array; `None` for an object.
    index: Option<i64>,
    /// Whether a name comes next.
    awaits_name: bool,
    /// Whether the last name is that of the path.
    is_named: bool,
    /// Whether a name before was.
    was_named: bool,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Between two tokens on the path.
    Between,
    /// In a name of an object on the path.
    Name(Inside),
    /// In a value that is no part of the path.
    Value { inside: Inside, is_element: bool },
    /// After an error, before the next line end.
    Skipped,
}

impl Walker {
    pub(super) fn new(
        tier: Tier,
        steps: Vec<Step>,
        duplicates: Duplicates,
        most_bytes: usize,
    ) -> Self {
        Self {
            // There is no kernel for more.
            tier: tier.min(Tier::Avx2).granted(),
            steps,
            duplicates,
            most_bytes,
            levels: Vec::new(),
            state: State::Between,
            kept: Vec::new(),
            place: Place::default(),
            elements: 0,
            has_found: false,
        }
    }

    pub(super) fn elements(&self) -> u64 {
        self.elements
    }

    pub(super) fn has_found(&self) -> bool {
        self.has_found
    }

    /// Returns how many bytes of memory are set aside for a name or element that began in an earlier block.
    #[cfg(test)]
    pub(super) fn kept_bytes(&self) -> usize {
        self.kept.capacity()
    }

    /// Forgets the document in progress, and skips the rest of the line.
    pub(super) fn skip_line(&mut self) {
        self.levels.clear();
        self.kept.clear();
        self.state = State::Skipped;
    }

    /// Reads a block that begins at `before`.
    pub(super) fn walk(
        &mut self,
        text: &[u8],
        before: Place,
        output: &mut Vec<u8>,
    ) -> Result<(), EachError> {
        let mut at = 0;
        while at < text.len() {
            at = match self.state {
                State::Between => self.token(text[at], at),
                State::Name(inside) => self.name(inside, text, at, before)?,
                State::Value { inside, is_element: false } => self.other(inside, text, at),
                State::Value { inside, is_element: true } => {
                    self.element(inside, text, at, before, output)?
                }
                State::Skipped => match memchr::memchr(b'\n', &text[at..]) {
                    None => text.len(),
                    Some(length) => {
                        self.state = State::Between;
                        at + length + 1
                    }
                },
            };
        }
        Ok(())
    }

    /// Handles a byte between two tokens, and returns where the next one is: the same if a name or value begins.
    fn token(&mut self, byte: u8, at: usize) -> usize {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' | 0x1E | b',' | b':' => at + 1,
            b']' | b'}' => {
                self.levels.pop();
                self.end_value();
                at + 1
            }
            _ if self.levels.last().is_some_and(|level| level.awaits_name) => {
                self.state = State::Name(Inside::BEGIN);
                at
            }
            _ => self.begin_value(byte, at),
        }
    }

    fn begin_value(&mut self, byte: u8, at: usize) -> usize {
        let depth = self.levels.len();
        let is_element = depth > self.steps.len();
        let is_wanted = match self.levels.last() {
            None => true,
            Some(level) if level.index.is_none() => level.is_named,
            Some(level) => match self.steps.get(depth - 1) {
                Some(Step::Index(index)) => Some(*index) == level.index,
                _ => true,
            },
        };
        let suits = match self.steps.get(depth) {
            Some(Step::Name(_)) => byte == b'{',
            Some(Step::Index(_) | Step::Each) => byte == b'[',
            None => matches!(byte, b'{' | b'['),
        };
        if is_element || !is_wanted || !suits {
            let is_scalar = !matches!(byte, b'{' | b'[' | b'"');
            let inside = Inside { is_scalar, ..Inside::BEGIN };
            self.state = State::Value { inside, is_element };
            // A number or literal may begin with any byte: a byte order mark is one here.
            return at;
        }
        self.has_found |= depth == self.steps.len();
        self.levels.push(Level::new(byte == b'{'));
        at + 1
    }

    /// Takes note that a value has ended.
    fn end_value(&mut self) {
        self.state = State::Between;
        if let Some(level) = self.levels.last_mut() {
            level.index = level.index.map(|index| index + 1);
            level.awaits_name = level.index.is_none();
        }
    }

    /// Reads on in a value that is not an element.
    fn other(&mut self, mut inside: Inside, text: &[u8], at: usize) -> usize {
        let end = end_of(&mut inside, self.tier, text, at);
        if end.is_some() {
            self.end_value();
        } else {
            self.state = State::Value { inside, is_element: false };
        }
        end.unwrap_or(text.len())
    }

    /// Reads on in an element.
    fn element(
        &mut self,
        mut inside: Inside,
        text: &[u8],
        at: usize,
        before: Place,
        output: &mut Vec<u8>,
    ) -> Result<usize, EachError> {
        let end = end_of(&mut inside, self.tier, text, at);
        let part = &text[at..end.unwrap_or(text.len())];
        if self.kept.is_empty() && (end.is_none() || part.len() > self.most_bytes) {
            self.place = before.after(&text[..at]);
        }
        if self.kept.len() + part.len() > self.most_bytes {
            return Err(EachError::TooLarge(self.place));
        }
        if end.is_none() || !self.kept.is_empty() {
            self.kept.extend_from_slice(part);
        }
        if end.is_some() {
            let whole = if self.kept.is_empty() { part } else { &self.kept };
            write_on_one_line(Value::new(whole), output);
            output.push(b'\n');
            self.kept.clear();
            self.elements += 1;
            self.end_value();
        } else {
            self.state = State::Value { inside, is_element: true };
        }
        Ok(at + part.len())
    }

    /// Reads on in a name.
    fn name(
        &mut self,
        mut inside: Inside,
        text: &[u8],
        at: usize,
        before: Place,
    ) -> Result<usize, EachError> {
        let end = end_of(&mut inside, self.tier, text, at);
        let part = &text[at..end.unwrap_or(text.len())];
        let step = self.levels.len().checked_sub(1).and_then(|step| self.steps.get(step));
        let wanted = match step {
            Some(Step::Name(name)) => name.as_bytes(),
            _ => &[],
        };
        if self.kept.is_empty() && end.is_none() {
            self.place = before.after(&text[..at]);
        }
        let most = wanted.len() * LONGEST_ESCAPE + 2;
        if end.is_none() || !self.kept.is_empty() {
            // One byte more than the longest form of the name is enough to know that it is another one.
            let room = (most + 1).saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&part[..part.len().min(room)]);
        }
        if end.is_none() {
            self.state = State::Name(inside);
            return Ok(text.len());
        }
        let is_split = !self.kept.is_empty();
        let name = if is_split { &self.kept } else { part };
        let is_named = step.is_some() && name.len() <= most && is_name(name, wanted);
        self.state = State::Between;
        self.kept.clear();
        let Some(level) = self.levels.last_mut() else { return Ok(at + part.len()) };
        level.awaits_name = false;
        level.is_named = is_named;
        if is_named && level.was_named {
            match self.duplicates {
                Duplicates::Last => (),
                Duplicates::First => level.is_named = false,
                Duplicates::Refuse => {
                    let place = if is_split { self.place } else { before.after(&text[..at]) };
                    return Err(EachError::Repeated(place));
                }
            }
        }
        level.was_named |= is_named;
        Ok(at + part.len())
    }
}

impl Level {
    fn new(is_object: bool) -> Self {
        let index = if is_object { None } else { Some(0) };
        Self { index, awaits_name: is_object, is_named: false, was_named: false }
    }
}

/// Reads on in a value with a kernel, if there is one and it is worth it. Returns where to go on, and where the value ends if
/// that is before.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn by_kernel(
    inside: &mut Inside,
    tier: Granted,
    text: &[u8],
    at: usize,
) -> Option<(usize, Option<usize>)> {
    if inside.depth == 0 || text.len() - at < LEAST_BYTES {
        return None;
    }
    match tier {
        #[cfg(target_arch = "x86_64")]
        Granted::Avx2(proof) => Some(skip_avx2::skip(proof, inside, text, at)),
        #[cfg(target_arch = "aarch64")]
        Granted::Neon(proof) => Some(skip_neon::skip(proof, inside, text, at)),
        _ => None,
    }
}

/// Reads on in a value, and returns where it ends if that is within the text.
fn end_of(inside: &mut Inside, tier: Granted, text: &[u8], mut at: usize) -> Option<usize> {
    let _ = tier;
    if inside.is_scalar {
        let length = text[at..].iter().position(|byte| ENDS[usize::from(*byte)])?;
        return Some(at + length);
    }
    loop {
        if inside.string != Text::Outside {
            at = inside.end_of_string(text, at)?;
            if inside.depth == 0 {
                return Some(at);
            }
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        if let Some((read, end)) = by_kernel(inside, tier, text, at) {
            if end.is_some() {
                return end;
            }
            at = read;
            // It may be in a string.
            continue;
        }
        at += text[at..].iter().position(|byte| IS_STRUCTURE[usize::from(*byte)])?;
        match text[at] {
            b'"' => inside.string = Text::Inside,
            b'{' | b'[' => inside.depth += 1,
            _ => {
                inside.depth -= 1;
                if inside.depth == 0 {
                    return Some(at + 1);
                }
            }
        }
        at += 1;
    }
}

const IS_STRUCTURE: [bool; 256] = table(b"\"{}[]");
