//! The elements of an array that may be larger than memory.
//!
//! Flow: block ─`Validator::push`─▶ what of it is valid ─`Walker::walk`─▶ elements

mod error;
mod inside;
#[cfg(target_arch = "x86_64")]
mod skip_avx2;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod skip_blocks;
#[cfg(target_arch = "aarch64")]
mod skip_neon;
#[cfg(test)]
mod tests;
mod walk;

pub use self::error::EachError;
use self::walk::Walker;
use super::path::{Path, Step};
use super::value::Duplicates;
use crate::Tier;
use crate::json::Validator;
use crate::place::Place;

/// Writes the elements of the array at a path, or the values of the members of an object there, one a line: block by block;
/// blocks may end anywhere.
///
/// It keeps no more in memory than one element, and that only if it does not end in its block. An element that spans lines is
/// written without the white space between its tokens, any other one as it stands. The stream is what [`Validator`] accepts.
#[derive(Clone, Debug)]
pub struct Each {
    validator: Validator,
    walker: Walker,
}

/// An index that counts from the end, which is not known before the array has ended: how many steps of the path are before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FromEnd {
    /// From 0.
    pub step: usize,
}

impl Each {
    /// Makes a reader at the beginning of a stream, with the kernels of `tier`, or of the CPU's best tier if that is less. An
    /// element may have `most_bytes`.
    ///
    /// If a name on the path occurs twice in an object, [`Duplicates::Last`] here means all of them, because what is written
    /// cannot be taken back.
    ///
    /// # Errors
    /// [`FromEnd`]
    pub fn new(
        tier: Tier,
        path: &Path,
        duplicates: Duplicates,
        most_bytes: usize,
    ) -> Result<Self, FromEnd> {
        let step = path.steps.iter().position(|step| matches!(step, Step::Index(..0)));
        if let Some(step) = step {
            return Err(FromEnd { step });
        }
        let walker = Walker::new(tier, path.steps.clone(), duplicates, most_bytes);
        Ok(Self { validator: Validator::new(tier), walker })
    }

    /// Reads the next block, and appends the elements that end in it to `output`, each with a line end.
    ///
    /// # Errors
    /// [`EachError`]; the elements before it are appended. After [`EachError::Json`] call [`skip_line`](Self::skip_line), or
    /// push nothing more; after any other error, push nothing more.
    pub fn push(&mut self, block: &[u8], output: &mut Vec<u8>) -> Result<(), EachError> {
        let before = self.validator.place();
        let checked = self.validator.push(block);
        let valid = match checked {
            Ok(()) => block,
            Err(error) => {
                let length = usize::try_from(error.place.offset - before.offset);
                &block[..length.unwrap_or(block.len())]
            }
        };
        self.walker.walk(valid, before, output)?;
        checked.map_err(EachError::Json)
    }

    /// Goes on after [`EachError::Json`], as [`Validator::skip_line`]: push the rest of the stream, from the byte at the error.
    pub fn skip_line(&mut self) {
        self.validator.skip_line();
        self.walker.skip_line();
    }

    /// Ends the stream.
    ///
    /// # Errors
    /// [`EachError::Json`]: the stream ends within a document.
    pub fn finish(&mut self) -> Result<(), EachError> {
        self.validator.finish().map_err(EachError::Json)
    }

    /// Returns how many documents have ended.
    #[must_use]
    pub fn documents(&self) -> u64 {
        self.validator.documents()
    }

    /// Returns how many elements were written.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.walker.elements()
    }

    /// Whether a document had an array or object at the path.
    #[must_use]
    pub fn has_found(&self) -> bool {
        self.walker.has_found()
    }

    /// Returns the position after the last block, or of the error.
    #[must_use]
    pub fn place(&self) -> Place {
        self.validator.place()
    }
}
