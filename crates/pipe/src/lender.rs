//! Memory for streams that wait, lent to any number of pipes and filled again when nobody can see it change.
#![allow(unsafe_code)]

use std::fmt;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::io::Errno;
use rustix::pipe::SpliceFlags;

use crate::pages::{Faults, HUGE_BYTES, Pages};
use crate::transfer::Moved;
use crate::writer::{Held, Probe, probe};

/// The memory of a [`Piece`].
pub const PIECE_BYTES: usize = HUGE_BYTES;

/// So many pieces that were lent are made ready to be filled again at once: the child process that it takes costs about
/// as much as copying a megabyte.
const ROUND_PIECES: usize = 8;

/// Hands out [`Piece`]s of memory to fill. A full one becomes a [`Loan`], which any number of pipes can get without a
/// copy. When the last clone of a loan is dropped, its memory goes back to the lender, which hands it out again: new
/// memory is what costs most, on a virtual machine about as much as copying it four times.
///
/// Memory that was lent is filled again only after a child process that exits at once has made it copy-on-write, as
/// [`PipeWriter`](crate::PipeWriter) does: whoever still holds a page then keeps its bytes. Where that cannot be had
/// ([`probe`]), lent memory is given up, and replaced by new.
///
/// ```
/// use std::io::Read;
/// let lender = fullbore_pipe::Lender::new(8 << 20);
/// let mut piece = lender.piece()?;
/// piece.bytes()[..5].copy_from_slice(b"hello");
/// let loan = piece.freeze(5);
/// let (mut reader, pipe) = std::io::pipe()?;
/// loan.lend(&pipe, 0..5)?;
/// drop((pipe, loan));
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Lender {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Found out when it first matters, because that takes half a millisecond.
    probe: OnceLock<Probe>,
    /// Pieces in all.
    most: usize,
}

struct State {
    /// Ready to be filled.
    ready: Vec<Pages>,
    /// Somebody may still hold pages of them.
    lent: Vec<Pages>,
    /// Pieces and loans that somebody has.
    out: usize,
    held: Held,
}

/// Memory to fill, of [`PIECE_BYTES`] bytes.
pub struct Piece {
    /// `None` only while it is dropped.
    pages: Option<Pages>,
    lender: Lender,
}

/// Bytes that do not change any more. Clones are cheap, and share the memory.
#[derive(Clone)]
pub struct Loan {
    inner: Arc<Frozen>,
}

struct Frozen {
    pages: Option<Pages>,
    len: usize,
    was_lent: AtomicBool,
    lender: Lender,
}

// SAFETY: shared references to the pages only read them: nobody has a mutable reference to frozen pages, and lending
// them makes Linux read them, too.
unsafe impl Sync for Frozen {}

impl Lender {
    /// Makes a lender that keeps memory which nobody uses as long as all its memory has at most `most_bytes`.
    #[must_use]
    pub fn new(most_bytes: usize) -> Self {
        let held = Held::new(Faults::OfProcess);
        let state = State { ready: Vec::new(), lent: Vec::new(), out: 0, held };
        let most = most_bytes / PIECE_BYTES;
        let shared = Shared { state: Mutex::new(state), probe: OnceLock::new(), most };
        Self { shared: Arc::new(shared) }
    }

    /// Hands out memory to fill. It contains zeros or bytes of earlier pieces.
    ///
    /// # Errors
    /// [`OutOfMemory`](io::ErrorKind::OutOfMemory).
    pub fn piece(&self) -> io::Result<Piece> {
        let mut state = self.state();
        // Many, or all that there may be.
        let is_many = state.lent.len() >= ROUND_PIECES
            || state.out + state.lent.len() >= self.shared.most && !state.lent.is_empty();
        if state.ready.is_empty() && is_many {
            self.end_round(&mut state);
        }
        let pages = match state.ready.pop() {
            Some(pages) => pages,
            None => Pages::map(PIECE_BYTES)?,
        };
        state.out += 1;
        drop(state);
        let mut pages = pages;
        // A round that ends while the piece is being filled then costs it nothing. If Linux refuses, it costs faults.
        let _ = pages.set_shared(false);
        Ok(Piece { pages: Some(pages), lender: self.clone() })
    }

