//! Tracks where the next bytes go in a ring of memory, without holding the memory.

use std::ops::Range;

/// A position in a ring of `len` bytes: bytes before `sent` went out, those from there to `filled` wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    len: usize,
    sent: usize,
    filled: usize,
}

impl Cursor {
    /// Makes the cursor of an empty ring of `len` bytes.
    pub(crate) fn new(len: usize) -> Self {
        Self { len, sent: 0, filled: 0 }
    }

    /// Returns where the next bytes go, when `wanted` of them fit before the end.
    pub(crate) fn room(&self, wanted: usize) -> Option<Range<usize>> {
        (self.len - self.filled >= wanted).then_some(self.filled..self.len)
    }

    /// Returns which bytes wait to go out.
    pub(crate) fn pending(&self) -> Range<usize> {
        self.sent..self.filled
    }

    /// Records that `count` more bytes were filled in.
    ///
    /// # Panics
    /// When that exceeds the room.
    pub(crate) fn fill(&mut self, count: usize) {
        assert!(
            count <= self.len - self.filled,
            "{count} bytes filled in, room for {}",
            self.len - self.filled
        );
        self.filled += count;
    }

    /// Records that `count` of the waiting bytes went out, and that someone may hold their pages.
    pub(crate) fn send(&mut self, count: usize) {
        assert!(count <= self.filled - self.sent, "{count} bytes sent of {:?}", self.pending());
        self.sent += count;
    }

    /// Records that all waiting bytes went out by a copy, which frees their room.
    pub(crate) fn take_back(&mut self) {
        self.filled = self.sent;
    }

    /// Moves to the next multiple of `page`: lending part of a page wastes slots of the pipe.
    pub(crate) fn align(&mut self, page: usize) {
        debug_assert!(self.pending().is_empty(), "waiting bytes would be skipped");
        self.filled = self.filled.next_multiple_of(page).min(self.len);
        self.sent = self.filled;
    }

    /// Starts again at the front of a ring that now has `len` bytes.
    pub(crate) fn wrap(&mut self, len: usize) {
        debug_assert!(self.pending().is_empty(), "waiting bytes would be lost");
        *self = Self::new(len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Fill(usize),
        Send(usize),
        TakeBack,
        Align,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0_usize..300).prop_map(Step::Fill),
            (0_usize..300).prop_map(Step::Send),
            Just(Step::TakeBack),
            Just(Step::Align),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Checks the promise that lending rests on: no byte that was lent is given out again before the ring starts
        /// anew.
        #[test]
        fn bytes_that_went_out_are_not_given_out_again(steps in prop::collection::vec(step(), 0..80)) {
            let mut cursor = Cursor::new(1024);
            let mut sent = vec![false; 1024];
            for step in steps {
                match step {
                    Step::Fill(count) => match cursor.room(count) {
                        Some(range) => {
                            prop_assert!(range.len() >= count);
                            prop_assert!(sent[range.clone()].iter().all(|sent| !sent), "{range:?}");
                            cursor.fill(count);
                        }
                        None => {
                            let rest = cursor.pending();
                            cursor.send(rest.len());
                            cursor.wrap(1024);
                            sent.fill(false);
                        }
                    },
                    Step::Send(count) => {
                        let pending = cursor.pending();
                        let count = count.min(pending.len());
                        sent[pending.start..pending.start + count].fill(true);
                        cursor.send(count);
                    }
                    Step::TakeBack => cursor.take_back(),
                    Step::Align => if cursor.pending().is_empty() { cursor.align(64) },
                }
                prop_assert!(cursor.pending().end <= 1024);
            }
        }
    }
}
