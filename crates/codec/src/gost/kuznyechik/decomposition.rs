//! Decomposes π into nibbles, for instructions that look up sixteen bytes at a time.
//!
//! With l and r the nibbles of α(x): l becomes ν₀(l) when r is zero and ν₁(l · 1/r) otherwise; then r becomes σ(r ·
//! φ(l)); and π(x) is ω of both. α and ω are linear, and products are in GF(2⁴) modulo x⁴ + x³ + 1. Source: A.
//! Biryukov, L. Perrin, A. Udovenko, Reverse-Engineering the S-Box of Streebog, Kuznyechik and STRIBOBr1, 2016, section
//! 5. The compiler checks that the result equals the standard's table.

use super::standard::PI;

pub(super) const NU_0: Nibbles = [2, 5, 3, 11, 6, 9, 14, 10, 0, 4, 15, 1, 8, 13, 12, 7];
pub(super) const NU_1: Nibbles = [7, 6, 12, 9, 0, 15, 8, 1, 4, 5, 11, 14, 13, 2, 3, 10];
pub(super) const PHI: Nibbles = [11, 2, 11, 8, 12, 4, 1, 12, 6, 3, 5, 8, 14, 3, 6, 11];
pub(super) const SIGMA: Nibbles = [12, 13, 0, 4, 8, 11, 10, 14, 3, 9, 5, 2, 15, 1, 6, 7];

/// Rows of α, for the highest bit of the result first; the highest bit of a row belongs to that of the argument.
const ALPHA: [u8; 8] = [0x08, 0x41, 0x43, 0xef, 0x8a, 0x44, 0x1a, 0x20];
/// Rows of ω, in the same order.
const OMEGA: [u8; 8] = [0x0a, 0x04, 0x20, 0x9a, 0x08, 0x44, 0x82, 0x01];

/// A table of nibbles.
pub(super) type Nibbles = [u8; 16];

/// Logarithm of zero: after adding any other, and subtracting 15 or not, its top bit is set, and a look-up gives zero.
const NO_LOGARITHM: u8 = 0xc8;

/// A linear map and its inverse, byte by byte.
struct Linear {
    images: [u8; 256],
    arguments: [u8; 256],
}

const fn linear(rows: [u8; 8]) -> Linear {
    let (mut images, mut arguments, mut byte) = ([0; 256], [0; 256], 0_u8);
    loop {
        let (mut image, mut row) = (0_u8, 0);
        while row < 8 {
            image = image << 1 | ((rows[row] & byte).count_ones() & 1) as u8;
            row += 1;
        }
        images[byte as usize] = image;
        arguments[image as usize] = byte;
        if byte == 255 {
            return Linear { images, arguments };
        }
        byte += 1;
    }
}

static ALPHA_MAP: Linear = linear(ALPHA);
static OMEGA_MAP: Linear = linear(OMEGA);

pub(super) const fn alpha(byte: u8) -> u8 {
    ALPHA_MAP.images[byte as usize]
}

pub(super) const fn omega(byte: u8) -> u8 {
    OMEGA_MAP.images[byte as usize]
}

pub(super) const fn alpha_back(byte: u8) -> u8 {
    ALPHA_MAP.arguments[byte as usize]
}

pub(super) const fn omega_back(byte: u8) -> u8 {
    OMEGA_MAP.arguments[byte as usize]
}

/// The powers of x in GF(2⁴).
pub(super) const POWERS: [u8; 15] = {
    let (mut powers, mut exponent) = ([1; 15], 1);
    while exponent < 15 {
        let doubled = powers[exponent - 1] << 1;
        powers[exponent] = if doubled & 16 == 0 { doubled } else { doubled ^ 0x19 };
        exponent += 1;
    }
    powers
};

#[expect(clippy::cast_possible_truncation, reason = "below 16")]
pub(super) const fn logarithm(nibble: u8) -> u8 {
    let mut exponent = 0;
    while exponent < 15 {
        if POWERS[exponent] == nibble {
            return exponent as u8;
        }
        exponent += 1;
    }
    NO_LOGARITHM
}

/// Returns the logarithm of the inverse; zero has neither.
pub(super) const fn logarithm_of_inverse(nibble: u8) -> u8 {
    if nibble == 0 { NO_LOGARITHM } else { (15 - logarithm(nibble)) % 15 }
}

