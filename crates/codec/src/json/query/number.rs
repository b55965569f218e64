//! Numbers as their text: compared exactly, whatever their size.

use std::cmp::Ordering;

/// Most digits of a number that is read at once into 64 bits.
const MOST_SMALL_DIGITS: u32 = 18;
/// Differences of exponents are not counted beyond this: no text has so many digits that it would matter.
const FAR: i128 = 1 << 100;

/// The text of a number as RFC 8259 defines it.
///
/// Numbers are equal if their values are, and sorted by value, exactly: `1` and `1.0` are equal, `0` and `-0` too. The time
/// depends on the length of the texts only, not on exponents.
#[derive(Clone, Copy, Debug)]
pub struct Number<'a> {
    text: &'a [u8],
}

/// A number of few digits: `coefficient` ÷ 10^`places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Small {
    /// Of at most 18 digits.
    coefficient: i64,
    /// At most 18.
    places: u32,
}

/// An exact value: `coefficient` × 10^`exponent`. The coefficient is no multiple of 10; of zero, both are 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// All digits.
    pub coefficient: i128,
    /// How many zeros follow the digits; if negative, how many digits are behind the point.
    pub exponent: i64,
}

/// The parts of the text of a number.
struct Parts<'a> {
    is_negative: bool,
    /// Before the point.
    whole: &'a [u8],
    /// Behind the point.
    fraction: &'a [u8],
    exponent: Exponent<'a>,
}

#[derive(Clone, Copy)]
struct Exponent<'a> {
    is_negative: bool,
    digits: &'a [u8],
}

/// The digits of a number that is not zero, without the zeros before the first and after the last other digit.
struct Significant<'a> {
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Where the point is: the value is 0.DIGITS × 10^(`point` + exponent).
    point: i128,
}

impl<'a> Number<'a> {
    /// Takes a text that is one whole number. Of another text, the methods return something, but nothing of use.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text }
    }

    /// Returns the text.
    #[must_use]
    pub fn text(self) -> &'a [u8] {
        self.text
    }

    /// Returns the value of a number that is written as an integer of at most 18 digits.
    #[must_use]
    pub fn integer(self) -> Option<i64> {
        let (is_negative, digits) = without_sign(self.text);
        if digits.is_empty() || digits.len() > MOST_SMALL_DIGITS as usize {
            return None;
        }
        let mut value = 0;
        for byte in digits {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            value = value * 10 + i64::from(digit);
        }
        Some(if is_negative { -value } else { value })
    }

    /// Returns the exact value if its digits fit into 128 bits and its exponent into 64.
    #[must_use]
    pub fn decimal(self) -> Option<Decimal> {
        let parts = Parts::of(self.text);
        let Some(significant) = parts.significant() else {
            return Some(Decimal { coefficient: 0, exponent: 0 });
        };
        let mut coefficient = 0_i128;
        for digit in significant.digits() {
            coefficient =
                coefficient.checked_mul(10)?.checked_add(i128::from(digit.wrapping_sub(b'0')))?;
        }
        let coefficient = if parts.is_negative { -coefficient } else { coefficient };
        let exponent = parts.exponent.minus(Exponent::ZERO) + significant.point;
        let exponent = exponent - i128::try_from(significant.length()).ok()?;
        Some(Decimal { coefficient, exponent: i64::try_from(exponent).ok()? })
    }

    /// Returns the nearest value of the type, or an infinity if the number is too large for it.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        let text = std::str::from_utf8(self.text).unwrap_or_default();
        text.parse().unwrap_or(f64::NAN)
    }

    /// Returns the value of a number without exponent and with at most 18 digits.
    pub(super) fn small(self) -> Option<Small> {
        let (is_negative, digits) = without_sign(self.text);
        if digits.is_empty() || digits.len() > MOST_SMALL_DIGITS as usize + 1 {
            return None;
        }
        let mut coefficient = 0_i64;
        let mut before_point = None;
        for (at, byte) in digits.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                coefficient = coefficient.wrapping_mul(10).wrapping_add(i64::from(digit));
            } else if *byte == b'.' && before_point.is_none() {
                before_point = Some(at);
            } else {
                return None;
            }
        }
        let length = u32::try_from(digits.len()).ok()?;
        let places = match before_point {
            None => 0,
            Some(at) => length - u32::try_from(at).ok()? - 1,
        };
        let count = length - u32::from(before_point.is_some());
        let coefficient = if is_negative { -coefficient } else { coefficient };
        (count <= MOST_SMALL_DIGITS).then_some(Small { coefficient, places })
    }

    /// Compares any two numbers digit by digit.
    fn compare_digits(self, other: Self) -> Ordering {
        let (parts, other) = (Parts::of(self.text), Parts::of(other.text));
        let sign = |parts: &Parts<'_>| if parts.is_negative { -1 } else { 1 };
        match (parts.significant(), other.significant()) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => 0.cmp(&sign(&other)),
            (Some(_), None) => sign(&parts).cmp(&0),
            (Some(_), Some(_)) if parts.is_negative != other.is_negative => {
                sign(&parts).cmp(&sign(&other))
            }
            (Some(digits), Some(other_digits)) => {
                let apart = parts.exponent.minus(other.exponent);
                let order = (apart + digits.point).cmp(&other_digits.point);
                let order = order.then_with(|| digits.digits().cmp(other_digits.digits()));
                if parts.is_negative { order.reverse() } else { order }
            }
        }
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        if let (Some(one), Some(two)) = (self.small(), other.small()) {
            return one.compare(two);
        }
        self.compare_digits(*other)
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Number<'_> {}

