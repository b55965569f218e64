//! Makes one output of those of all copies, where putting them one after the other is not enough.

mod files;
mod numbers;
mod uniq_count;

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::BorrowedFd;

use super::command::Command;
use super::job::Status;
use super::kept::Kept;
use files::Files;
use numbers::{Fold, Numbers};
use uniq_count::UniqCount;

/// An output of numbers is not longer.
const NUMBERS_BYTES: u64 = 1 << 20;

/// Outputs are copied in pieces.
const PIECE_BYTES: usize = 128 << 10;

/// How the outputs of all copies become one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Merge {
    /// Numbers at the same place are added: `wc`, `grep -c`.
    Sum,
    /// The greatest of the numbers at the same place: `wc -L`.
    Greatest,
    /// Where one output ends with this byte and the next begins with it, the second is left out: `tr -s`.
    Squeeze(u8),
    /// Lines of `uniq -c`: equal neighbours become one, and their counts are added.
    UniqCount,
    /// This command gets the outputs as files, in the order of the input: `sort -m`.
    Files(Command),
    /// This command reads the outputs one after the other: `uniq`, `head`, `tail`.
    Through(Command),
}

/// Why outputs could not be merged.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The output of a block is not what the merge expects.
    Output(String),
    /// The merging command failed.
    Command(Status),
    Writing(io::Error),
    /// Linux refused a file in memory, or a process.
    Memory(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
}

/// Takes the outputs in order.
#[derive(Debug)]
pub(super) enum Collector {
    Numbers(Numbers),
    /// The byte, and whether the outputs so far end with it.
    Squeeze(u8, bool),
    UniqCount(UniqCount),
    Files(Files),
}

impl Collector {
    /// `None` where the outputs go one after the other.
    pub(super) fn new(merge: Merge) -> Option<Self> {
        Some(match merge {
            Merge::Sum => Self::Numbers(Numbers::new(Fold::Sum)),
            Merge::Greatest => Self::Numbers(Numbers::new(Fold::Greatest)),
            Merge::Squeeze(byte) => Self::Squeeze(byte, false),
            Merge::UniqCount => Self::UniqCount(UniqCount::default()),
            Merge::Files(command) => Self::Files(Files::new(command)),
            Merge::Through(_) => return None,
        })
    }

    /// Bytes in memory that are kept to the end.
    pub(super) fn held_bytes(&self) -> u64 {
        match self {
            Self::Files(files) => files.bytes,
            Self::Numbers(_) | Self::Squeeze(..) | Self::UniqCount(_) => 0,
        }
    }

    /// Takes over the output of a first copy. For [`Merge::Squeeze`], that was written already: it ends with the byte,
    /// because its input ended with a line end.
    pub(super) fn begin(&mut self, output: &[u8]) -> Result<(), Trouble> {
        match self {
            Self::Numbers(numbers) => numbers.add(output).map_err(Trouble::Output),
            Self::Squeeze(_, ends_with_it) => {
                *ends_with_it = true;
                Ok(())
            }
            Self::UniqCount(_) | Self::Files(_) => Ok(()),
        }
    }

    /// Takes the output of the next block.
    pub(super) fn take(&mut self, output: &mut Kept, out: BorrowedFd<'_>) -> Result<(), Trouble> {
        match self {
            Self::Numbers(numbers) => {
                if output.len() > NUMBERS_BYTES {
                    return Err(Trouble::Output(
                        "an output of numbers is at most 1 MiB long".into(),
                    ));
                }
                let mut text = Vec::new();
                output.read_to_end(&mut text)?;
                numbers.add(&text).map_err(Trouble::Output)
            }
            Self::Squeeze(byte, ends_with_it) => {
                let mut out = File::from(out.try_clone_to_owned()?);
                let mut piece = vec![0; PIECE_BYTES];
                loop {
                    let count = output.read(&mut piece)?;
                    let Some(last) = piece[..count].last() else { return Ok(()) };
                    let skipped = usize::from(*ends_with_it && piece[0] == *byte);
                    *ends_with_it = last == byte;
                    out.write_all(&piece[skipped..count])?;
                }
            }
            Self::UniqCount(counts) => {
                let out = File::from(out.try_clone_to_owned()?);
                counts.add(BufReader::new(output), out).map_err(|error| {
                    match error.raw_os_error() {
                        Some(_) => Trouble::Writing(error),
                        None => Trouble::Output(error.to_string()),
                    }
                })
            }
            Self::Files(files) => {
                files.take(output).map_err(Trouble::Memory)?.map_err(Trouble::Command)
            }
        }
    }

    /// Writes what is left.
    pub(super) fn finish(self, out: BorrowedFd<'_>) -> Result<(), Trouble> {
        let mut file = File::from(out.try_clone_to_owned()?);
        match self {
            Self::Numbers(numbers) => file.write_all(&numbers.text())?,
            Self::Squeeze(..) => {}
            Self::UniqCount(counts) => counts.finish(file)?,
            Self::Files(files) => {
                files.finish(&file).map_err(Trouble::Memory)?.map_err(Trouble::Command)?;
            }
        }
        Ok(())
    }
}