    /// Bytes of all pieces and loans that somebody has.
    #[must_use]
    pub fn out_bytes(&self) -> u64 {
        (self.state().out * PIECE_BYTES) as u64
    }

    /// Whether loans go into pipes without a copy here. The first call finds out, in half a millisecond.
    #[must_use]
    pub fn lends(&self) -> bool {
        !matches!(self.shared.probe.get_or_init(probe), Probe::Copy { .. })
    }

    /// Makes all lent memory ready to be filled, or gives it up.
    fn end_round(&self, state: &mut State) {
        let bytes = state.lent.len() * PIECE_BYTES;
        let can_share = matches!(self.shared.probe.get(), Some(Probe::Ring));
        if can_share
            && !state.held.wants_new_pages(bytes)
            && state.lent.first_mut().is_some_and(|pages| pages.share().is_ok())
        {
            let lent = std::mem::take(&mut state.lent);
            state.ready.extend(lent);
        } else {
            // Pipes keep what they still have of it.
            state.lent.clear();
        }
        state.held.start_round();
    }

    fn take_back(&self, mut pages: Pages, was_lent: bool) {
        let mut state = self.state();
        state.out -= 1;
        if state.out + state.ready.len() + state.lent.len() >= self.shared.most {
            return;
        }
        if !was_lent {
            state.ready.push(pages);
        } else if pages.set_shared(true).is_ok() {
            // Otherwise the end of the round could not make it copy-on-write.
            state.lent.push(pages);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Piece {
    /// All its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        self.pages.as_mut().map_or(&mut [], |pages| pages.bytes(0..PIECE_BYTES))
    }

    /// Its first `len` bytes, to read.
    ///
    /// # Panics
    /// When it has fewer.
    #[must_use]
    pub fn front(&self, len: usize) -> &[u8] {
        self.pages.as_ref().map_or(&[], |pages| pages.view(0..len))
    }

    /// Ends the filling: the first `len` bytes will not change any more.
    ///
    /// # Panics
    /// When it has fewer.
    #[must_use]
    pub fn freeze(mut self, len: usize) -> Loan {
        assert!(len <= PIECE_BYTES, "{len} bytes of a piece");
        let (pages, lender) = (self.pages.take(), self.lender.clone());
        let was_lent = AtomicBool::new(false);
        Loan { inner: Arc::new(Frozen { pages, len, was_lent, lender }) }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if let Some(pages) = self.pages.take() {
            self.lender.take_back(pages, false);
        }
    }
}

impl Loan {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.inner.pages.as_ref().map_or(&[], |pages| pages.view(0..self.inner.len))
    }

    /// Puts the bytes in `range` into a pipe without copying them, as many as find room, and without waiting. Call it
    /// only where [`Lender::lends`], and for many bytes: each page takes a slot of the pipe, however little of it is
    /// in `range`.
    ///
    /// # Errors
    /// Linux's: `BrokenPipe` when the pipe has no reader, EPERM or ENOSYS under a filter.
    ///
    /// # Panics
    /// When `range` is not within the bytes.
    ///
    /// Source: vmsplice(2).
    pub fn lend(&self, pipe: impl AsFd, range: Range<usize>) -> io::Result<Moved> {
        assert!(range.end <= self.inner.len, "{range:?} of {} bytes", self.inner.len);
        let Some(pages) = &self.inner.pages else { return Ok(Moved::End) };
        // Before the pages are in the pipe, so that no other thread finds them there without it.
        self.inner.was_lent.store(true, Ordering::Release);
        let pipe = pipe.as_fd();
        let again = || {
            // SAFETY: nobody writes to these bytes before the last clone of this loan is dropped. Then the lender has
            // the pages, and knows that they were lent: it makes all such memory copy-on-write before it hands it out
            // again, or unmaps it.
            unsafe { pages.lend(pipe, range.clone(), SpliceFlags::NONBLOCK) }
        };
        match rustix::io::retry_on_intr(again) {
            Ok(count) => Ok(Moved::Bytes(count)),
            Err(Errno::AGAIN) => Ok(Moved::WouldBlock),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        if let Some(pages) = self.pages.take() {
            self.lender.take_back(pages, *self.was_lent.get_mut());
        }
    }
}

impl fmt::Debug for Lender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lender").field("out_bytes", &self.out_bytes()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Piece").finish_non_exhaustive()
    }
}

