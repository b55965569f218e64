//! The names that a scanner looks for.

use std::ops::Range;

use super::value::{Duplicates, Repeated, Value};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::json::marks::Filter;

/// Members, each given by names from the outside to the inside.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The first names, each once.
    pub(super) outermost: Vec<String>,
    /// These names in quotes, where they are not always escaped.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(super) quoted: Vec<Option<Quoted>>,
    /// For each member the number of its first name, and the names within that; none at all is the whole document.
    columns: Vec<Option<(usize, Vec<String>)>>,
    pub(super) duplicates: Duplicates,
    /// A longer document is not looked at.
    pub(super) most_bytes: usize,
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    pub(super) filter: Filter,
}

impl Names {
    pub(super) fn new(members: Vec<Vec<String>>, duplicates: Duplicates) -> Self {
        let mut outermost: Vec<String> = Vec::new();
        let columns = members.into_iter().map(|names| {
            let mut names = names.into_iter();
            let first = names.next()?;
            let known = outermost.iter().position(|name| *name == first);
            let number = known.unwrap_or_else(|| {
                outermost.push(first);
                outermost.len() - 1
            });
            Some((number, names.collect()))
        });
        let columns = columns.collect();
        Self {
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            filter: Filter::new(outermost.iter().map(String::as_str)),
            #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
            quoted: outermost.iter().map(|name| Quoted::new(name)).collect(),
            outermost,
            columns,
            duplicates,
            most_bytes: usize::MAX,
        }
    }

    /// Appends where the values of a document are, given those of its outermost members (an empty range for none).
    pub(super) fn resolve(
        &self,
        text: &[u8],
        document: &Range<usize>,
        outermost: &[Range<usize>],
        values: &mut Vec<Range<usize>>,
    ) -> Result<(), Repeated> {
        let before = values.len();
        for column in &self.columns {
            let found = match column {
                None => Ok(document.clone()),
                Some((number, inner)) => {
                    let outer = outermost[*number].clone();
                    if outer.is_empty() { Ok(outer) } else { self.within(text, outer, inner) }
                }
            };
            match found {
                Ok(found) => values.push(found),
                Err(repeated) => {
                    values.truncate(before);
                    return Err(repeated);
                }
            }
        }
        Ok(())
    }

    /// Returns where the outermost members of a document are.
    pub(super) fn search(
        &self,
        text: &[u8],
        document: &Range<usize>,
    ) -> Result<Vec<Range<usize>>, Repeated> {
        let outermost = self.outermost.iter();
        outermost
            .map(|name| self.within(text, document.clone(), std::slice::from_ref(name)))
            .collect()
    }

    /// Returns where the member is that these names lead to; an empty range if there is none.
    fn within(
        &self,
        text: &[u8],
        mut range: Range<usize>,
        names: &[String],
    ) -> Result<Range<usize>, Repeated> {
        for name in names {
            let value = Value::new(&text[range.clone()]);
            let member = value.member(name, self.duplicates);
            let member = member.map_err(|Repeated { at }| Repeated { at: at + range.start })?;
            let Some(member) = member else { return Ok(0..0) };
            range = range.start + member.start..range.start + member.end;
        }
        Ok(range)
    }
}

/// A name in quotes.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[derive(Clone, Debug)]
pub(super) struct Quoted {
    text: Vec<u8>,
    /// Its last eight bytes, the last one highest, and which of them it has.
    last: u64,
    has: u64,
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl Quoted {
    /// Returns nothing for a name that stands in no text without an escape.
    fn new(name: &str) -> Option<Self> {
        if name.bytes().any(|byte| matches!(byte, 0..0x20 | b'"' | b'\\')) {
            return None;
        }
        let text = format!("\"{name}\"").into_bytes();
        let count = text.len().min(8);
        let mut last = [0; 8];
        last[8 - count..].copy_from_slice(&text[text.len() - count..]);
        Some(Self { text, last: u64::from_le_bytes(last), has: u64::MAX << (64 - 8 * count) })
    }

    /// Returns whether a text ends in the name, and its first quote begins a string.
    #[inline]
    pub(super) fn ends(&self, text: &[u8]) -> bool {
        if let Some(last) = text.last_chunk::<8>()
            && u64::from_le_bytes(*last) & self.has != self.last
        {
            return false;
        }
        let is_longer = self.text.len() > 8 || text.len() < 8;
        if is_longer && !text.ends_with(&self.text) {
            return false;
        }
        let begin = text.len() - self.text.len();
        begin == 0 || text[begin - 1] != b'\\'
    }
}
