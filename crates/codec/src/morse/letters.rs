//! An alphabet as the decoding kernels want it: computed once from [`naive::character`].

use std::sync::OnceLock;

use super::{Alphabet, naive};

/// Set in an entry of [`Letters::by_first`]: no letter has this sign.
pub(super) const UNKNOWN: u32 = 1 << 31;

/// The letters of an alphabet by their signs, of up to seven elements.
pub(super) struct Letters {
    /// Indexed by the elements, the first lowest, a dash being one, and a one above the last: UTF-8 in the low three bytes,
    /// its length in the fourth, or [`UNKNOWN`]. Index 1, no sign, is an empty letter.
    pub(super) by_first: [u32; 256],
    /// The bytes of the letters, 0 for none, indexed by the elements, the *last* lowest, and a one above the first.
    pub(super) bytes: [[u8; 256]; 3],
}

impl Letters {
    pub(super) fn of(alphabet: Alphabet) -> &'static Self {
        static LETTERS: [OnceLock<Letters>; 7] = [const { OnceLock::new() }; 7];
        LETTERS[alphabet as usize].get_or_init(|| Self::new(alphabet))
    }

    fn new(alphabet: Alphabet) -> Self {
        let mut letters = Self { by_first: [UNKNOWN; 256], bytes: [[0; 256]; 3] };
        letters.by_first[0] = UNKNOWN;
        letters.by_first[1] = 0;
        for length in 1..=7usize {
            for bits in 0..1usize << length {
                let element = |at: usize| if bits >> at & 1 == 1 { '-' } else { '.' };
                let sign: String = (0..length).map(element).collect();
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