impl fmt::Debug for Loan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("len", &self.inner.len).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OwnPipe;
    use crate::pages::alone;
    use crate::transfer::pass;
    use fullbore_measure::Bytes;
    use std::io::Read;

    /// A relay that holds what it got, as a queue of pipes does.
    fn hold(loan: &Loan) -> OwnPipe {
        let (near, far) = (std::io::pipe().unwrap(), OwnPipe::new(Bytes(1 << 20)).unwrap());
        let len = loan.bytes().len();
        assert_eq!(loan.lend(&near.1, 0..len).unwrap(), Moved::Bytes(len));
        assert_eq!(pass(&near.0, far.write_end(), len), Some(Moved::Bytes(len)));
        far
    }

    #[test]
    fn bytes_that_somebody_holds_are_not_changed_by_later_pieces() {
        let _turn = alone();
        const LEN: usize = 40_000;
        let lender = Lender::new(usize::MAX);
        if !lender.lends() {
            // Then nothing is ever lent.
            return;
        }
        let mut held = Vec::new();
        for number in 0..100_u8 {
            let mut piece = lender.piece().unwrap();
            piece.bytes()[..LEN].fill(number);
            held.push(hold(&piece.freeze(LEN)));
        }
        for (number, pipe) in held.iter().enumerate() {
            let mut bytes = vec![0; LEN];
            let mut reader = std::fs::File::from(pipe.read_end().try_clone_to_owned().unwrap());
            reader.read_exact(&mut bytes).unwrap();
            assert!(bytes.iter().all(|&byte| usize::from(byte) == number), "of piece {number}");
        }
    }

    #[test]
    fn memory_is_used_again_and_no_more_of_it_is_kept_than_was_asked_for() {
        let _turn = alone();
        let lender = Lender::new(4 * PIECE_BYTES);
        let mut seen = std::collections::HashSet::new();
        for _ in 0..50 {
            let mut piece = lender.piece().unwrap();
            seen.insert(piece.bytes().as_ptr() as usize);
        }
        assert_eq!(seen.len(), 1);
        let pieces: Vec<Piece> = (0..9).map(|_| lender.piece().unwrap()).collect();
        assert_eq!(lender.out_bytes(), 9 * PIECE_BYTES as u64);
        drop(pieces);
        assert_eq!(lender.out_bytes(), 0);
        assert_eq!(lender.state().ready.len(), 4);
    }

    #[test]
    fn lent_memory_is_used_again_where_linux_allows_it() {
        let _turn = alone();
        let lender = Lender::new(usize::MAX);
        if !lender.lends() || lender.shared.probe.get() != Some(&Probe::Ring) {
            return;
        }
        let mut seen = std::collections::HashSet::new();
        for _ in 0..20 * ROUND_PIECES {
            let mut piece = lender.piece().unwrap();
            seen.insert(piece.bytes().as_ptr() as usize);
            drop(hold(&piece.freeze(40_000)));
        }
        // Now and then other tests' page faults look like those of pages that somebody holds.
        assert!(seen.len() <= 10 * ROUND_PIECES, "{} pieces of memory", seen.len());
    }

    #[test]
    fn a_full_pipe_takes_nothing_and_nobody_waits() {
        let lender = Lender::new(0);
        let (_reader, pipe) = std::io::pipe().unwrap();
        let loan = lender.piece().unwrap().freeze(PIECE_BYTES);
        if !lender.lends() {
            return;
        }
        assert_eq!(loan.lend(&pipe, 0..PIECE_BYTES).unwrap(), Moved::Bytes(65536));
        assert_eq!(loan.lend(&pipe, 65536..PIECE_BYTES).unwrap(), Moved::WouldBlock);
    }
}
