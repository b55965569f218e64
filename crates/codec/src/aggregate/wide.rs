//! Sums of decimal numbers of any size that is in use, exactly.

/// Digits of a limb.
const LIMB_DIGITS: i32 = 18;

/// The value of one limb's carry.
const LIMB: i128 = 1_000_000_000_000_000_000;

/// A digit farther from the point than this cannot be added. The decimal digits of every 64-bit floating point number
/// (IEEE 754 binary64) are nearer.
pub(super) const FARTHEST_DIGIT: i32 = 1200;

/// A number has digits farther from the point than a sum has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooFar;

/// A sum. Limb `i` counts for limb × 10^(18 × (`first` + `i`)); limbs are signed, and carries wait until the end. A limb has
/// room for 10^20 carries.
#[derive(Clone, Debug, Default)]
pub(super) struct Wide {
    first: i32,
    limbs: Vec<i128>,
}

impl Wide {
    /// Adds `value` × 10^`exponent`.
    pub(super) fn add(&mut self, value: i128, exponent: i32) {
        let mut at = exponent.div_euclid(LIMB_DIGITS);
        let shift = exponent.rem_euclid(LIMB_DIGITS).unsigned_abs();
        let (mut rest, mut carry) = (value, 0);
        while rest != 0 || carry != 0 {
            // Both factors are below 10^18.
            let part = rest % LIMB * 10_i128.pow(shift) + carry;
            *self.limb(at) += part % LIMB;
            (rest, carry) = (rest / LIMB, part / LIMB);
            at += 1;
        }
    }

    /// Adds a number by its text, which is valid JSON.
    pub(super) fn add_text(&mut self, text: &[u8]) -> Result<(), TooFar> {
        let (is_negative, text) = match text {
            [b'-', text @ ..] => (true, text),
            text => (false, text),
        };
        let mark = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
        let (mantissa, exponent) = match mark {
            Some(at) => (&text[..at], exponent(&text[at + 1..])),
            None => (text, 0),
        };
        let point = mantissa.iter().position(|byte| *byte == b'.').unwrap_or(mantissa.len());
        let (whole, fraction) = (&mantissa[..point], mantissa.get(point + 1..).unwrap_or_default());
        let whole_digits = i64::try_from(whole.len()).map_err(|_| TooFar)?;
        let mut parts = Vec::new();
        for (digits, top) in [(whole, exponent + whole_digits), (fraction, exponent)] {
            collect(digits, top, &mut parts)?;
        }
        for (part, exponent) in parts {
            self.add(if is_negative { -part } else { part }, exponent);
        }
        Ok(())
    }

    /// Adds what another sum has.
    pub(super) fn absorb(&mut self, other: &Self) {
        for (limb, at) in other.limbs.iter().zip(other.first..) {
            *self.limb(at) += limb;
        }
    }

    /// Returns the memory beside the sum itself, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.limbs.capacity() * size_of::<i128>()
    }

    fn limb(&mut self, at: i32) -> &mut i128 {
        if self.limbs.is_empty() {
            self.first = at;
        }
        if at < self.first {
            let missing = (self.first - at).unsigned_abs() as usize;
            self.limbs.splice(0..0, std::iter::repeat_n(0, missing));
            self.first = at;
        }
        let index = (at - self.first).unsigned_abs() as usize;
        if index >= self.limbs.len() {
            self.limbs.resize(index + 1, 0);
        }
        &mut self.limbs[index]
    }

    /// Returns the sum as the text of a JSON number with all its digits, and no zeros that could be left out. Where more than
    /// 20 zeros stand between the digits and the point, it has an exponent.
    pub(super) fn text(&self) -> String {
        let (is_negative, digits) = self.digits();
        let exponent = i64::from(self.first) * i64::from(LIMB_DIGITS);
        let sign = if is_negative { "-" } else { "" };
        let significant = digits.trim_start_matches('0');
        let trimmed = significant.trim_end_matches('0');
        if trimmed.is_empty() {
            return "0".to_owned();
        }
        let zeros = significant.len() - trimmed.len();
        let exponent = exponent + i64::try_from(zeros).unwrap_or_default();
        format!("{sign}{}", placed(trimmed, exponent))
    }

    /// Returns whether the sum is negative, and the digits of its limbs.
    fn digits(&self) -> (bool, String) {
        let (top, parts) = carried(self.limbs.iter().copied());
        if top < 0 {
            let (top, parts) = carried(self.limbs.iter().map(|limb| -limb));
            return (true, joined(top, &parts));
        }
        (false, joined(top, &parts))
    }
}

