//! What every way of multiplying returns.

/// A sum of products before reduction: 256 bits, of which products of 64-bit blocks need the low half.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) low: u128,
    pub(super) high: u128,
}
