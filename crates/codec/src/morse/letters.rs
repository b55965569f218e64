//! Tables of an alphabet for the decoding kernels, computed once from [`naive::character`].

use std::sync::OnceLock;

use super::{Alphabet, naive};

/// Prefetch distance for input. The CPU's own prefetching reads signs from main memory at a quarter of this speed
/// (decode-english, 81 MB, on an Intel Xeon: 1.5 → 6.0 GB/s).
#[cfg(target_arch = "x86_64")]
pub(super) const PREFETCH: usize = 4096;

/// Marks an entry of [`Letters::by_first`] whose sign has no letter.
pub(super) const UNKNOWN: u32 = 1 << 31;

/// The letters of an alphabet by their signs of up to seven elements.
pub(super) struct Letters {
    /// Index into `by_first` of a sign that stands for an opening parenthesis and a closing one in turn. Kernels leave
    /// it to the caller, because the tables do not contain it.
    pub(super) either_parenthesis: Option<u8>,
    /// Indexed by the elements, the first lowest, a dash being one, and a one above the last. An entry has UTF-8 in the
    /// low three bytes and its length in the fourth, or is [`UNKNOWN`]. Index 1, no sign, is an empty letter.
    pub(super) by_first: [u32; 256],
    /// The bytes of the letters, 0 for none, indexed by the elements, the *last* lowest, and a one above the first.
    pub(super) bytes: [[u8; 256]; 3],
}

impl Letters {
    pub(super) fn of(alphabet: Alphabet) -> &'static Self {
        static LETTERS: [OnceLock<Letters>; Alphabet::ALL.len()] =
            [const { OnceLock::new() }; Alphabet::ALL.len()];
        LETTERS[alphabet as usize].get_or_init(|| Self::new(alphabet))
    }

    fn new(alphabet: Alphabet) -> Self {
        let mut letters =
            Self { either_parenthesis: None, by_first: [UNKNOWN; 256], bytes: [[0; 256]; 3] };
        letters.by_first[0] = UNKNOWN;
        letters.by_first[1] = 0;
        for length in 1..=7usize {
            for bits in 0..1usize << length {
                let element = |at: usize| if bits >> at & 1 == 1 { '-' } else { '.' };
                let sign: String = (0..length).map(element).collect();
                if naive::is_either_parenthesis(&sign, alphabet) {
                    letters.either_parenthesis = Some((bits | 1 << length).to_le_bytes()[0]);
                    continue;
                }
                let Some(letter) = naive::character(&sign, alphabet) else { continue };
                let mut utf8 = [0; 4];
                utf8[3] = letter.encode_utf8(&mut utf8).len().to_le_bytes()[0];
                letters.by_first[bits | 1 << length] = u32::from_le_bytes(utf8);
                let reversed = (0..length).fold(1, |index, at| index << 1 | bits >> at & 1);
                for (bytes, byte) in letters.bytes.iter_mut().zip(utf8) {
                    bytes[reversed] = byte;
                }
            }
        }
        letters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_found_in_either_order_of_elements() {
        let latin = Letters::of(Alphabet::Latin);
        assert_eq!(latin.by_first[0b10010].to_le_bytes(), [b'L', 0, 0, 1]);
        assert_eq!(latin.bytes[0][0b10100], b'L');
        let russian = Letters::of(Alphabet::Russian);
        assert_eq!(russian.by_first[0b10].to_le_bytes(), [0xD0, 0x95, 0, 2]);
        assert_eq!((russian.bytes[0][0b10], russian.bytes[1][0b10]), (0xD0, 0x95));
    }
}
