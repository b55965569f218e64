//! Bytes that wait: parts of files, and parts of a stream in memory.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use fullbore_pipe::transfer::{Moved, Patience, from_file};
use fullbore_pipe::{Lender, Loan, PIECE_BYTES, Piece};
use rustix::io::Errno;

const PIECE: u64 = PIECE_BYTES as u64;

/// Fewer bytes are copied: lending them would take as many slots of the pipe as pages are begun.
const WORTH_LENDING: usize = 32 << 10;

/// Most that one call moves.
const MOST_BYTES: u64 = 1 << 20;

/// Bytes that can be looked at anywhere.
pub(super) trait Look {
    /// Fills `into` with the bytes from `at` on.
    fn look(&self, at: u64, into: &mut [u8]) -> io::Result<()>;
}

impl Look for File {
    fn look(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(into, at)
    }
}

/// A part of what is dealt out.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) whole: Whole,
    pub(super) range: Range<u64>,
}

/// What a part belongs to.
#[derive(Clone, Debug)]
pub(super) enum Whole {
    File(Arc<File>),
    /// A stretch of a stream; all pieces but the last are full.
    Memory(Arc<Vec<Loan>>),
}

impl Part {
    pub(super) fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Whether `holds` for its bytes, which it is given piece by piece until it does not.
    pub(super) fn all(&self, mut holds: impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
        let mut at = self.range.start;
        let mut buffer = Vec::new();
        while at < self.range.end {
            let left = usize::try_from(self.range.end - at).unwrap_or(usize::MAX);
            let count = match &self.whole {
                Whole::File(file) => {
                    buffer.resize(left.min(PIECE_BYTES), 0);
                    file.read_exact_at(&mut buffer, at)?;
                    if !holds(&buffer) {
                        return Ok(false);
                    }
                    buffer.len()
                }
                Whole::Memory(pieces) => {
                    let (index, within) = place(at);
                    let bytes = &pieces[index].bytes()[within..];
                    let bytes = &bytes[..bytes.len().min(left)];
                    if !holds(bytes) {
                        return Ok(false);
                    }
                    bytes.len()
                }
            };
            at += count as u64;
        }
        Ok(true)
    }

    /// Moves bytes from its beginning to a non-blocking pipe, as many as find room.
    pub(super) fn feed(&mut self, pipe: impl AsFd, lender: &Lender) -> io::Result<Moved> {
        let moved = match &self.whole {
            Whole::File(file) => {
                let most = usize::try_from(self.len().min(MOST_BYTES)).unwrap_or(usize::MAX);
                from_file(file, self.range.start, pipe, most, Patience::Never)
                    .map_err(|error| error.source)?
            }
            Whole::Memory(pieces) => {
                let (index, within) = place(self.range.start);
                let to = usize::try_from(self.len()).unwrap_or(usize::MAX);
                let to = within.saturating_add(to).min(PIECE_BYTES);
                hand_on(&pieces[index], within..to, pipe, lender)?
            }
        };
        if let Moved::Bytes(bytes) = moved {
            self.range.start += bytes as u64;
        }
        Ok(moved)
    }
}

/// Moves bytes of a loan to a non-blocking pipe, as many as find room.
fn hand_on(
    loan: &Loan,
    range: Range<usize>,
    pipe: impl AsFd,
    lender: &Lender,
) -> io::Result<Moved> {
    if range.len() >= WORTH_LENDING && lender.lends() {
        match loan.lend(&pipe, range.clone()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {}
            lent => return lent,
        }
        // Linux refuses, for want of memory perhaps; it may copy.
    }
    match rustix::io::retry_on_intr(|| rustix::io::write(&pipe, &loan.bytes()[range.clone()])) {
        Ok(count) => Ok(Moved::Bytes(count)),
        Err(Errno::AGAIN) => Ok(Moved::WouldBlock),
        Err(errno) => Err(errno.into()),
    }
}

/// The piece in which a position lies, and where in it.
fn place(at: u64) -> (usize, usize) {
    let index = usize::try_from(at / PIECE).unwrap_or(usize::MAX);
    let within = (at % PIECE) as usize;
    (index, within)
}

/// A stretch of a stream that grows at its end.
#[derive(Debug)]
pub(super) struct Growing {
    lender: Lender,
    pieces: Vec<Piece>,
    len: u64,
}

impl Growing {
    pub(super) fn new(lender: &Lender) -> Self {
        Self { lender: lender.clone(), pieces: Vec::new(), len: 0 }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    pub(super) fn lender(&self) -> &Lender {
        &self.lender
    }

    /// Room at the end, at least a byte and at most `wanted`.
    pub(super) fn room(&mut self, wanted: usize) -> io::Result<&mut [u8]> {
        let (index, within) = place(self.len);
        if index == self.pieces.len() {
            self.pieces.push(self.lender.piece()?);
        }
        let to = within.saturating_add(wanted.max(1)).min(PIECE_BYTES);
        Ok(&mut self.pieces[index].bytes()[within..to])
    }

    /// Takes over the first bytes of the last [`room`](Self::room).
    pub(super) fn commit(&mut self, count: usize) {
        self.len += count as u64;
    }

    /// Appends bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let room = self.room(bytes.len())?;
            let (now, later) = bytes.split_at(room.len());
            room.copy_from_slice(now);
            self.commit(now.len());
            bytes = later;
        }
        Ok(())
    }

    /// Appends a range of another stretch.
    pub(super) fn push_from(&mut self, pieces: &[Loan], range: Range<u64>) -> io::Result<()> {
        let mut at = range.start;
        while at < range.end {
            let (index, within) = place(at);
            let left = usize::try_from(range.end - at).unwrap_or(usize::MAX);
            let bytes = &pieces[index].bytes()[within..];
            let bytes = &bytes[..bytes.len().min(left)];
            self.push(bytes)?;
            at += bytes.len() as u64;
        }
        Ok(())
    }

    /// Ends the growing.
    pub(super) fn freeze(self) -> Arc<Vec<Loan>> {
        let mut left = self.len;
        let freeze = |piece: Piece| {
            let len = left.min(PIECE) as usize;
            left -= len as u64;
            piece.freeze(len)
        };
        Arc::new(self.pieces.into_iter().map(freeze).collect())
    }
}

impl Look for Growing {
    fn look(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        copy(at, into, |index, to| self.pieces[index].front(to));
        Ok(())
    }
}

impl Look for Vec<Loan> {
    fn look(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        copy(at, into, |index, _| self[index].bytes());
        Ok(())
    }
}

/// Copies bytes out of pieces; `front` gives at least so many bytes of a piece.
fn copy<'p>(mut at: u64, mut into: &mut [u8], front: impl Fn(usize, usize) -> &'p [u8]) {
    while !into.is_empty() {
        let (index, within) = place(at);
        let to = within.saturating_add(into.len()).min(PIECE_BYTES);
        let bytes = &front(index, to)[within..to];
        let (now, later) = into.split_at_mut(bytes.len());
        now.copy_from_slice(bytes);
        at += bytes.len() as u64;
        into = later;
    }
}