/// Carries: returns what is beyond the last limb, and limbs from 0 to 10^18 - 1.
fn carried(limbs: impl Iterator<Item = i128>) -> (i128, Vec<i128>) {
    let mut carry = 0;
    let parts = limbs.map(|limb| {
        let value = limb + carry;
        carry = value.div_euclid(LIMB);
        value.rem_euclid(LIMB)
    });
    let parts = parts.collect();
    (carry, parts)
}

fn joined(top: i128, parts: &[i128]) -> String {
    let mut digits = top.to_string();
    parts.iter().rev().for_each(|part| digits.push_str(&format!("{part:018}")));
    digits
}

/// Most zeros that are written between digits and point.
const MOST_ZEROS: i64 = 20;

/// Returns digits × 10^exponent as text; the digits begin and end with another one than 0.
fn placed(digits: &str, exponent: i64) -> String {
    let length = i64::try_from(digits.len()).unwrap_or(i64::MAX);
    let zeros = |count: i64| "0".repeat(usize::try_from(count).unwrap_or_default());
    if (0..=MOST_ZEROS).contains(&exponent) {
        return format!("{digits}{}", zeros(exponent));
    }
    let before = length + exponent;
    if exponent < 0 && before > 0 {
        let (whole, fraction) = digits.split_at(usize::try_from(before).unwrap_or_default());
        return format!("{whole}.{fraction}");
    }
    if exponent < 0 && -before <= MOST_ZEROS {
        return format!("0.{}{digits}", zeros(-before));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}e{}", before - 1)
}

/// Reads an exponent; one that is absurdly large is cut.
fn exponent(text: &[u8]) -> i64 {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    let absurd = i64::MAX / 100;
    let value = digits
        .iter()
        .fold(0_i64, |value, digit| (value * 10 + i64::from(digit.wrapping_sub(b'0'))).min(absurd));
    if is_negative { -value } else { value }
}

/// Divides digits, the first of which counts 10^(`top` - 1), into parts of at most 18 with their exponents.
fn collect(digits: &[u8], top: i64, parts: &mut Vec<(i128, i32)>) -> Result<(), TooFar> {
    let mut top = top;
    for part in digits.chunks(LIMB_DIGITS.unsigned_abs() as usize) {
        let value = part.iter().fold(0, |value, digit| value * 10 + i128::from(digit - b'0'));
        top -= i64::try_from(part.len()).unwrap_or(i64::MAX);
        if value == 0 {
            continue;
        }
        let exponent = i32::try_from(top).map_err(|_| TooFar)?;
        if exponent.abs() > FARTHEST_DIGIT {
            return Err(TooFar);
        }
        parts.push((value, exponent));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(texts: &[&str]) -> String {
        let mut wide = Wide::default();
        texts.iter().for_each(|text| wide.add_text(text.as_bytes()).unwrap());
        wide.text()
    }

    #[test]
    fn sums_are_exact() {
        for (texts, expected) in [
            (&["0.1", "0.2"][..], "0.3"),
            (&["1e20", "1"], "100000000000000000001"),
            (&["1e300", "1e-300", "-1e300"], "1e-300"),
            (
                &["170141183460469231731687303715884105727", "1"],
                "170141183460469231731687303715884105728",
            ),
            (&["-0.5", "0.25"], "-0.25"),
            (&["1", "-1"], "0"),
            (&["999999999999999999", "1"], "1000000000000000000"),
            (&["-100000000000000000000"], "-100000000000000000000"),
            (&["1.5e-7"], "0.00000015"),
            (&["1E+25"], "1e25"),
            (&["12e24"], "1.2e25"),
            (&["0e999999999999999999999999"], "0"),
            (&[], "0"),
        ] {
            assert_eq!(sum(texts), expected, "{texts:?}");
        }
    }

    #[test]
    fn digits_too_far_from_the_point_are_refused_and_change_nothing() {
        let mut wide = Wide::default();
        for text in ["1e1300", "1e-1300", "1e99999999999999999999", "-5e-99999999999999999999"] {
            assert_eq!(wide.add_text(text.as_bytes()), Err(TooFar), "{text}");
        }
        assert_eq!(wide.text(), "0");
        assert_eq!(wide.add_text(b"4.9e-324"), Ok(()));
        assert_eq!(wide.add_text(b"1.7976931348623157e308"), Ok(()));
    }

    #[test]
    fn long_coefficients_are_divided() {
        let mut wide = Wide::default();
        wide.add(i128::MAX, 5);
        wide.add(i128::MIN, 5);
        assert_eq!(wide.text(), "-100000");
        wide.add(i128::MIN, -50);
        assert_eq!(wide.text(), "-100000.00000000000170141183460469231731687303715884105728");
    }
}
