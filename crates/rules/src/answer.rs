//! The answers: what happens to output and exit status when input is dealt out.

use serde::Deserialize;

/// What happens to the output of a command when its input is dealt out.
///
/// The promises are about runs that do not fail. A command that stops with an error at one record writes nothing for the
/// records after it, but the copies that got those do; at least one status then says that something failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dealt {
    /// The output of the whole is the outputs of the blocks, one after the other.
    Records,
    /// The output is right after the outputs of the blocks were merged.
    Merge(Merge),
    /// The outputs one after the other are other bytes than one run writes, but mean the same.
    Equivalent {
        /// Why they mean the same: "decompresses to the same bytes".
        why: String,
    },
    /// The output depends on position, neighbours or all of the input: dealing out gives another output.
    Differs {
        /// The reason, a clause that can follow "because": "END runs once per block".
        why: String,
        /// What to run or to add instead.
        instead: Option<String>,
    },
    /// Nothing is known about this command, or about these options of it.
    Unknown,
}

/// How the outputs of the blocks become the output of the whole. Words of a command begin with its name, and with the
/// wrapper that the user put before it (`env LC_ALL=C`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merge {
    /// Every output is one line of whole numbers: add them column by column. One column is written without blanks; several
    /// are right-aligned to seven characters and joined by a blank. Empty outputs count nothing; if all are empty, so is
    /// the sum.
    Sum,
    /// Every output is one line with one whole number: the greatest of them.
    Greatest,
    /// Run this command, with the outputs as its files, in the order of the blocks.
    Sort(Vec<String>),
    /// Run this command over the outputs one after the other; only the lines beside a cut can change.
    Uniq(Vec<String>),
    /// Lines of `uniq -c`: if the last line of one output and the first of the next differ only in their count, they
    /// become one line, with the sum of the counts right-aligned to seven characters. The outputs may be very long runs:
    /// a line can span more than two blocks.
    UniqCount,
    /// Run this `head` over the outputs one after the other.
    Head(Vec<String>),
    /// Run this `tail` over the outputs one after the other.
    Tail(Vec<String>),
    /// Where one output ends in this byte and the next begins with it, leave out the second.
    Squeeze(u8),
    /// Begin every block with a copy of the first so many lines of the input. Then leave out the first so many lines of
    /// every output but the first that is not empty.
    FirstHeader(u64),
}

/// How the exit statuses of the blocks become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// 0 if all are 0, else the first that is not.
    #[default]
    All,
    /// The greatest status of 2 or more, if there is one; else 0 if any is 0; else 1. As `grep` means it.
    Any,
    /// The greatest.
    Max,
    /// That of the last block. `jq` reports only its last error.
    Last,
}

/// Where bytes may be cut, or where the output for a block ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ends {
    /// After a line.
    #[default]
    Lines,
    /// After a NUL byte.
    Zeros,
    /// Anywhere.
    Bytes,
}

/// What can be looked for in an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// Characters are valid in the locale's encoding, and no byte is zero.
    Text,
    /// Every line holds whole JSON values.
    Values,
}

/// What is known about one command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What happens to the output.
    pub dealt: Dealt,
    /// How the exit statuses become one.
    pub status: Status,
    /// What the rule assumes of the input: "every line is one JSON value".
    pub needs: Option<String>,
    /// How a program can find out whether an input meets all that `needs` says; `None` if it cannot.
    pub check: Option<Check>,
    /// Where its input may be cut.
    pub input: Ends,
    /// Where the output for a block of whole records ends. [`Ends::Bytes`] promises nothing, so another stage must not
    /// read such output block by block, unless it can be cut anywhere.
    pub output: Ends,
    /// Whether it takes in so many bytes a second (300 MB and more) that several copies between two pipes gain nothing.
    pub is_light: bool,
}

impl Rule {
    pub(crate) fn unknown() -> Self {
        Self {
            dealt: Dealt::Unknown,
            status: Status::All,
            needs: None,
            check: None,
            input: Ends::Lines,
            output: Ends::Bytes,
            is_light: false,
        }
    }

    pub(crate) fn differs(why: &str, instead: Option<&str>) -> Self {
        Self { dealt: Dealt::differs(why, instead), ..Self::unknown() }
    }

    /// Adds a condition on the input to those that there are.
    pub(crate) fn need(&mut self, condition: &str) {
        self.check = None;
        self.needs = Some(match self.needs.take() {
            Some(earlier) if earlier == condition => earlier,
            Some(earlier) => format!("{earlier}; {condition}"),
            None => condition.to_owned(),
        });
    }
}

impl Dealt {
    pub(crate) fn differs(why: &str, instead: Option<&str>) -> Self {
        Self::Differs { why: why.to_owned(), instead: instead.map(str::to_owned) }
    }
}
