//! Counts lines.

use super::error::NoMemory;
use super::groups::Groups;
use super::lines_of::{Text, portable_find, portable_key, run};
use super::value::Tally;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::Tier;
use crate::lines::{self, Field};
use crate::tier::Granted;

impl<V: Tally> Groups<V> {
    /// Counts the lines of `block`, which is `position` bytes behind the beginning of the stream.
    ///
    /// Lines end in `end`. What follows the last end is left out.
    ///
    /// # Errors
    /// [`NoMemory`]; then some of the lines were counted.
    pub fn add_lines(
        &mut self,
        block: &[u8],
        end: u8,
        position: u64,
        tier: Tier,
    ) -> Result<(), NoMemory> {
        let text = Text { block, end, position };
        match tier.granted() {
            Granted::Portable => {
                run(self, text, lines::portable::ends, portable_key, portable_find)
            }
            #[cfg(target_arch = "x86_64")]
            Granted::Avx2(proof) => avx2::add_lines(proof, self, text),
            #[cfg(target_arch = "x86_64")]
            Granted::Avx512(proof) => avx512::add_lines(proof, self, text),
            // With NEON it took as many instructions: 12.3 a byte for lines of 8 bytes.
            #[cfg(target_arch = "aarch64")]
            Granted::Neon(_) => run(self, text, lines::portable::ends, portable_key, portable_find),
        }
    }

    /// Counts one field of each line of `block`, as [`add_lines`](Self::add_lines) counts the whole line.
    ///
    /// # Errors
    /// [`NoMemory`]; then some of the lines were counted.
    pub fn add_fields(
        &mut self,
        block: &[u8],
        end: u8,
        position: u64,
        field: Field,
    ) -> Result<(), NoMemory> {
        let mut start = 0;
        for line_end in memchr::memchr_iter(end, block) {
            let key = field.of(&block[start..line_end]);
            self.try_entry(key)?.absorb(V::one(position + start as u64));
            start = line_end + 1;
        }
        Ok(())
    }
}
