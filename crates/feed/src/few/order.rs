//! How sort(1) orders lines in the C locale.

use std::cmp::Ordering;

/// An order of lines, that of `sort` with some of its options, where LC_ALL is C.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineOrder {
    /// By the number that a line begins with (-n); lines with equal numbers by their bytes.
    pub is_numeric: bool,
    /// The greatest first (-r).
    pub is_reversed: bool,
}

impl LineOrder {
    /// Compares two lines.
    ///
    /// ```
    /// use fullbore_feed::few::LineOrder;
    /// let numbers = LineOrder { is_numeric: true, ..LineOrder::default() };
    /// assert!(numbers.compare(b"9 lives", b"10").is_lt());
    /// assert!(LineOrder::default().compare(b"9 lives", b"10").is_gt());
    /// ```
    #[must_use]
    pub fn compare(self, a: &[u8], b: &[u8]) -> Ordering {
        let by_number =
            if self.is_numeric { Number::of(a).cmp(&Number::of(b)) } else { Ordering::Equal };
        let order = by_number.then_with(|| a.cmp(b));
        if self.is_reversed { order.reverse() } else { order }
    }
}

/// The number at the beginning of a line: blanks, a minus sign, digits, a point, digits; anything else is 0.
///
/// Source: sort(1), -n; the C locale has no separators of thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number<'a> {
    is_negative: bool,
    /// Without leading zeros.
    whole: &'a [u8],
    /// Without zeros at its end.
    fraction: &'a [u8],
}

impl<'a> Number<'a> {
    fn of(line: &'a [u8]) -> Self {
        let line = after(line, |byte| matches!(byte, b' ' | b'\t'));
        let unsigned = line.strip_prefix(b"-");
        let digits = after(unsigned.unwrap_or(line), |byte| byte == b'0');
        let (whole, rest) = digits_of(digits);
        let fraction = rest.strip_prefix(b".").map_or(&[][..], |rest| digits_of(rest).0);
        let zeros = fraction.iter().rev().take_while(|byte| **byte == b'0').count();
        let fraction = &fraction[..fraction.len() - zeros];
        let is_zero = whole.is_empty() && fraction.is_empty();
        Self { is_negative: unsigned.is_some() && !is_zero, whole, fraction }
    }

    /// Compares without the signs.
    fn size(&self, other: &Self) -> Ordering {
        let by_length = self.whole.len().cmp(&other.whole.len());
        by_length
            .then_with(|| self.whole.cmp(other.whole))
            .then_with(|| self.fraction.cmp(other.fraction))
    }
}

impl Ord for Number<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.is_negative, other.is_negative) {
            (false, false) => self.size(other),
            (true, true) => other.size(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Number<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn after(bytes: &[u8], skipped: impl Fn(u8) -> bool) -> &[u8] {
    let at = bytes.iter().position(|byte| !skipped(*byte)).unwrap_or(bytes.len());
    &bytes[at..]
}

fn digits_of(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    bytes.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_ordered_by_value_and_equal_ones_by_bytes() {
        let order = LineOrder { is_numeric: true, is_reversed: false };
        let ascending: [&[u8]; 18] = [
            b"-10",
            b"-9.5",
            b"-9.05",
            b"-.5",
            b"",
            b" -0",
            b"+3",
            b"-",
            b"--4",
            b"-0",
            b"0",
            b"x",
            b"0.05 b",
            b".5",
            b"\t 1",
            b"1",
            b"1.0",
            b"9" as &[u8],
        ];
        for pair in ascending.windows(2) {
            assert!(order.compare(pair[0], pair[1]).is_lt(), "{pair:?}");
        }
        let reversed = LineOrder { is_reversed: true, ..order };
        assert!(reversed.compare(b"1.0", b"1").is_lt());
        // More digits than a machine's number has.
        assert!(order.compare(b"123456789012345678901", b"123456789012345678902").is_lt());
        assert!(order.compare(b"99999999999999999999", b"0100000000000000000000").is_lt());
    }
}
