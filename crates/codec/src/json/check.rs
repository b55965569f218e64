//! Checks a stream of JSON documents.

use super::between::{Between, Next, Progress};
use super::machine::Machine;
#[cfg(target_arch = "aarch64")]
use super::neon;
use super::{Cause, JsonError};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::Tier;
use crate::place::Place;
use crate::tier::Granted;

/// Bytes that are read one by one where a kernel stopped: its batch, which contains something that only the machine can judge.
const STRETCH_BYTES: usize = 4096;
/// Fewer bytes are not worth a kernel.
const LEAST_BYTES: usize = 256;

/// Checks a stream block by block; blocks may end anywhere.
///
/// The stream is a sequence of documents as RFC 8259 defines them, in UTF-8, with nothing or white space between them. It may
/// begin with a byte order mark. U+001E may stand wherever white space may stand between documents (RFC 7464). A number or
/// literal must be followed by white space, a bracket or a quote. Names may occur more than once in an object.
#[derive(Clone, Debug)]
pub struct Validator {
    tier: Granted,
    machine: Machine,
    /// After the last block, or at the error.
    place: Place,
    is_wrong: bool,
}

impl Validator {
    /// Makes a validator at the beginning of a stream, with the kernels of `tier`, or of the CPU's best tier if that is less.
    #[must_use]
    pub fn new(tier: Tier) -> Self {
        Self {
            tier: tier.granted(),
            machine: Machine::new(),
            place: Place::default(),
            is_wrong: false,
        }
    }

    /// Makes a validator between two documents of a stream, where no byte order mark may stand.
    pub(super) fn between_documents(tier: Tier) -> Self {
        let mut validator = Self::new(tier);
        validator.machine.go_on(Between { next: Next::Document, stack: 1 });
        validator
    }

    /// Checks the next block.
    ///
    /// # Errors
    /// [`JsonError`]: the first byte with which no valid stream can continue. Afterwards call
    /// [`skip_line`](Self::skip_line), or push nothing more.
    pub fn push(&mut self, block: &[u8]) -> Result<(), JsonError> {
        debug_assert!(!self.is_wrong, "pushed after an error");
        match self.advance(block) {
            Ok(()) => {
                self.place = self.place.after_block(block, self.tier);
                Ok(())
            }
            Err((before, cause)) => {
                self.place = self.place.after_block(&block[..before], self.tier);
                self.is_wrong = true;
                Err(JsonError { place: self.place, cause })
            }
        }
    }

    /// Goes on after an error: everything up to the next line end is skipped, and a document begins after it. Push the rest
    /// of the stream, from the byte at the error.
    pub fn skip_line(&mut self) {
        self.is_wrong = false;
        self.machine.skip_line();
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// [`JsonError`]: the stream ends within a document.
    pub fn finish(&mut self) -> Result<(), JsonError> {
        self.machine.end().map_err(|cause| JsonError { place: self.place, cause })
    }

    /// Returns how many documents have ended.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.machine.documents
    }

    /// Returns the position after the last block, or of the error.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    fn advance(&mut self, block: &[u8]) -> Result<(), (usize, Cause)> {
        let mut at = 0;
        let mut by_machine = 0;
        while at < block.len() {
            let rest = &block[at..];
            let is_worth_it = by_machine == 0 && rest.len() >= LEAST_BYTES;
            let between = if is_worth_it { self.machine.between() } else { None };
            if let Some(progress) = between.and_then(|between| self.kernel(rest, between)) {
                self.machine.go_on(progress.between);
                self.machine.documents += progress.documents;
                at += progress.read;
                by_machine = STRETCH_BYTES;
                continue;
            }
            let has_no_kernel = between.is_some();
            let is_short = rest.len() < LEAST_BYTES;
            let least = if has_no_kernel || is_short { rest.len() } else { by_machine };
            let read = self.machine.run(rest, least);
            at += read.map_err(|(before, cause)| (at + before, cause))?;
            by_machine = 0;
        }
        Ok(())
    }

    /// Reads as far as a kernel can; `None` when the tier has none.
    fn kernel(&self, bytes: &[u8], at: Between) -> Option<Progress> {
        match self.tier {
            #[cfg(target_arch = "x86_64")]
            Granted::Avx2(proof) => Some(avx2::read(proof, bytes, at, &mut ())),
            #[cfg(target_arch = "x86_64")]
            Granted::Avx512(proof) => Some(avx512::read(proof, bytes, at, &mut ())),
            #[cfg(target_arch = "aarch64")]
            Granted::Neon(proof) => Some(neon::read(proof, bytes, at, &mut ())),
            Granted::Portable => {
                let _ = (bytes, at);
                None
            }
        }
    }
}
