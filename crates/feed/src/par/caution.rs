//! What a command is assumed to be given, looked at before it is dealt out.

use std::io;

use fullbore_codec::Tier;
use fullbore_codec::{json, utf8};
use memchr::memchr;

use super::store::Part;

/// What the rule of a command assumes of its input. Where it does not hold, one copy gets the rest of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assumption {
    /// Any bytes will do.
    Nothing,
    /// No byte is zero.
    NoZeros,
    /// No byte is zero, and all characters are valid UTF-8.
    Text,
    /// Every record is one or more whole JSON values.
    Values(Tier),
}

/// How to deal out without being noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caution {
    /// What must hold for each block.
    pub assumes: Assumption,
    /// A copy that gives at least this exit status has failed: one copy of the command would have written nothing more.
    /// `None` for a command that goes on after a failure.
    pub failed_from: Option<u8>,
}

/// Looks at blocks.
#[derive(Debug)]
pub(super) struct Guard {
    assumes: Assumption,
    /// A block was not as it should be.
    is_broken: bool,
}

impl Guard {
    pub(super) fn new(caution: &Caution) -> Self {
        Self { assumes: caution.assumes, is_broken: false }
    }

    /// Whether this block and all before it are as the command assumes.
    pub(super) fn bears(&mut self, part: &Part) -> io::Result<bool> {
        if !self.is_broken {
            self.is_broken = !self.holds(|look| part.all(look))?;
        }
        Ok(!self.is_broken)
    }

    /// The same of bytes in memory.
    pub(super) fn bears_bytes(&mut self, bytes: &[u8]) -> bool {
        let holds = self.holds(|look| Ok(look(bytes)));
        self.is_broken |= !holds.unwrap_or(false);
        !self.is_broken
    }

    /// Looks at all bytes, which `all` shows piece by piece as long as they are as they should be.
    fn holds(
        &self,
        all: impl FnOnce(&mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool>,
    ) -> io::Result<bool> {
        match self.assumes {
            Assumption::Nothing => Ok(true),
            Assumption::NoZeros => all(&mut |piece| memchr(0, piece).is_none()),
            Assumption::Text => {
                let mut text = utf8::Validator::new();
                let mut look =
                    |piece: &[u8]| memchr(0, piece).is_none() && text.push(piece).is_ok();
                Ok(all(&mut look)? && text.finish().is_ok())
            }
            Assumption::Values(tier) => {
                let mut values = json::Validator::new(tier);
                let holds = all(&mut |piece| values.push(piece).is_ok())?;
                Ok(holds && values.finish().is_ok())
            }
        }
    }
}
