//! Units as types, so that a number never travels without one.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A count of bytes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// Text that is not a size.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseBytesError {
    /// The text has no digits in front, or has a sign or a fraction.
    NotANumber,
    /// The letters after the number are not a known suffix.
    UnknownSuffix(String),
    /// The size does not fit into 64 bits.
    TooLarge,
}

impl fmt::Display for ParseBytesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotANumber => {
                write!(f, "not a size: write a whole number such as 65536, 64K or 1MiB")
            }
            Self::UnknownSuffix(suffix) => write!(
                f,
                "unknown size suffix '{suffix}': use K, M, G, T (or KiB, MiB, …) for powers of 1024, kB, MB, GB, TB for powers of 1000"
            ),
            Self::TooLarge => write!(f, "the size does not fit into 64 bits"),
        }
    }
}

impl std::error::Error for ParseBytesError {}

impl FromStr for Bytes {
    type Err = ParseBytesError;

    /// Reads `65536`, `64K`, `64KiB`, `1M`, `2G`, `1T` (powers of 1024) and `64kB`, `1MB` (powers of 1000), as GNU tools do.
    fn from_str(text: &str) -> Result<Self, ParseBytesError> {
        let digits_end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, suffix) = text.split_at(digits_end);
        if digits.is_empty() {
            return Err(ParseBytesError::NotANumber);
        }
        let number: u64 = digits.parse().map_err(|_| ParseBytesError::TooLarge)?;
        let factor: u64 = match suffix.trim_start() {
            "" | "B" => 1,
            "K" | "k" | "KiB" => 1 << 10,
            "M" | "m" | "MiB" => 1 << 20,
            "G" | "g" | "GiB" => 1 << 30,
            "T" | "t" | "TiB" => 1 << 40,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            "TB" => 1_000_000_000_000,
            other => return Err(ParseBytesError::UnknownSuffix(other.to_owned())),
        };
        number.checked_mul(factor).map(Bytes).ok_or(ParseBytesError::TooLarge)
    }
}

impl fmt::Display for Bytes {
    /// Writes powers of 1024 with at most three significant digits: `64 KiB`, `1.5 MiB`, `17 B`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut name = 0;
        while value >= 999.5 && name + 1 < NAMES.len() {
            value /= 1024.0;
            name += 1;
        }
        if value >= 99.95 || (value - value.round()).abs() < 1e-9 {
            write!(f, "{value:.0} {}", NAMES[name])
        } else {
            write!(f, "{value:.1} {}", NAMES[name])
        }
    }
}

/// A rate in bytes per second, shown in powers of 1000 as disks and networks are.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BytesPerSecond(pub f64);

impl BytesPerSecond {
    /// Returns the rate that moves `bytes` in `time`; zero when no time passed.
    #[must_use]
    pub fn over(bytes: Bytes, time: Duration) -> Self {
        let seconds = time.as_secs_f64();
        if seconds > 0.0 { Self(bytes.0 as f64 / seconds) } else { Self(0.0) }
    }
}

impl fmt::Display for BytesPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            v if v < 999.5 => (v, "B/s"),
            v if v < 999.5e3 => (v / 1e3, "kB/s"),
            v if v < 999.5e6 => (v / 1e6, "MB/s"),
            v => (v / 1e9, "GB/s"),
        };
        if value < 9.95 && unit != "B/s" {
            write!(f, "{value:.1} {unit}")
        } else {
            write!(f, "{value:.0} {unit}")
        }
    }
}

/// A part of a whole, 0 to 1, shown as a percentage.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(pub f64);

impl Share {
    /// Returns `part / whole`, clamped to 0..=1; zero when `whole` is zero.
    #[must_use]
    pub fn of(part: f64, whole: f64) -> Self {
        if whole > 0.0 { Self((part / whole).clamp(0.0, 1.0)) } else { Self(0.0) }
    }

    /// Returns the share in percent, 0 to 100.
    #[must_use]
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} %", self.percent())
    }
}

/// Formats nanoseconds with a suitable unit: `850 µs`, `12 ms`, `3.42 s`, `2 min 05 s`, `1 h 02 min`.
#[must_use]
pub fn seconds(nanoseconds: u64) -> String {
    let s = nanoseconds as f64 / 1e9;
    match s {
        s if s < 999.5e-6 => format!("{:.0} µs", s * 1e6),
        s if s < 0.9995 => format!("{:.0} ms", s * 1e3),
        s if s < 9.995 => format!("{s:.2} s"),
        s if s < 99.95 => format!("{s:.1} s"),
        s if s < 3599.5 => {
            let whole = (nanoseconds + 500_000_000) / 1_000_000_000;
            format!("{} min {:02} s", whole / 60, whole % 60)
        }
        _ => {
            let minutes = (nanoseconds / 1_000_000_000 + 30) / 60;
            format!("{} h {:02} min", minutes / 60, minutes % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_gnu_tools_read_them() {
        for (text, bytes) in [
            ("0", 0),
            ("65536", 65536),
            ("64K", 65536),
            ("64KiB", 65536),
            ("1M", 1 << 20),
            ("1 MiB", 1 << 20),
            ("3G", 3 << 30),
            ("1MB", 1_000_000),
        ] {
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn a_wrong_size_says_why() {
        assert_eq!("".parse::<Bytes>(), Err(ParseBytesError::NotANumber));
        assert_eq!("-1".parse::<Bytes>(), Err(ParseBytesError::NotANumber));
        assert_eq!("1Q".parse::<Bytes>(), Err(ParseBytesError::UnknownSuffix("Q".into())));
        assert_eq!("99999999T".parse::<Bytes>(), Err(ParseBytesError::TooLarge));
        assert_eq!("99999999999999999999".parse::<Bytes>(), Err(ParseBytesError::TooLarge));
    }

    #[test]
    fn text_has_at_most_three_digits_and_a_unit() {
        assert_eq!(Bytes(17).to_string(), "17 B");
        assert_eq!(Bytes(65536).to_string(), "64 KiB");
        assert_eq!(Bytes(1_572_864).to_string(), "1.5 MiB");
        assert_eq!(Bytes(1023 << 10).to_string(), "1.0 MiB");
        assert_eq!(BytesPerSecond(1.23e6).to_string(), "1.2 MB/s");
        assert_eq!(BytesPerSecond(123.4e6).to_string(), "123 MB/s");
        assert_eq!(seconds(850_000), "850 µs");
        assert_eq!(seconds(3_420_000_000), "3.42 s");
        assert_eq!(seconds(125_000_000_000), "2 min 05 s");
        assert_eq!(seconds(3_720_000_000_000), "1 h 02 min");
        assert_eq!(Share::of(1.0, 3.0).to_string(), "33 %");
    }
}
