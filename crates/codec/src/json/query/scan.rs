//! Finds the documents of a text and the values of some of their members.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use super::collect::Collector;
use super::names::Names;
use super::skip::{skip_space, skip_value};
use super::table::Table;
use super::value::{Duplicates, Repeated};
use crate::Tier;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::json::between::{Between, Next};
#[cfg(target_arch = "aarch64")]
use crate::json::neon;
use crate::json::{JsonError, Validator};
#[cfg(target_arch = "x86_64")]
use crate::json::{avx2, avx512};
use crate::place::Place;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::tier::Granted;

/// Bytes that are read document by document where a kernel stopped.
const STRETCH_BYTES: usize = 4096;
/// Fewer bytes are not worth a kernel.
const LEAST_BYTES: usize = 256;

/// Finds documents, checks them, and finds the values of members that are given by their names from the outside to the inside.
#[derive(Clone, Debug)]
pub struct Scanner {
    tier: Tier,
    names: Names,
}

/// Why a text could not be scanned to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// It is no JSON; the place is counted from the beginning of the text.
    Json(JsonError),
    /// A name occurs twice in an object, and that was to be an error; the place of the second.
    Repeated(Place),
    /// A document is longer than allowed.
    TooLong {
        /// Where it begins in the text, in bytes.
        begin: usize,
        /// Where it ends.
        end: usize,
    },
}

impl Scanner {
    /// Makes a scanner for members, each given by names; no name at all is the whole document. Its kernels are those of `tier`,
    /// or of the CPU's best tier if that is less.
    #[must_use]
    pub fn new(tier: Tier, members: Vec<Vec<String>>, duplicates: Duplicates) -> Self {
        Self { tier, names: Names::new(members, duplicates) }
    }

    /// Makes a document of more than this many bytes an error.
    #[must_use]
    pub fn with_most_bytes(mut self, most_bytes: usize) -> Self {
        self.names.most_bytes = most_bytes;
        self
    }

    /// Scans a text that begins between two documents, and replaces what is in the table. Returns where the first document
    /// begins that does not end within the text, or the length of the text.
    ///
    /// If `is_end`, nothing comes after the text, which must then be whole. Otherwise push the rest again, together with
    /// more text. At the beginning of a stream, leave out the byte order mark.
    ///
    /// # Errors
    /// [`ScanError`]; the documents before it are in the table.
    pub fn scan(
        &mut self,
        text: &[u8],
        is_end: bool,
        table: &mut Table,
    ) -> Result<usize, ScanError> {
        table.documents.clear();
        table.values.clear();
        let mut at = skip_space(text, 0);
        while at < text.len() {
            at = skip_space(text, self.by_kernel(text, at, table));
            let begin = at;
            while at < text.len() && at - begin < STRETCH_BYTES {
                let Some(end) = self.document(text, at, is_end, table)? else { return Ok(at) };
                at = skip_space(text, end);
            }
        }
        Ok(text.len())
    }

    /// Scans as many documents as a kernel can; returns where they end.
    fn by_kernel(&self, text: &[u8], at: usize, table: &mut Table) -> usize {
        if text.len() - at < LEAST_BYTES {
            return at;
        }
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        {
            let begin = Between { next: Next::Document, stack: 1 };
            let mut collector = Collector::new(&self.names, table, at);
            match self.tier.granted() {
                #[cfg(target_arch = "x86_64")]
                Granted::Avx2(proof) => avx2::read(proof, &text[at..], begin, &mut collector),
                #[cfg(target_arch = "x86_64")]
                Granted::Avx512(proof) => avx512::read(proof, &text[at..], begin, &mut collector),
                #[cfg(target_arch = "aarch64")]
                Granted::Neon(proof) => neon::read(proof, &text[at..], begin, &mut collector),
                Granted::Portable => return at,
            };
            at + collector.end
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            let _ = table;
            at
        }
    }

    /// Scans one document, if it ends within the text; returns where.
    fn document(
        &self,
        text: &[u8],
        at: usize,
        is_end: bool,
        table: &mut Table,
    ) -> Result<Option<usize>, ScanError> {
        let before = || Place::default().after(&text[..at]);
        let no_json = |error: JsonError| {
            ScanError::Json(JsonError { place: before().then(error.place), ..error })
        };
        let mut validator = Validator::between_documents(self.tier);
        // What is wrong near is found before the end is looked for far away: after a mistake, it may be that of many lines.
        let (mut checked, mut most) = (at, STRETCH_BYTES);
        let end = loop {
            let near = &text[..text.len().min(at + most)];
            let end = skip_value(near, at);
            if end.is_some() || near.len() == text.len() {
                break end.or(is_end.then_some(text.len()));
            }
            validator.push(&near[checked..]).map_err(no_json)?;
            (checked, most) = (near.len(), 2 * most);
        };
        let last = validator.push(&text[checked..end.unwrap_or(text.len())]);
        let last = last.and_then(|()| match end {
            None => Ok(()),
            // What ended too early has its fault in what follows.
            Some(end) => validator.finish().or_else(|early| {
                validator.push(&text[end..])?;
                Err(early)
            }),
        });
        last.map_err(no_json)?;
        let Some(end) = end else { return Ok(None) };
        if end - at > self.names.most_bytes {
            return Err(ScanError::TooLong { begin: at, end });
        }
        let document = at..end;
        let outermost = self.names.search(text, &document);
        let resolved = outermost
            .and_then(|found| self.names.resolve(text, &document, &found, &mut table.values));
        resolved
            .map_err(|Repeated { at }| ScanError::Repeated(Place::default().after(&text[..at])))?;
        table.documents.push(document);
        Ok(Some(end))
    }
}
