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
            self.is_broken = !self.holds(part)?;
        }
        Ok(!self.is_broken)
    }

    fn holds(&self, part: &Part) -> io::Result<bool> {
        match self.assumes {
            Assumption::Nothing => Ok(true),
            Assumption::NoZeros => part.all(|piece| memchr(0, piece).is_none()),
            Assumption::Text => {
                let mut text = utf8::Validator::new();
                let holds =
                    part.all(|piece| memchr(0, piece).is_none() && text.push(piece).is_ok())?;
                Ok(holds && text.finish().is_ok())
            }
            Assumption::Values(tier) => {
                let mut values = json::Validator::new(tier);
                let holds = part.all(|piece| values.push(piece).is_ok())?;
                Ok(holds && values.finish().is_ok())
            }
        }
    }
}
