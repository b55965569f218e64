//! Numbers with few digits, read from their text without allocating.

/// Most digits that are read.
const MOST_DIGITS: usize = 18;

/// The value `coefficient` ÷ 10^`places`, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Short {
    /// Of at most 18 digits.
    pub(super) coefficient: i64,
    /// 0 to 18.
    pub(super) places: u8,
}

impl Short {
    /// Reads a number that is written with at most 18 digits and without an exponent.
    #[inline]
    pub(super) fn read(text: &[u8]) -> Option<Self> {
        let (is_negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        if digits.len() > MOST_DIGITS + 1 {
            return None;
        }
        let mut coefficient = 0_i64;
        let mut point = None;
        for (at, byte) in digits.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                coefficient = coefficient * 10 + i64::from(digit);
            } else if *byte == b'.' {
                point = Some(at);
            } else {
                return None;
            }
        }
        let places = match point {
            None if digits.len() > MOST_DIGITS => return None,
            None => 0,
            Some(at) => u8::try_from(digits.len() - at - 1).ok()?,
        };
        // 19 characters are 18 digits and a point, so this did not overflow.
        Some(Self { coefficient: if is_negative { -coefficient } else { coefficient }, places })
    }

    /// Returns the value if it is an integer.
    pub(super) fn integer(self) -> Option<i64> {
        let unit = 10_i64.pow(u32::from(self.places));
        if self.places == 0 {
            return Some(self.coefficient);
        }
        (self.coefficient % unit == 0).then_some(self.coefficient / unit)
    }

    /// Returns the nearest number of 64 bits where one division gives it.
    ///
    /// Source: William D. Clinger, How to Read Floating Point Numbers Accurately (1990): a quotient of two exact numbers is
    /// rounded once.
    #[expect(clippy::cast_precision_loss, reason = "the coefficient has at most 53 bits")]
    pub(super) fn to_f64(self) -> Option<f64> {
        let is_exact = self.coefficient.unsigned_abs() <= 1 << 53;
        let unit = POWERS[usize::from(self.places)];
        is_exact.then(|| self.coefficient as f64 / unit)
    }
}

/// 10^0 to 10^18, all of which a number of 64 bits is exactly.
const POWERS: [f64; MOST_DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_are_read_exactly_and_others_are_not() {
        let read = |text: &str| Short::read(text.as_bytes()).map(|s| (s.coefficient, s.places));
        for (text, value) in [
            ("0", (0, 0)),
            ("-0", (0, 0)),
            ("-12.50", (-1250, 2)),
            ("999999999999999999", (999_999_999_999_999_999, 0)),
            ("0.99999999999999999", (99_999_999_999_999_999, 17)),
            ("12345678.1234567891", (123_456_781_234_567_891, 10)),
        ] {
            assert_eq!(read(text), Some(value), "{text}");
        }
        for text in ["1000000000000000000", "1e3", "1E3", "0.1234567890123456789", "1.0e-3"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn the_quotient_is_what_the_standard_library_reads() {
        for text in ["0.1", "-0.3", "123456.789", "9007199254740992", "0.00000000000000001", "4.35"]
        {
            let value = Short::read(text.as_bytes()).and_then(Short::to_f64);
            assert_eq!(value, text.parse().ok(), "{text}");
        }
        assert_eq!(Short::read(b"9007199254740993").and_then(Short::to_f64), None);
    }

    #[test]
    fn integers_may_be_written_with_a_point() {
        assert_eq!(Short::read(b"-5.00").and_then(Short::integer), Some(-5));
        assert_eq!(Short::read(b"0.0").and_then(Short::integer), Some(0));
        assert_eq!(Short::read(b"5.01").and_then(Short::integer), None);
    }
}
