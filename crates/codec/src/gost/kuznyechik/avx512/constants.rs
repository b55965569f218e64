//! Matrices and tables of the AVX-512 kernel, computed from the standard.

use super::super::matrix::matrix;
use super::super::standard::{COEFFICIENTS, COLUMNS, PI, linear, product, product_modulo};

/// Returns the products of `factor` with the powers of x.
const fn images_of_product(factor: u8) -> [u8; 8] {
    let (mut images, mut bit) = ([0; 8], 0);
    while bit < 8 {
        images[bit] = product(factor, 1 << bit);
        bit += 1;
    }
    images
}

/// Returns the matrix of the product with `factor`.
const fn matrix_of_product(factor: u8) -> i64 {
    matrix(images_of_product(factor))
}

/// Matrices of the coefficients that are not one: those of bytes 0 to 5, of byte 7, and of what the two newest bytes
/// contribute to the second of two steps, directly and through the first step.
pub(super) const FACTORS: [i64; 9] = {
    let [c0, c1, c2, c3, c4, c5, _, c7, ..] = COEFFICIENTS;
    let newest = product(c0, c0) ^ c1;
    let second = product(c0, c1) ^ c2;
    let factors = [c0, c1, c2, c3, c4, c5, c7, newest, second];
    let (mut matrices, mut index) = ([0; 9], 0);
    while index < 9 {
        matrices[index] = matrix_of_product(factors[index]);
        index += 1;
    }
    matrices
};

/// Matrices of the columns of L that belong to bytes 7 and 15, the counting ones.
pub(super) const COUNTING_COLUMNS: [[i64; 16]; 2] = {
    let (mut matrices, mut index) = ([[0; 16]; 2], 0);
    while index < 16 {
        matrices[0][index] = matrix_of_product(COLUMNS[7][index]);
        matrices[1][index] = matrix_of_product(COLUMNS[15][index]);
        index += 1;
    }
    matrices
};

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

/// The permutation π in the other field.
pub(super) const CARRIED_PI: [u8; 256] = {
    let (mut table, mut value) = ([0; 256], 0);
    while value < 256 {
        table[value] = carried(PI[CARRIED_BACK[value] as usize]);
        value += 1;
    }
    table
};

/// For register m, lane l and byte j: the position of the byte that the rotation by 4m + l brings to j, and its factor.
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
