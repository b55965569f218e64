//! Where a stream may be cut: at the ends of records.

use std::io;

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::store::Look;

/// So much is looked at in one piece.
const PIECE_BYTES: usize = 64 << 10;

/// What separates the records of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Records {
    /// A record ends with this byte: `\n` for lines.
    EndByte(u8),
    /// A record ends with this string.
    End(Vec<u8>),
    /// A record begins with this string.
    Start(Vec<u8>),
    /// A record ends with the first string, and the next begins with the second.
    Between(Vec<u8>, Vec<u8>),
}

impl Records {
    /// Bytes that one mark may have.
    fn mark_bytes(&self) -> usize {
        match self {
            Self::EndByte(_) => 1,
            Self::End(mark) | Self::Start(mark) => mark.len(),
            Self::Between(end, start) => end.len() + start.len(),
        }
    }

    /// The mark to look for, and how much of it still belongs to the record before it.
    fn mark(&self) -> (Vec<u8>, usize) {
        match self {
            Self::EndByte(byte) => (vec![*byte], 1),
            Self::End(mark) => (mark.clone(), mark.len()),
            Self::Start(mark) => (mark.clone(), 0),
            Self::Between(end, start) => ([end.as_slice(), start].concat(), end.len()),
        }
    }

    /// The last position in `bytes`, from `least` on, at which they can be cut.
    fn last_cut(&self, bytes: &[u8], least: usize) -> Option<usize> {
        if let Self::EndByte(byte) = self {
            return memrchr(*byte, bytes).map(|at| at + 1).filter(|&cut| cut >= least);
        }
        let (mark, kept) = self.mark();
        memmem::rfind_iter(bytes, &mark).map(|at| at + kept).find(|&cut| cut >= least)
    }

    /// The first position in `bytes`, from `least` on, at which they can be cut.
    fn first_cut(&self, bytes: &[u8], least: usize) -> Option<usize> {
        if let Self::EndByte(byte) = self {
            let from = least.saturating_sub(1);
            return memchr(*byte, bytes.get(from..)?).map(|at| from + at + 1);
        }
        let (mark, kept) = self.mark();
        memmem::find_iter(bytes, &mark).map(|at| at + kept).find(|&cut| cut >= least)
    }
}

/// Looks for cuts in bytes that somebody else fills.
#[derive(Debug)]
pub(super) struct Search {
    records: Records,
    buffer: Vec<u8>,
}

/// What is known of a stretch without enough cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) cuts: u64,
    /// The last of them, or where the stretch began.
    pub(super) after: u64,
    /// Where to search on.
    pub(super) from: u64,
}

impl Search {
    pub(super) fn new(records: Records) -> Self {
        Self { records, buffer: Vec::new() }
    }

    /// The last cut after `after` and up to `to`.
    pub(super) fn last(
        &mut self,
        bytes: &impl Look,
        after: u64,
        to: u64,
    ) -> io::Result<Option<u64>> {
        let overlap = self.records.mark_bytes() as u64 - 1;
        let (mut end, mut most) = (to, PIECE_BYTES as u64);
        while end > after {
            let start = end.saturating_sub(most).max(after);
            let piece = read(&mut self.buffer, bytes, start, end)?;
            if let Some(cut) = self.records.last_cut(piece, usize::from(start == after)) {
                return Ok(Some(start + cut as u64));
            }
            if start == after {
                break;
            }
            end = (start + overlap).min(end - 1);
            most = (most * 4).min(16 * PIECE_BYTES as u64);
        }
        Ok(None)
    }

    /// The first cut after `after` and up to `to`, where there is none before `from`; else from where to search on.
    fn first(
        &mut self,
        bytes: &impl Look,
        after: u64,
        from: u64,
        to: u64,
    ) -> io::Result<Result<u64, u64>> {
        let overlap = self.records.mark_bytes() as u64 - 1;
        let mut start = from;
        while start < to {
            let end = to.min(start + PIECE_BYTES as u64);
            let piece = read(&mut self.buffer, bytes, start, end)?;
            if let Some(cut) = self.records.first_cut(piece, usize::from(start == after)) {
                return Ok(Ok(start + cut as u64));
            }
            if end == to {
                break;
            }
            start = end - overlap;
        }
        // A mark may be cut off at the end.
        Ok(Err(to.saturating_sub(overlap).max(from)))
    }

    /// The `wanted`th cut of a stretch that ends at `to`, going on from what is known of it; else what is known then.
    pub(super) fn nth(
        &mut self,
        bytes: &impl Look,
        mut known: Counted,
        to: u64,
        wanted: u64,
    ) -> io::Result<Result<u64, Counted>> {
        if let Records::EndByte(byte) = self.records {
            while known.from < to {
                let end = to.min(known.from + PIECE_BYTES as u64);
                let piece = read(&mut self.buffer, bytes, known.from, end)?;
                let missing = usize::try_from(wanted - known.cuts - 1).unwrap_or(usize::MAX);
                if let Some(at) = memchr_iter(byte, piece).nth(missing) {
                    return Ok(Ok(known.from + at as u64 + 1));
                }
                known.cuts += memchr_iter(byte, piece).count() as u64;
                known.from = end;
            }
            return Ok(Err(known));
        }
        loop {
            match self.first(bytes, known.after, known.from, to)? {
                Ok(cut) => {
                    known = Counted { cuts: known.cuts + 1, after: cut, from: cut };
                    if known.cuts == wanted {
                        return Ok(Ok(cut));
                    }
                }
                Err(from) => return Ok(Err(Counted { from, ..known })),
            }
        }
    }
}

impl Counted {
    /// Nothing is known of a stretch that begins here.
    pub(super) fn nothing(start: u64) -> Self {
        Self { cuts: 0, after: start, from: start }
    }
}

/// Looks at a part of the bytes.
fn read<'b>(
    buffer: &'b mut Vec<u8>,
    bytes: &impl Look,
    from: u64,
    to: u64,
) -> io::Result<&'b [u8]> {
    let count = usize::try_from(to - from).unwrap_or(usize::MAX);
    if buffer.len() < count {
        buffer.resize(count, 0);
    }
    bytes.look(from, &mut buffer[..count])?;
    Ok(&buffer[..count])
}
