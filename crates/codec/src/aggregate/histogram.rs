//! Numbers counted by powers of two.

use std::collections::BTreeMap;

use super::short::Short;

/// The numbers from `from` (included) to `to` (not included) on the positive side, and the other way around on the negative
/// side. Zero is a range of its own, from 0 to 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The end that is nearer to zero.
    pub from: f64,
    /// The other end; infinite if that is 2^1024.
    pub to: f64,
}

/// A range as its sign and the exponent of the power of two that is nearer to zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    sign: i8,
    /// With its sign turned for negative numbers, so that keys are in the order of the numbers.
    exponent: i16,
}

impl Key {
    #[inline]
    fn of(number: f64) -> Self {
        match number {
            number if number > 0.0 => Self { sign: 1, exponent: exponent(number) },
            number if number < 0.0 => Self { sign: -1, exponent: -exponent(number) },
            _ => Self { sign: 0, exponent: 0 },
        }
    }

    fn range(self) -> Range {
        let end = |exponent| f64::from(self.sign) * power(exponent);
        match self.sign {
            0 => Range { from: 0.0, to: 0.0 },
            sign => {
                let exponent = self.exponent * i16::from(sign);
                Range { from: end(exponent), to: end(exponent + 1) }
            }
        }
    }
}

/// The exponents of a number of 64 bits are stored with this added.
const BIAS: i16 = 1023;
/// The exponent of the least positive number.
const LEAST_EXPONENT: i16 = -1074;
/// Bits of a number below its exponent.
const FRACTION_BITS: u32 = f64::MANTISSA_DIGITS - 1;

/// Returns the exponent of the greatest power of two that is not greater than the absolute value, which is not 0.
fn exponent(number: f64) -> i16 {
    let bits = number.abs().to_bits();
    match (bits >> FRACTION_BITS) as i16 {
        0 => {
            let highest = bits.checked_ilog2().unwrap_or_default();
            LEAST_EXPONENT + i16::try_from(highest).unwrap_or_default()
        }
        biased => biased - BIAS,
    }
}

/// Returns a power of two: infinity for 2^1024.
fn power(exponent: i16) -> f64 {
    let biased = exponent + BIAS;
    f64::from_bits(match u64::try_from(biased) {
        Ok(biased @ 1..) => biased << FRACTION_BITS,
        _ => 1 << (exponent - LEAST_EXPONENT),
    })
}

/// Bytes of a range in a map, with what the map adds.
const RANGE_BYTES: usize = 2 * size_of::<(Key, u64)>();

/// The counts of each group.
#[derive(Clone, Debug, Default)]
pub(super) struct Histograms {
    cells: Vec<BTreeMap<Key, u64>>,
    ranges: usize,
}

impl Histograms {
    pub(super) fn grow(&mut self, groups: usize) {
        self.cells.resize_with(groups, BTreeMap::new);
    }

    /// Counts a number; returns whether it is small enough for 64 bits.
    #[inline]
    pub(super) fn add(
        &mut self,
        group: u32,
        short: Option<Short>,
        number: impl FnOnce() -> f64,
    ) -> bool {
        let key = match short.and_then(Short::integer) {
            Some(integer) => exact(integer),
            None => {
                let number = number();
                if !number.is_finite() {
                    return false;
                }
                Key::of(number)
            }
        };
        self.count(group, key, 1);
        true
    }

    fn count(&mut self, group: u32, key: Key, count: u64) {
        let cell = &mut self.cells[group as usize];
        let kept = cell.entry(key).or_insert_with(|| {
            self.ranges += 1;
            0
        });
        *kept += count;
    }

    /// Takes in what `other` has for group `from`.
    pub(super) fn absorb(&mut self, to: u32, other: &mut Self, from: u32) {
        let more = std::mem::take(&mut other.cells[from as usize]);
        other.ranges -= more.len();
        for (key, count) in more {
            self.count(to, key, count);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<BTreeMap<Key, u64>>() + self.ranges * RANGE_BYTES
    }

    /// Returns the ranges of a group that are not empty, the least numbers first.
    pub(super) fn ranges(&self, group: u32) -> Vec<(Range, u64)> {
        self.cells[group as usize].iter().map(|(key, count)| (key.range(), *count)).collect()
    }
}

/// Returns the range of an integer, which a number of 64 bits could round up to the next one.
fn exact(integer: i64) -> Key {
    let sign = i8::try_from(integer.signum()).unwrap_or_default();
    let exponent = integer.unsigned_abs().checked_ilog2().unwrap_or_default();
    let exponent = i16::try_from(exponent).unwrap_or_default();
    Key { sign, exponent: exponent * i16::from(sign) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_their_ranges() {
        let ends = [f64::MAX, f64::MIN_POSITIVE, f64::MIN_POSITIVE / 3.0, 5e-324, 1.1e-323, 1e308];
        let numbers = [1.0, 1.5, 2.0, 0.3, 1e-7, 1023.0, 1024.0, 1e18, 1e300, 999_999.0];
        for number in numbers.into_iter().chain(ends) {
            let Range { from, to } = Key::of(number).range();
            assert!(from <= number && number < to && to == 2.0 * from, "{number}: {from} to {to}");
            let Range { from, to } = Key::of(-number).range();
            assert!(to < -number && -number <= from, "{number}: {from} to {to}");
        }
        assert_eq!(Key::of(-0.0).range(), Range { from: 0.0, to: 0.0 });
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "powers of two up to 2^60")]
    fn integers_are_not_rounded_up() {
        for integer in [(1 << 59) - 1, 1 << 59, 1, 0, -1, -(1 << 59) + 1, 7, -8] {
            let Range { from, to } = exact(integer).range();
            let magnitude = u128::from(integer.unsigned_abs());
            let is_inside = from.abs() as u128 <= magnitude && magnitude < to.abs() as u128;
            assert!(is_inside || integer == 0 && to == 0.0, "{integer}: {from} to {to}");
            assert_eq!(from < 0.0, integer < 0);
        }
    }

    #[test]
    fn ranges_are_in_the_order_of_the_numbers() {
        let mut histograms = Histograms::default();
        histograms.grow(1);
        for number in [100.0, -3.0, 0.0, 0.2, -70.0, 101.0] {
            assert!(histograms.add(0, None, || number));
        }
        let ranges = histograms.ranges(0);
        let froms: Vec<f64> = ranges.iter().map(|(range, _)| range.from).collect();
        assert_eq!(froms, [-64.0, -2.0, 0.0, 0.125, 64.0]);
        assert_eq!(ranges[4].1, 2);
    }
}
