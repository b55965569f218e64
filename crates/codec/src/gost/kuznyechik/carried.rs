//! The standard's field carried over into the one in which GFNI multiplies.

use super::matrix::matrix;
use super::standard::{COLUMNS, linear, product_modulo};

/// Modulus of the field in which GFNI multiplies, x⁸ + x⁴ + x³ + x + 1, without its leading term.
pub(super) const OTHER_MODULUS: u8 = 0x1b;

/// Images of the powers of x in the other field: powers of a root of the standard's polynomial there.
pub(super) const POWERS: [u8; 8] = {
    let mut root = 2_u8;
    let mut powers;
    loop {
        powers = [1_u8; 8];
        let mut index = 1;
        while index < 8 {
            powers[index] = product_modulo(powers[index - 1], root, OTHER_MODULUS);
            index += 1;
        }
        let eighth = product_modulo(powers[7], root, OTHER_MODULUS);
        if eighth == powers[7] ^ powers[6] ^ powers[1] ^ powers[0] {
            break;
        }
        root += 1;
    }
    powers
};

/// Maps a byte into the other field.
pub(super) const fn carried(byte: u8) -> u8 {
    linear(POWERS, byte)
}

pub(super) const CARRY: i64 = matrix(POWERS);

/// Maps each byte back from the other field.
pub(super) const CARRIED_BACK: [u8; 256] = {
    let (mut table, mut byte) = ([0; 256], 0_u8);
    loop {
        table[carried(byte) as usize] = byte;
        if byte == 255 {
            break table;
        }
        byte += 1;
    }
};

pub(super) const CARRY_BACK: i64 = {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = CARRIED_BACK[1 << bit];
        bit += 1;
    }
    matrix(images)
};

/// For register m of 64 bytes, lane l and byte j: the position of the byte that the rotation by 4m + l brings to j, and its factor.
pub(super) const ROTATIONS: ([[u8; 64]; 4], [[u8; 64]; 4]) = {
    let (mut places, mut factors, mut index) = ([[0; 64]; 4], [[0; 64]; 4], 0);
    while index < 256 {
        let (register, lane, byte) = (index / 64, index / 16 % 4, index % 16);
        let place = (byte + 4 * register + lane) % 16;
        #[expect(clippy::cast_possible_truncation, reason = "below 16")]
        let narrow = place as u8;
        places[register][index % 64] = narrow;
        factors[register][index % 64] = carried(COLUMNS[place][byte]);
        index += 1;
    }
    (places, factors)
};

#[cfg(test)]
mod tests {
    use super::super::standard::product;
    use super::*;

    #[test]
    fn the_other_field_multiplies_alike() {
        for a in 0..=255 {
            for b in 0..=255 {
                let there = product_modulo(carried(a), carried(b), OTHER_MODULUS);
                assert_eq!(carried(product(a, b)), there, "{a} times {b}");
            }
        }
    }
}
