//! Makes one output of those of all copies, where putting them one after the other is not enough.

mod numbers;
mod uniq_count;

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::process::Stdio;

use super::command::Command;
use super::store::Part;
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

/// Takes the outputs in order.
#[derive(Debug)]
pub(super) enum Collector {
    Numbers(Numbers),
    /// The byte, and whether the outputs so far end with it.
    Squeeze(u8, bool),
    UniqCount(UniqCount),
    Files(Command, Vec<Part>),
}

impl Collector {
    /// `None` where the outputs go one after the other.
    pub(super) fn new(merge: Merge) -> Option<Self> {
        Some(match merge {
            Merge::Sum => Self::Numbers(Numbers::new(Fold::Sum)),
            Merge::Greatest => Self::Numbers(Numbers::new(Fold::Greatest)),
            Merge::Squeeze(byte) => Self::Squeeze(byte, false),
            Merge::UniqCount => Self::UniqCount(UniqCount::default()),
            Merge::Files(command) => Self::Files(command, Vec::new()),
            Merge::Through(_) => return None,
        })
    }

    /// Bytes in memory that are kept to the end.
    pub(super) fn held_bytes(&self) -> u64 {
        match self {
            Self::Files(_, parts) => parts.iter().map(Part::len).sum(),
            Self::Numbers(_) | Self::Squeeze(..) | Self::UniqCount(_) => 0,
        }
    }

    /// Takes the output of the next block.
    pub(super) fn take(&mut self, output: Part, out: BorrowedFd<'_>) -> io::Result<()> {
        match self {
            Self::Numbers(numbers) => {
                if output.len() > NUMBERS_BYTES {
                    return Err(io::Error::other("an output of numbers is at most 1 MiB long"));
                }
                let mut text = Vec::new();
                PartReader::new(output).read_to_end(&mut text)?;
                numbers.add(&text).map_err(io::Error::other)
            }
            Self::Squeeze(byte, ends_with_it) => {
                let mut reader = PartReader::new(output);
                let mut out = File::from(out.try_clone_to_owned()?);
                let mut piece = vec![0; PIECE_BYTES];
                loop {
                    let count = reader.read(&mut piece)?;
                    let Some(last) = piece[..count].last() else { return Ok(()) };
                    let skipped = usize::from(*ends_with_it && piece[0] == *byte);
                    *ends_with_it = last == byte;
                    out.write_all(&piece[skipped..count])?;
                }
            }
            Self::UniqCount(counts) => {
                let out = File::from(out.try_clone_to_owned()?);
                counts.add(BufReader::new(PartReader::new(output)), out)
            }
            Self::Files(_, parts) => {
                parts.push(output);
                Ok(())
            }
        }
    }

    /// Writes what is left; returns the exit status of the merging command.
    pub(super) fn finish(self, out: BorrowedFd<'_>) -> io::Result<u8> {
        let mut file = File::from(out.try_clone_to_owned()?);
        match self {
            Self::Numbers(numbers) => file.write_all(&numbers.text())?,
            Self::Squeeze(..) => {}
            Self::UniqCount(counts) => counts.finish(file)?,
            Self::Files(command, parts) => {
                // Opened anew by their names, so that the command inherits nothing.
                let folder = format!("/proc/{}/fd", std::process::id());
                let names = parts.iter().map(|part| format!("{folder}/{}", part.file.as_raw_fd()));
                let mut process = command.process();
                process.args(names).stdin(Stdio::null()).stdout(Stdio::from(file));
                let status = process.status()?;
                return Ok(super::job::Status::of(status).code);
            }
        }
        Ok(0)
    }
}

/// Reads a part of a file from its beginning.
struct PartReader(Part);

impl PartReader {
    fn new(part: Part) -> Self {
        Self(part)
    }
}

impl Read for PartReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.0.len()).unwrap_or(usize::MAX);
        let most = into.len().min(left);
        let count = self.0.file.read_at(&mut into[..most], self.0.range.start)?;
        self.0.range.start += count as u64;
        Ok(count)
    }
}
