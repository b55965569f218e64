//! Matrices and tables of the AVX-512 kernel, computed from the standard.

use super::super::carried::{CARRIED_BACK, carried};
use super::super::matrix::matrix;
use super::super::standard::{COEFFICIENTS, COLUMNS, PI, product};

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

/// The permutation π in the other field.
pub(super) const CARRIED_PI: [u8; 256] = {
    let (mut table, mut value) = ([0; 256], 0);
    while value < 256 {
        table[value] = carried(PI[CARRIED_BACK[value] as usize]);
        value += 1;
    }
    table
};
