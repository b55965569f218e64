//! A stream whose every byte is known: 64-bit numbers in turn, little-endian; or only the first of each page.

/// A page, the unit in which pipes take memory over.
pub(super) const PAGE_BYTES: usize = 4096;

/// How much of the stream is written by the writer and looked at by the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    /// Every word: what a stage that makes its data does.
    Words,
    /// The first word of every page: pages can be told from each other at almost no cost.
    Stamps,
    /// Nothing: the same bytes again and again.
    Nothing,
}

impl Fill {
    /// By the name in a suite file.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "words" => Self::Words,
            "stamps" => Self::Stamps,
            _ => Self::Nothing,
        }
    }

    /// Fills `block` (whole pages) with the stream from byte `at` (the start of a page) on.
    pub(super) fn fill(self, block: &mut [u8], at: u64) {
        let first = at / 8;
        match self {
            Self::Words => {
                for (number, word) in (first..).zip(block.as_chunks_mut::<8>().0) {
                    *word = number.to_le_bytes();
                }
            }
            Self::Stamps => {
                let numbers = (first..).step_by(PAGE_BYTES / 8);
                for (number, page) in numbers.zip(block.as_chunks_mut::<PAGE_BYTES>().0) {
                    page[..8].copy_from_slice(&number.to_le_bytes());
                }
            }
            Self::Nothing => {}
        }
    }
}

/// Compares what arrives with the stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked {
    fill: Fill,
    /// Bytes that arrived, or were skipped.
    pub(super) bytes: u64,
    looked_at: u64,
    wrong: u64,
}

impl Checked {
    /// From byte `at` of the stream on.
    pub(super) fn new(fill: Fill, at: u64) -> Self {
        Self { fill, bytes: at, looked_at: 0, wrong: 0 }
    }

    /// `ok`, or how many words were wrong; `None` when nothing was to be looked at.
    pub(super) fn answer(&self) -> Option<String> {
        match (self.fill, self.wrong) {
            (Fill::Nothing, _) => None,
            (_, 0) => Some("ok".to_owned()),
            (_, wrong) => Some(format!("{wrong} of {} words wrong", self.looked_at)),
        }
    }

    /// Takes the next bytes, cut anywhere; a word that is cut is not looked at.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        let step = match self.fill {
            Fill::Words => 8,
            Fill::Stamps => PAGE_BYTES as u64,
            Fill::Nothing => {
                self.bytes += bytes.len() as u64;
                return;
            }
        };
        let skipped = self.bytes.next_multiple_of(step) - self.bytes;
        let rest = usize::try_from(skipped).ok().and_then(|skipped| bytes.get(skipped..));
        let first = (self.bytes + skipped) / 8;
        let wrong = match (self.fill, rest.unwrap_or_default()) {
            (Fill::Words, rest) => {
                let words = rest.as_chunks::<8>().0;
                self.looked_at += words.len() as u64;
                let numbers = (first..).zip(words);
                numbers.filter(|(number, word)| number.to_le_bytes() != **word).count()
            }
            (_, rest) => {
                let pages = rest.chunks(PAGE_BYTES).filter_map(<[u8]>::first_chunk::<8>);
                let numbers = (first..).step_by(PAGE_BYTES / 8);
                let mut wrong = 0;
                for (number, word) in numbers.zip(pages) {
                    self.looked_at += 1;
                    wrong += usize::from(number.to_le_bytes() != *word);
                }
                wrong
            }
        };
        self.wrong += wrong as u64;
        self.bytes += bytes.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_wherever_the_stream_is_cut() {
        for fill in [Fill::Words, Fill::Stamps] {
            let mut stream = vec![0; 4 * PAGE_BYTES];
            fill.fill(&mut stream[..PAGE_BYTES], 0);
            fill.fill(&mut stream[PAGE_BYTES..], PAGE_BYTES as u64);
            for step in [4096, 8192, 1000, 24] {
                let check = |stream: &[u8]| {
                    let mut checked = Checked::new(fill, 0);
                    stream.chunks(step).for_each(|piece| checked.take(piece));
                    assert_eq!(checked.bytes, stream.len() as u64);
                    checked.answer().unwrap()
                };
                assert_eq!(check(&stream), "ok", "{fill:?} in steps of {step}");
                stream[2 * PAGE_BYTES] ^= 1;
                let answer = check(&stream);
                assert!(answer.starts_with("1 of "), "{fill:?} in steps of {step}: {answer}");
                stream[2 * PAGE_BYTES] ^= 1;
            }
        }
    }

    #[test]
    fn what_is_not_looked_at_has_no_answer() {
        let mut checked = Checked::new(Fill::Nothing, 0);
        checked.take(&[1, 2, 3]);
        assert_eq!((checked.bytes, checked.answer()), (3, None));
    }
}
