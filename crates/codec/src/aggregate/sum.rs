//! Sums, exactly.

use std::collections::HashMap;

use super::short::Short;
use super::wide::{TooFar, Wide};

/// Where the count begins in the tail of a cell, in bits.
const COUNT_SHIFT: u32 = 8;

/// An integer below this is never written with an exponent.
const ALWAYS_PLAIN: u128 = 10_u128.pow(20);

/// The sum of one group, and how many numbers went into it.
///
/// The sum is `low` and `high` ÷ 10^places. What does not fit into 128 bits with at most 18 places goes to a [`Wide`].
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    low: u64,
    high: i64,
    /// The number of places in the lowest 8 bits, and the count.
    tail: u64,
}

impl Cell {
    fn value(self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is taken apart")]
    fn set(&mut self, value: i128, places: u8) {
        (self.low, self.high) = (value as u64, (value >> 64) as i64);
        self.tail = self.tail >> COUNT_SHIFT << COUNT_SHIFT | u64::from(places);
    }

    fn places(self) -> u8 {
        self.tail.to_le_bytes()[0]
    }

    fn count(self) -> u64 {
        self.tail >> COUNT_SHIFT
    }

    fn add_count(&mut self, count: u64) {
        self.tail += count << COUNT_SHIFT;
    }

    /// Adds `value` ÷ 10^`places`; returns whether it had room.
    #[inline]
    fn add(&mut self, value: i128, places: u8) -> bool {
        let (sum, own) = (self.value(), self.places());
        if own == places {
            let Some(sum) = sum.checked_add(value) else { return false };
            self.set(sum, places);
            return true;
        }
        let unit = |difference: u8| 10_i128.pow(u32::from(difference));
        let sum = if own < places {
            sum.checked_mul(unit(places - own)).and_then(|sum| sum.checked_add(value))
        } else {
            value.checked_mul(unit(own - places)).and_then(|value| sum.checked_add(value))
        };
        let Some(sum) = sum else { return false };
        self.set(sum, own.max(places));
        true
    }
}

/// The sum of each group.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums {
    cells: Vec<Cell>,
    wide: HashMap<u32, Wide>,
    wide_bytes: usize,
}

impl Sums {
    pub(super) fn grow(&mut self, groups: usize) {
        self.cells.resize(groups, Cell::default());
    }

    /// Adds a number by its text, of which `short` is what could be read.
    #[inline]
    pub(super) fn add(
        &mut self,
        group: u32,
        short: Option<Short>,
        text: &[u8],
    ) -> Result<(), TooFar> {
        let cell = &mut self.cells[group as usize];
        if let Some(Short { coefficient, places }) = short {
            cell.add_count(1);
            if !cell.add(i128::from(coefficient), places) {
                self.spill(group);
                self.cells[group as usize].set(i128::from(coefficient), places);
            }
            return Ok(());
        }
        self.in_wide(group, |wide| wide.add_text(text))?;
        self.cells[group as usize].add_count(1);
        Ok(())
    }

    /// Moves what a cell has to its wide sum.
    fn spill(&mut self, group: u32) {
        let cell = self.cells[group as usize];
        self.in_wide(group, |wide| wide.add(cell.value(), -i32::from(cell.places())));
        self.cells[group as usize].set(0, 0);
    }

    fn in_wide<T>(&mut self, group: u32, change: impl FnOnce(&mut Wide) -> T) -> T {
        let wide = self.wide.entry(group).or_default();
        let before = wide.bytes();
        let result = change(wide);
        self.wide_bytes += wide.bytes() - before;
        result
    }

    /// Adds the sum that `other` has for group `from` to that of group `to`.
    pub(super) fn absorb(&mut self, to: u32, other: &mut Self, from: u32) {
        let cell = other.cells[from as usize];
        self.cells[to as usize].add_count(cell.count());
        if !self.cells[to as usize].add(cell.value(), cell.places()) {
            self.spill(to);
            self.cells[to as usize].set(cell.value(), cell.places());
        }
        if let Some(more) = other.wide.remove(&from) {
            other.wide_bytes -= more.bytes();
            self.in_wide(to, |wide| wide.absorb(&more));
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let entry = size_of::<(u32, Wide)>() + 1;
        self.cells.capacity() * size_of::<Cell>() + self.wide.capacity() * entry + self.wide_bytes
    }

    /// Returns how many numbers a group has.
    pub(super) fn count(&self, group: u32) -> u64 {
        self.cells[group as usize].count()
    }

    /// Returns the sum as the text of a number; nothing if there was no number.
    pub(super) fn text(&self, group: u32) -> Option<String> {
        let cell = self.cells[group as usize];
        if cell.count() == 0 {
            return None;
        }
        let is_small = cell.places() == 0 && cell.value().unsigned_abs() < ALWAYS_PLAIN;
        if is_small && !self.wide.contains_key(&group) {
            return Some(cell.value().to_string());
        }
        let mut wide = self.wide.get(&group).cloned().unwrap_or_default();
        wide.add(cell.value(), -i32::from(cell.places()));
        Some(wide.text())
    }

    /// Returns the sum divided by the number of numbers: a number, and the power of ten to multiply it with, which is 0
    /// unless the product is too large for 64 bits.
    #[expect(clippy::cast_precision_loss, reason = "a mean is rounded")]
    pub(super) fn mean(&self, group: u32) -> Option<(f64, i64)> {
        let (text, count) = (self.text(group)?, self.count(group));
        let sum: f64 = text.parse().ok()?;
        if sum.is_finite() { Some((sum / count as f64, 0)) } else { quotient(&text, count) }
    }
}

/// Digits of a quotient beyond those of the dividend, so that enough are left if the divisor has 17.
const MORE_DIGITS: i64 = 60;

/// Divides a number given by its text by a count below 2^56, as [`Sums::mean`] returns it.
fn quotient(text: &str, count: u64) -> Option<(f64, i64)> {
    let (sign, text) = text.strip_prefix('-').map_or((1.0, text), |text| (-1.0, text));
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut exponent: i64 = exponent.parse().ok()?;
    exponent -= i64::try_from(fraction.len()).ok()? + MORE_DIGITS;
    let (mut rest, mut digits) = (0, String::new());
    let zeros = (0..MORE_DIGITS).map(|_| b'0');
    for digit in whole.bytes().chain(fraction.bytes()).chain(zeros) {
        rest = rest * 10 + u64::from(digit - b'0');
        digits.push_str(&(rest / count).to_string());
        rest %= count;
    }
    let mean: f64 = format!("{digits}e{exponent}").parse().ok()?;
    if mean.is_finite() {
        return Some((sign * mean, 0));
    }
    let (first, more) = digits.trim_start_matches('0').split_at_checked(1)?;
    let mantissa: f64 = format!("{first}.{more}").parse().ok()?;
    Some((sign * mantissa, exponent + i64::try_from(more.len()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_absorbed_takes_no_memory_any_more() {
        let mut both = [Sums::default(), Sums::default()];
        for sums in &mut both {
            sums.grow(1);
            assert_eq!(sums.add(0, None, b"1e300"), Ok(()));
        }
        let [one, mut other] = both;
        let mut sums = one.clone();
        sums.absorb(0, &mut other, 0);
        assert_eq!((sums.wide_bytes, other.wide_bytes), (one.wide_bytes, 0));
        assert_eq!(sums.text(0).as_deref(), Some("2e300"));
    }
}