const fn position(table: &Nibbles, value: u8) -> u8 {
    let mut place = 0;
    while table[place as usize] != value {
        place += 1;
    }
    place
}

/// A step of the substitution: the value of a product, by the logarithms of its factors.
pub(super) struct Product {
    pub(super) left: Nibbles,
    pub(super) right: Nibbles,
    pub(super) values: Nibbles,
}

/// π or its inverse without α and ω: two products, and what l becomes when r is zero.
pub(super) struct Substitution {
    /// The new l, from the old l and r.
    pub(super) l: Product,
    pub(super) l_without_r: Nibbles,
    /// The new r, from l (for π the new one, for the inverse the old one) and r.
    pub(super) r: Product,
}

/// What [`FORWARD`] leaves out of l and r, because a look-up that fails gives zero.
pub(super) const LEFT_OUT: u8 = NU_1[0] << 4 | SIGMA[0];

/// The decomposition of π, with ν₁(0) added to its l and σ(0) to its r.
pub(super) const FORWARD: Substitution = {
    let empty = [0; 16];
    let mut l = Product { left: empty, right: empty, values: empty };
    let mut r = Product { left: empty, right: empty, values: empty };
    let (mut l_without_r, mut index) = (empty, 0_u8);
    while index < 16 {
        let at = index as usize;
        l.left[at] = logarithm(index);
        l.right[at] = logarithm_of_inverse(index);
        l_without_r[at] = NU_0[at] ^ NU_1[0];
        r.left[at] = logarithm(PHI[(index ^ NU_1[0]) as usize]);
        r.right[at] = logarithm(index);
        if at < 15 {
            l.values[at] = NU_1[POWERS[at] as usize] ^ NU_1[0];
            r.values[at] = SIGMA[POWERS[at] as usize] ^ SIGMA[0];
        }
        index += 1;
    }
    Substitution { l, l_without_r, r }
};

/// The decomposition of the inverse of π.
pub(super) const BACKWARD: Substitution = {
    let empty = [0; 16];
    let mut l = Product { left: empty, right: empty, values: empty };
    let mut r = Product { left: empty, right: empty, values: empty };
    let (mut l_without_r, mut index) = (empty, 0_u8);
    while index < 16 {
        let at = index as usize;
        l.left[at] = logarithm(position(&NU_1, index));
        l.right[at] = logarithm(index);
        l_without_r[at] = position(&NU_0, index);
        r.left[at] = logarithm_of_inverse(PHI[at]);
        r.right[at] = logarithm(position(&SIGMA, index));
        if at < 15 {
            l.values[at] = POWERS[at];
            r.values[at] = POWERS[at];
        }
        index += 1;
    }
    Substitution { l, l_without_r, r }
};

const fn product_of(step: &Product, left: u8, right: u8) -> u8 {
    let sum = step.left[left as usize].wrapping_add(step.right[right as usize]);
    if sum >= 30 { 0 } else { step.values[(sum % 15) as usize] }
}

/// Computes π by its parts.
const fn forward(byte: u8) -> u8 {
    let (l, r) = (alpha(byte) >> 4, alpha(byte) & 15);
    let new = if r == 0 { FORWARD.l_without_r[l as usize] } else { product_of(&FORWARD.l, l, r) };
    omega((new << 4 | product_of(&FORWARD.r, new, r)) ^ LEFT_OUT)
}

/// Computes the inverse of π by its parts.
const fn backward(byte: u8) -> u8 {
    let (l, r) = (omega_back(byte) >> 4, omega_back(byte) & 15);
    let new = product_of(&BACKWARD.r, l, r);
    let l =
        if new == 0 { BACKWARD.l_without_r[l as usize] } else { product_of(&BACKWARD.l, l, new) };
    alpha_back(l << 4 | new)
}

const _: () = {
    let mut byte = 0_u8;
    loop {
        assert!(forward(byte) == PI[byte as usize], "the parts of π are not those of the standard");
        assert!(backward(PI[byte as usize]) == byte, "the parts of the inverse of π are wrong");
        if byte == 255 {
            break;
        }
        byte += 1;
    }
};
