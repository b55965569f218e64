//! What a copy wrote before its turn.

use std::collections::VecDeque;
use std::io::{self, Read};

use fullbore_pipe::{Lender, Loan, PIECE_BYTES, Piece};

/// Outputs up to this size take no more memory than they have bytes.
const FEW_BYTES: usize = 16 << 10;

/// Bytes that come in at one end and go out at the other.
#[derive(Debug)]
pub(super) struct Kept {
    lender: Lender,
    few: Vec<u8>,
    full: VecDeque<Loan>,
    last: Option<(Piece, usize)>,
    /// So much of the first of them has gone out.
    gone: usize,
    len: u64,
}

impl Kept {
    pub(super) fn new(lender: &Lender) -> Self {
        let lender = lender.clone();
        Self { lender, few: Vec::new(), full: VecDeque::new(), last: None, gone: 0, len: 0 }
    }

    /// Forgets what has not gone out.
    pub(super) fn clear(&mut self) {
        *self = Self::new(&self.lender);
    }

    /// Bytes that have not gone out.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Takes in what `read` gives, once: it is called with room for at most `wanted` bytes, and returns how many it
    /// filled in.
    pub(super) fn take_in<E>(
        &mut self,
        wanted: usize,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> io::Result<Result<usize, E>> {
        let is_small = self.full.is_empty() && self.last.is_none();
        let count = if is_small && self.few.len() + wanted <= FEW_BYTES {
            let before = self.few.len();
            self.few.resize(before + wanted, 0);
            let count = read(&mut self.few[before..]);
            self.few.truncate(before + *count.as_ref().unwrap_or(&0));
            count
        } else {
            let (piece, filled) = match &mut self.last {
                Some(last) => last,
                None => self.last.insert((self.lender.piece()?, 0)),
            };
            let to = filled.saturating_add(wanted).min(PIECE_BYTES);
            let count = read(&mut piece.bytes()[*filled..to]);
            *filled += *count.as_ref().unwrap_or(&0);
            if *filled == PIECE_BYTES {
                self.freeze();
            }
            count
        };
        self.len += *count.as_ref().unwrap_or(&0) as u64;
        Ok(count)
    }

    fn freeze(&mut self) {
        if let Some((piece, filled)) = self.last.take() {
            self.full.push_back(piece.freeze(filled));
        }
    }

    /// What goes out next: bytes, and the memory that they lie in if it can be lent, with their place in it.
    pub(super) fn front(&mut self) -> (&[u8], Option<(&Loan, usize)>) {
        if self.gone < self.few.len() {
            return (&self.few[self.gone..], None);
        }
        if self.full.is_empty() {
            self.freeze();
        }
        match self.full.front() {
            Some(loan) => (&loan.bytes()[self.gone..], Some((loan, self.gone))),
            None => (&[], None),
        }
    }

    /// Notes that so many bytes of [`front`](Self::front) went out.
    pub(super) fn advance(&mut self, count: usize) {
        self.gone += count;
        self.len -= count as u64;
        if !self.few.is_empty() {
            if self.gone == self.few.len() {
                self.few = Vec::new();
                self.gone = 0;
            }
        } else if self.full.front().is_some_and(|loan| self.gone == loan.bytes().len()) {
            self.full.pop_front();
            self.gone = 0;
        }
    }
}

impl Read for Kept {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let (bytes, _) = self.front();
        let count = bytes.len().min(into.len());
        into[..count].copy_from_slice(&bytes[..count]);
        if count > 0 {
            self.advance(count);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn bytes_go_out_as_they_came_in(
            steps in prop::collection::vec((any::<bool>(), 0_usize..3_000_000), 0..30),
        ) {
            let lender = Lender::new(16 << 20);
            let mut kept = Kept::new(&lender);
            let (mut came, mut went) = (0_u64, 0_u64);
            let byte = |at: u64| (at % 251) as u8;
            for (is_in, count) in steps {
                if is_in {
                    let read = |room: &mut [u8]| -> Result<usize, ()> {
                        room.iter_mut().zip(came..).for_each(|(to, at)| *to = byte(at));
                        Ok(room.len())
                    };
                    came += kept.take_in(count, read).unwrap().unwrap() as u64;
                } else {
                    let mut into = vec![0; count];
                    let count = kept.read(&mut into).unwrap();
                    prop_assert!(into[..count].iter().zip(went..).all(|(&is, at)| is == byte(at)));
                    went += count as u64;
                }
                prop_assert_eq!(kept.len(), came - went);
            }
            let mut rest = Vec::new();
            kept.read_to_end(&mut rest).unwrap();
            prop_assert!(rest.iter().zip(went..).all(|(&is, at)| is == byte(at)));
            prop_assert_eq!(rest.len() as u64, came - went);
            drop(kept);
            prop_assert_eq!(lender.out_bytes(), 0);
        }
    }
}