impl Small {
    /// Returns the value, if it has few digits.
    pub(super) fn of_decimal(decimal: Decimal) -> Option<Self> {
        let exponent = i32::try_from(decimal.exponent).ok()?;
        let zeros = 10_i64.checked_pow(exponent.max(0).unsigned_abs())?;
        let coefficient = i64::try_from(decimal.coefficient).ok()?.checked_mul(zeros)?;
        let places = exponent.min(0).unsigned_abs();
        let is_small = coefficient.unsigned_abs() < 10_u64.pow(MOST_SMALL_DIGITS);
        (is_small && places <= MOST_SMALL_DIGITS).then_some(Self { coefficient, places })
    }

    /// Compares the values.
    pub(super) fn compare(self, other: Self) -> Ordering {
        if self.places == other.places {
            return self.coefficient.cmp(&other.coefficient);
        }
        // At most 36 digits.
        let one = i128::from(self.coefficient) * 10_i128.pow(other.places);
        one.cmp(&(i128::from(other.coefficient) * 10_i128.pow(self.places)))
    }
}

impl<'a> Parts<'a> {
    fn of(text: &'a [u8]) -> Self {
        let (is_negative, rest) = without_sign(text);
        let (digits, exponent) = match memchr::memchr2(b'e', b'E', rest) {
            Some(at) => (&rest[..at], Exponent::of(&rest[at + 1..])),
            None => (rest, Exponent::ZERO),
        };
        let point = memchr::memchr(b'.', digits);
        let (whole, fraction) = match point {
            Some(at) => (&digits[..at], &digits[at + 1..]),
            None => (digits, &digits[..0]),
        };
        Self { is_negative, whole, fraction, exponent }
    }

    /// Returns the digits, unless all of them are zeros.
    fn significant(&self) -> Option<Significant<'a>> {
        let (whole, fraction) = (without_leading_zeros(self.whole), self.fraction);
        let fraction = without_trailing_zeros(fraction);
        if !whole.is_empty() {
            let point = whole.len() as i128;
            let whole = if fraction.is_empty() { without_trailing_zeros(whole) } else { whole };
            return Some(Significant { whole, fraction, point });
        }
        let digits = without_leading_zeros(fraction);
        let point = digits.len() as i128 - fraction.len() as i128;
        (!digits.is_empty()).then_some(Significant { whole, fraction: digits, point })
    }
}

impl Significant<'_> {
    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.iter().chain(self.fraction).copied()
    }

    fn length(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }
}

impl<'a> Exponent<'a> {
    const ZERO: Self = Self { is_negative: false, digits: &[] };

    fn of(text: &'a [u8]) -> Self {
        let (is_negative, digits) = without_sign(text);
        Self { is_negative, digits: without_leading_zeros(digits) }
    }

    /// Returns the difference, but no more than [`FAR`].
    fn minus(self, other: Self) -> i128 {
        let sign = |exponent: Self| if exponent.is_negative { -1 } else { 1 };
        let (sign, other_sign) = (sign(self), sign(other));
        let length = self.digits.len().max(other.digits.len());
        let digit = |digits: &[u8], from_right: usize| {
            let at = digits.len().checked_sub(from_right + 1);
            at.map_or(0, |at| i128::from(digits[at].wrapping_sub(b'0')))
        };
        let mut difference = 0_i128;
        for from_right in (0..length).rev() {
            let digits = sign * digit(self.digits, from_right);
            let other_digits = other_sign * digit(other.digits, from_right);
            // Once it is not zero, no digits that follow change its sign: the next ones differ by 9 at most, and if the
            // signs of the exponents differ, all differences have the same sign.
            difference = (difference * 10 + digits - other_digits).clamp(-FAR, FAR);
        }
        difference
    }
}

fn without_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

fn without_leading_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
    &digits[zeros..]
}

fn without_trailing_zeros(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0').count();
    &digits[..digits.len() - zeros]
}

#[cfg(test)]
mod tests;
