//! Input for tests: bytes that are the same each time, and hexadecimal text.

use fullbore_codec::gost::Key;

/// Returns bytes that look random, the same for the same seed (a linear congruential generator's upper bits).
pub(crate) fn bytes(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..length)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

/// Returns a key that looks random.
pub(crate) fn key(seed: u64) -> Key {
    Key::new(bytes(seed, 32).try_into().unwrap())
}

/// Parses hexadecimal text; spaces and line ends are for the reader.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|digit| digit.to_digit(16)).map(|digit| digit as u8).collect();
    assert!(digits.len().is_multiple_of(2), "half a byte in {text}");
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

/// Parses a key from hexadecimal text.
pub(crate) fn hex_key(text: &str) -> Key {
    Key::new(hex(text).try_into().unwrap())
}

/// Returns the key of the standards' examples for blocks of 128 bits.
pub(crate) fn standard_kuznyechik_key() -> Key {
    hex_key("8899aabbccddeeff0011223344556677 fedcba98765432100123456789abcdef")
}

/// Returns the key of the standards' examples for blocks of 64 bits.
pub(crate) fn standard_magma_key() -> Key {
    hex_key("ffeeddccbbaa99887766554433221100 f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
}
