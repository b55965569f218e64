//! Computes carry-less products by integer multiplication, in constant time where the CPU multiplies in constant time.
//!
//! Each factor keeps every fifth bit. At most thirteen ones then meet in a bit of the product, too few to reach the
//! next kept bit. Their sum is odd exactly where the carry-less product has a one.

use super::sum::Sum;
use crate::gost::block::low_half;

/// Distance between kept bits.
const HOLES: usize = 5;

/// Masks of the bits of each class modulo [`HOLES`].
const CLASSES: [u128; HOLES] = {
    let (mut classes, mut bit) = ([0; HOLES], 0);
    while bit < 128 {
        classes[bit % HOLES] |= 1 << bit;
        bit += 1;
    }
    classes
};

fn product(left: u64, right: u64) -> u128 {
    let kept = |word: u64| CLASSES.map(|class| u128::from(word) & class);
    let (left, right) = (kept(left), kept(right));
    (0..HOLES).fold(0, |product, class| {
        let meeting = (0..HOLES)
            .fold(0, |sum, index| sum ^ (left[index] * right[(class + HOLES - index) % HOLES]));
        product ^ meeting & CLASSES[class]
    })
}

pub(super) fn sum128(left: &[[u8; 16]], right: &[[u8; 16]]) -> Sum {
    let halves = |block: &[u8; 16]| {
        let number = u128::from_be_bytes(*block);
        (low_half(number >> 64), low_half(number))
    };
    let mut sum = Sum::default();
    for (left, right) in left.iter().zip(right) {
        let ((left_high, left_low), (right_high, right_low)) = (halves(left), halves(right));
        let (low, high) = (product(left_low, right_low), product(left_high, right_high));
        let middle = product(left_low ^ left_high, right_low ^ right_high) ^ low ^ high;
        sum.low ^= low ^ middle << 64;
        sum.high ^= high ^ middle >> 64;
    }
    sum
}

pub(super) fn sum64(left: &[[u8; 8]], right: &[[u8; 8]]) -> Sum {
    let products = left
        .iter()
        .zip(right)
        .map(|(left, right)| product(u64::from_be_bytes(*left), u64::from_be_bytes(*right)));
    Sum { low: products.fold(0, |sum, product| sum ^ product), high: 0 }
}
