//! Numbers as text: what is unknown is `?`, what is zero is said to be.

use std::time::Duration;

use fullbore_measure::{Bytes, BytesPerSecond};
use fullbore_record::{RunRecord, StageRecord};

/// Sign for a number that could not be observed.
pub(crate) const UNKNOWN: &str = "?";

/// Sign for nothing at all, quieter than a zero.
pub(crate) const NONE: &str = "–";

/// A percentage without digits after the point; `?` when it is not a number.
pub(crate) fn percent(value: f64) -> String {
    // Adding zero turns -0.0 into 0.0.
    if value.is_finite() { format!("{:.0} %", value.round() + 0.0) } else { UNKNOWN.to_owned() }
}

/// A percentage that may be unknown.
pub(crate) fn known_percent(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), percent)
}

/// A size that may be unknown.
pub(crate) fn known_bytes(value: Option<u64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), |bytes| Bytes(bytes).to_string())
}

/// A count that may be unknown, with narrow spaces between thousands.
pub(crate) fn known_count(value: Option<u64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), count)
}

/// A count with narrow no-break spaces between thousands.
pub(crate) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && digits.len() > 4 {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// The number if it is finite, held to 0..=100.
pub(crate) fn share(value: f64) -> f64 {
    if value.is_finite() { value.clamp(0.0, 100.0) } else { 0.0 }
}

/// CPU time worth a line when no stage shows it …
const MISSING_NS: u64 = 20_000_000;
/// … and what part of all CPU time it must be, as a divisor.
const MISSING_PART: u64 = 50;

/// CPU time of the run that no stage shows, when it is worth a line: the shell's, that of programs that only start others,
/// and of processes that came and went between two samples.
pub(crate) fn cpu_of_no_stage_ns(record: &RunRecord) -> Option<u64> {
    let total_ns = record.cpu_ns?;
    let shown_ns = record.stages.iter().map(|stage| stage.cpu_ns).fold(0, u64::saturating_add);
    let missing_ns = total_ns.saturating_sub(shown_ns);
    (missing_ns > MISSING_NS && missing_ns > total_ns / MISSING_PART).then_some(missing_ns)
}

/// Bytes per second over the life of the stage; `None` when the bytes are unknown or it had no life.
pub(crate) fn rate(bytes: Option<u64>, stage: &StageRecord) -> Option<f64> {
    let bytes = bytes?;
    if stage.life_ns == 0 {
        return if bytes == 0 { Some(0.0) } else { None };
    }
    Some(BytesPerSecond::over(Bytes(bytes), Duration::from_nanos(stage.life_ns)).0)
}

/// A rate with its unit; `–` when nothing moved, `?` when unknown.
pub(crate) fn known_rate(rate: Option<f64>) -> String {
    match rate {
        None => UNKNOWN.to_owned(),
        Some(0.0) => NONE.to_owned(),
        Some(rate) => BytesPerSecond(rate).to_string(),
    }
}

/// A time since 1970-01-01 UTC in nanoseconds as `2026-01-01 00:00 UTC`.
/// Source: the days of the proleptic Gregorian calendar, counted in eras of 400 years from 1 March.
pub(crate) fn utc(unix_ns: u64) -> String {
    let minutes = unix_ns / 60_000_000_000;
    let days = minutes / 1440 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year_of_era = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day_of_month:02} {:02}:{:02} UTC", minutes / 60 % 24, minutes % 60)
}

/// The unit of a column of rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RateUnit {
    /// Bytes per second in one of the unit.
    size: f64,
    /// How it is written.
    pub(crate) name: &'static str,
}

impl RateUnit {
    /// The unit that suits the largest rate, or the next smaller one when that keeps the others readable.
    pub(crate) fn for_rates(rates: impl Iterator<Item = f64>) -> Self {
        const UNITS: [(f64, &str); 4] = [(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")];
        let moving: Vec<f64> = rates.filter(|rate| rate.is_finite() && *rate > 0.0).collect();
        let largest = moving.iter().copied().fold(0.0, f64::max);
        let smallest = moving.iter().copied().fold(f64::INFINITY, f64::min);
        let mut place = UNITS.iter().rposition(|(size, _)| largest >= size * 0.9995).unwrap_or(0);
        if place > 0 && smallest < UNITS[place].0 * 0.095 && largest < UNITS[place].0 * 9.9995 {
            place -= 1;
        }
        let (size, name) = UNITS[place];
        Self { size, name }
    }

    /// The rate in this unit, without the unit; `–` when nothing moved, `?` when unknown.
    pub(crate) fn text(self, rate: Option<f64>) -> String {
        let Some(rate) = rate else {
            return UNKNOWN.to_owned();
        };
        if rate == 0.0 {
            return NONE.to_owned();
        }
        match rate / self.size {
            value if value >= 9.95 => format!("{value:.0}"),
            value if value >= 0.095 => format!("{value:.1}"),
            value if value >= 0.0095 => format!("{value:.2}"),
            _ => "<0.01".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_unknown() {
        assert_eq!(percent(f64::NAN), "?");
        assert_eq!(percent(-0.2), "0 %");
        assert_eq!(known_percent(None), "?");
        assert_eq!(known_rate(Some(0.0)), "–");
    }

    #[test]
    fn the_unit_of_a_column_suits_its_largest_rate() {
        let unit = RateUnit::for_rates([33e6, 3e6, 0.0, 12.0].into_iter());
        assert_eq!(unit.name, "MB/s");
        assert_eq!(unit.text(Some(33e6)), "33");
        assert_eq!(unit.text(Some(3.04e6)), "3.0");
        assert_eq!(unit.text(Some(12.0)), "<0.01");
        assert_eq!(unit.text(None), "?");
    }

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_782_400_000_000_000), "2000-02-29 00:00 UTC");
        assert_eq!(utc(1_767_225_599_000_000_000), "2025-12-31 23:59 UTC");
    }

    #[test]
    fn thousands_are_grouped_from_five_digits_on() {
        assert_eq!(count(1234), "1234");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }
}
