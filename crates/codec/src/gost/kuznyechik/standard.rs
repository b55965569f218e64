//! The tables that the standard prints for Kuznyechik, and the arithmetic from which everything else is computed.
//!
//! Source: GOST R 34.12-2015, 4.1 (RFC 7801, section 4).

/// The permutation π, 4.1.1.
pub(super) const PI: [u8; 256] = [
    252, 238, 221, 17, 207, 110, 49, 22, 251, 196, 250, 218, 35, 197, 4, 77, 233, 119, 240, 219,
    147, 46, 153, 186, 23, 54, 241, 187, 20, 205, 95, 193, 249, 24, 101, 90, 226, 92, 239, 33, 129,
    28, 60, 66, 139, 1, 142, 79, 5, 132, 2, 174, 227, 106, 143, 160, 6, 11, 237, 152, 127, 212,
    211, 31, 235, 52, 44, 81, 234, 200, 72, 171, 242, 42, 104, 162, 253, 58, 206, 204, 181, 112,
    14, 86, 8, 12, 118, 18, 191, 114, 19, 71, 156, 183, 93, 135, 21, 161, 150, 41, 16, 123, 154,
    199, 243, 145, 120, 111, 157, 158, 178, 177, 50, 117, 25, 61, 255, 53, 138, 126, 109, 84, 198,
    128, 195, 189, 13, 87, 223, 245, 36, 169, 62, 168, 67, 201, 215, 121, 214, 246, 124, 34, 185,
    3, 224, 15, 236, 222, 122, 148, 176, 188, 220, 232, 40, 80, 78, 51, 10, 74, 167, 151, 96, 115,
    30, 0, 98, 68, 26, 184, 56, 130, 100, 159, 38, 65, 173, 69, 70, 146, 39, 94, 85, 47, 140, 163,
    165, 125, 105, 213, 149, 59, 7, 88, 179, 64, 134, 172, 29, 247, 48, 55, 107, 228, 136, 217,
    231, 137, 225, 27, 131, 73, 76, 63, 248, 254, 141, 83, 170, 144, 202, 216, 133, 97, 32, 113,
    103, 164, 45, 43, 9, 91, 203, 155, 37, 208, 190, 229, 108, 82, 89, 166, 116, 210, 230, 244,
    180, 192, 209, 102, 175, 194, 57, 75, 99, 182,
];

/// The coefficients of the linear function ℓ, from a₁₅ to a₀, 4.1.2.
pub(super) const COEFFICIENTS: [u8; 16] =
    [148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148, 1];

/// The modulus of the field, p(x) = x⁸ + x⁷ + x⁶ + x + 1, without its leading term, 4.1.2.
const MODULUS: u8 = 0xc3;

/// Number of round keys, one for each round and one after the last.
pub(super) const ROUND_KEYS: usize = 10;

/// Returns the product in GF(2)\[x\] modulo x⁸ + `modulus`.
pub(super) const fn product_modulo(a: u8, b: u8, modulus: u8) -> u8 {
    let (mut a, mut b, mut sum) = (a, b, 0);
    while b != 0 {
        if b & 1 == 1 {
            sum ^= a;
        }
        a = (a << 1) ^ (if a & 0x80 == 0 { 0 } else { modulus });
        b >>= 1;
    }
    sum
}

/// Computes the linear map of bytes whose value for bit i is `images[i]`, in constant time, because keys go through it.
#[cfg(target_arch = "x86_64")]
pub(super) const fn linear(images: [u8; 8], byte: u8) -> u8 {
    let (mut image, mut bit) = (0, 0);
    while bit < 8 {
        image ^= images[bit] & (byte >> bit & 1).wrapping_neg();
        bit += 1;
    }
    image
}

/// Returns the product in the field of the standard.
pub(super) const fn product(a: u8, b: u8) -> u8 {
    product_modulo(a, b, MODULUS)
}

/// The inverse of [`PI`].
pub(super) const PI_INVERSE: [u8; 256] = {
    let mut inverse = [0; 256];
    let mut value = 0;
    while value < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "below 256")]
        let byte = value as u8;
        inverse[PI[value] as usize] = byte;
        value += 1;
    }
    inverse
};

/// Computes the transformation R: one step of the shift register. The first byte is a₁₅.
pub(super) const fn shift(block: [u8; 16]) -> [u8; 16] {
    let mut shifted = [0; 16];
    let mut index = 0;
    while index < 16 {
        shifted[0] ^= product(COEFFICIENTS[index], block[index]);
        if index < 15 {
            shifted[index + 1] = block[index];
        }
        index += 1;
    }
    shifted
}

/// Computes the transformation L: sixteen steps R.
pub(super) const fn mix(block: [u8; 16]) -> [u8; 16] {
    let (mut mixed, mut step) = (block, 0);
    while step < 16 {
        mixed = shift(mixed);
        step += 1;
    }
    mixed
}

/// Columns of the matrix of L: L of the block whose only nonzero byte is a one in byte `index`, for each `index`.
pub(super) const COLUMNS: [[u8; 16]; 16] = {
    let (mut columns, mut index) = ([[0; 16]; 16], 0);
    while index < 16 {
        let mut unit = [0; 16];
        unit[index] = 1;
        columns[index] = mix(unit);
        index += 1;
    }
    columns
};

/// The constants C₁ … C₃₂ of the key schedule, 4.3.
pub(super) const CONSTANTS: [[u8; 16]; 32] = {
    let (mut constants, mut index) = ([[0; 16]; 32], 0_u8);
    while index < 32 {
        let mut number = [0; 16];
        number[15] = index + 1;
        constants[index as usize] = mix(number);
        index += 1;
    }
    constants
};
