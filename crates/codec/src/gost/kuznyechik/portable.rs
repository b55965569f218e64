//! Kuznyechik by tables: S and L of each byte in one look-up of 16 bytes.
//!
//! **Leaks through the cache.** Which entries of the 64 KiB tables are read depends on the key and the data; whoever
//! shares the cache can learn about both. What docs/gost.md calls constant does not leak this way.

use super::super::block::low_half;
use super::naive::{Block, RoundKeys, round_keys_by};
use super::standard::{COLUMNS, PI, PI_INVERSE, product};

/// What a byte of each value contributes in each position.
type Column = [[u64; 256]; 16];

/// The contributions to the first half of a block and to the second, as little-endian numbers. There are two tables of
/// words, because compilers make slow vectors of one table of pairs.
struct Table {
    first: Column,
    second: Column,
}

/// Computes L of a byte in each position.
const fn mixed() -> Entries {
    let (mut table, mut place) = ([[0; 256]; 16], 0);
    while place < 16 {
        let mut bit = 0;
        while bit < 8 {
            let (mut row, mut index) = ([0; 16], 0);
            while index < 16 {
                row[index] = product(COLUMNS[place][index], 1 << bit);
                index += 1;
            }
            table[place][1 << bit] = u128::from_le_bytes(row);
            bit += 1;
        }
        let mut value = 1_usize;
        while value < 256 {
            let lowest = value & value.wrapping_neg();
            table[place][value] = table[place][value ^ lowest] ^ table[place][lowest];
            value += 1;
        }
        place += 1;
    }
    table
}

/// What each byte contributes in each position, as little-endian numbers of the block.
pub(super) type Entries = [[u128; 256]; 16];

/// L after π.
pub(super) const fn encryption() -> Entries {
    let (linear, mut place) = (mixed(), 0);
    let mut entries = [[0; 256]; 16];
    while place < 16 {
        let mut value = 0;
        while value < 256 {
            entries[place][value] = linear[place][PI[value] as usize];
            value += 1;
        }
        place += 1;
    }
    entries
}

/// L⁻¹ after π⁻¹: the order in which decryption applies them, after its first L⁻¹.
///
/// ℓ is a palindrome except for the byte that leaves, so L⁻¹ is L on the bytes in reverse.
pub(super) const fn decryption() -> Entries {
    let (linear, mut place) = (mixed(), 0);
    let mut entries = [[0; 256]; 16];
    while place < 16 {
        let mut value = 0;
        while value < 256 {
            entries[place][value] = linear[15 - place][PI_INVERSE[value] as usize].swap_bytes();
            value += 1;
        }
        place += 1;
    }
    entries
}

impl Table {
    const fn of(entries: &Entries) -> Self {
        let mut table = Self { first: [[0; 256]; 16], second: [[0; 256]; 16] };
        let mut place = 0;
        while place < 16 {
            let mut value = 0;
            while value < 256 {
                table.first[place][value] = low_half(entries[place][value]);
                table.second[place][value] = low_half(entries[place][value] >> 64);
                value += 1;
            }
            place += 1;
        }
        table
    }
}

static ENCRYPTION: Table = Table::of(&encryption());
static DECRYPTION: Table = Table::of(&decryption());

/// Number of blocks that go through a round together: enough for the loads to overlap.
const LANES: usize = 4;

/// Returns the sum over all positions. It is a tree, not a chain, because the serial modes wait for its depth.
#[inline]
fn sum(column: &Column, bytes: [u8; 16]) -> u64 {
    let pair = |place: usize| {
        column[place][usize::from(bytes[place])] ^ column[place + 1][usize::from(bytes[place + 1])]
    };
    let quad = |place: usize| pair(place) ^ pair(place + 2);
    (quad(0) ^ quad(4)) ^ (quad(8) ^ quad(12))
}

#[inline]
fn look_up(table: &Table, state: u128) -> u128 {
    let bytes = state.to_le_bytes();
    u128::from(sum(&table.second, bytes)) << 64 | u128::from(sum(&table.first, bytes))
}

pub(super) fn substitute(table: &[u8; 256], state: u128) -> u128 {
    u128::from_le_bytes(state.to_le_bytes().map(|byte| table[usize::from(byte)]))
}

/// Round keys as numbers.
#[derive(Clone)]
pub(super) struct Kernel {
    pub(super) encryption: [u128; 10],
    /// L⁻¹ of K₂ … K₁₀, then K₁: decryption adds its keys after the look-up.
    pub(super) decryption: [u128; 10],
}

impl Kernel {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let keys = round_keys_by(key, |block| {
            look_up(&ENCRYPTION, u128::from_le_bytes(block)).to_le_bytes()
        });
        let encryption = keys.map(u128::from_le_bytes);
        let mut decryption = encryption;
        for key in &mut decryption[1..] {
            *key = look_up(&DECRYPTION, substitute(&PI, *key));
        }
        Self { encryption, decryption }
    }

    pub(super) fn encrypt(&self, blocks: &mut [Block]) {
        let (groups, rest) = blocks.as_chunks_mut::<LANES>();
        groups.iter_mut().for_each(|group| self.encrypt_lanes(group));
        rest.iter_mut().for_each(|block| self.encrypt_lanes(std::array::from_mut(block)));
    }

    pub(super) fn chain(&self, previous: Block, blocks: &mut [Block]) {
        chain(&self.encryption.map(u128::to_le_bytes), previous, blocks);
    }

    pub(super) fn decrypt(&self, blocks: &mut [Block]) {
        let (groups, rest) = blocks.as_chunks_mut::<LANES>();
        groups.iter_mut().for_each(|group| self.decrypt_lanes(group));
        rest.iter_mut().for_each(|block| self.decrypt_lanes(std::array::from_mut(block)));
    }

    fn encrypt_lanes<const N: usize>(&self, blocks: &mut [Block; N]) {
        let mut states = blocks.map(u128::from_le_bytes);
        for key in &self.encryption[..9] {
            states = states.map(|state| look_up(&ENCRYPTION, state ^ key));
        }
        *blocks = states.map(|state| (state ^ self.encryption[9]).to_le_bytes());
    }

    fn decrypt_lanes<const N: usize>(&self, blocks: &mut [Block; N]) {
        let mut states = blocks
            .map(u128::from_le_bytes)
            .map(|state| look_up(&DECRYPTION, substitute(&PI, state)) ^ self.decryption[9]);
        for key in self.decryption[1..9].iter().rev() {
            states = states.map(|state| look_up(&DECRYPTION, state) ^ key);
        }
        let first = self.decryption[0];
        *blocks = states.map(|state| (substitute(&PI_INVERSE, state) ^ first).to_le_bytes());
    }

    pub(super) fn erase(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.encryption);
        zeroize::Zeroize::zeroize(&mut self.decryption);
    }
}

/// Encrypts `blocks` in a chain: XORs each with the ciphertext before it, the first one with `previous`, and encrypts
/// it.
pub(super) fn chain(keys: &RoundKeys, previous: Block, blocks: &mut [Block]) {
    let keys = keys.map(u128::from_le_bytes);
    let mut state = u128::from_le_bytes(previous);
    for block in blocks {
        state ^= u128::from_le_bytes(*block);
        for key in &keys[..9] {
            state = look_up(&ENCRYPTION, state ^ key);
        }
        state ^= keys[9];
        *block = state.to_le_bytes();
    }
}
