//! Finds the ends of lines: a mask of 64 bytes at a time, made by the kernels of each tier.
//!
//! A line ends in any one byte, usually `\n`, or NUL for records of `-z`.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
mod field;
pub(crate) mod portable;

pub use field::Field;

/// Returns the length of the longest prefix of `block` that ends in `end`; 0 when no line ends in it.
#[must_use]
pub fn whole_lines(block: &[u8], end: u8) -> usize {
    memchr::memrchr(end, block).map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tier::Granted;

    /// The mask that a kernel of `tier` makes.
    fn ends(tier: Granted, window: &[u8; 64], end: u8) -> u64 {
        match tier {
            Granted::Portable => portable::ends(window, end),
            #[cfg(target_arch = "x86_64")]
            Granted::Avx2(proof) => avx2::ends_of(proof, window, end),
            #[cfg(target_arch = "x86_64")]
            Granted::Avx512(proof) => avx512::ends_of(proof, window, end),
            #[cfg(target_arch = "aarch64")]
            Granted::Neon(_) => portable::ends(window, end),
        }
    }

    #[test]
    fn every_kernel_finds_each_end_and_nothing_else() {
        for tier in crate::tiers::tested() {
            for end in [b'\n', 0, 0x8A, 0xFF] {
                for other in [end ^ 0x80, end ^ 1, end.wrapping_add(1), end.wrapping_sub(1)] {
                    for at in 0..64 {
                        let mut window = [other; 64];
                        window[at] = end;
                        window[63 - at] = end;
                        let expected = 1 << at | 1 << (63 - at);
                        assert_eq!(ends(tier.granted(), &window, end), expected, "{tier} {end}");
                    }
                }
                assert_eq!(ends(tier.granted(), &[end; 64], end), u64::MAX, "{tier} {end}");
                assert_eq!(ends(tier.granted(), &[!end; 64], end), 0, "{tier} {end}");
            }
        }
    }

    #[test]
    fn whole_lines_end_after_the_last_end() {
        assert_eq!(whole_lines(b"a\nbc\nd", b'\n'), 5);
        assert_eq!(whole_lines(b"abc", b'\n'), 0);
        assert_eq!(whole_lines(b"a\0b", 0), 2);
    }
}
