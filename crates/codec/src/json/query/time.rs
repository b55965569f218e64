//! Times as RFC 3339 writes them.

use std::fmt;

const SECONDS_PER_DAY: i32 = 86_400;
/// Digits behind the point of a second that count; the others are left out.
const MOST_FRACTION_DIGITS: usize = 18;

/// A point in time, in UTC. Leap seconds have their own place: 23:59:60 is after 23:59:59 and before 00:00:00.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Days since 1970-01-01.
    day: i32,
    /// Seconds since the day began, at most 86,400.
    second: i32,
    attosecond: u64,
}

/// To what a point in time is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cut {
    /// It stays as it is.
    Exact,
    /// The beginning of its second.
    Second,
    /// The beginning of its minute.
    Minute,
    /// The beginning of its hour.
    Hour,
    /// The beginning of its day.
    Day,
    /// The beginning of its month.
    Month,
    /// The beginning of its year.
    Year,
}

impl Cut {
    /// Returns what a function of expressions cuts to: `time` to nothing, `hour` to hours.
    #[must_use]
    pub fn of_function(name: &str) -> Option<Self> {
        Some(match name {
            "time" => Self::Exact,
            "second" => Self::Second,
            "minute" => Self::Minute,
            "hour" => Self::Hour,
            "day" => Self::Day,
            "month" => Self::Month,
            "year" => Self::Year,
            _ => return None,
        })
    }
}

impl Instant {
    /// Reads a date and time as RFC 3339 defines it, or a date alone, which is the beginning of that day in UTC. `t` and `z` may
    /// be small letters, and a space may replace `T`. A second 60 is accepted where Earth's rotation may need one: at the end of
    /// a month, in UTC. Of fractions of a second, 18 digits count.
    ///
    /// Source: RFC 3339, section 5.6.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let [year_1, year_2, year_3, year_4, b'-', month_1, month_2, b'-', day_1, day_2] = date
        else {
            return None;
        };
        let year = number(&[*year_1, *year_2, *year_3, *year_4])?;
        let month = number(&[*month_1, *month_2])?;
        let day_of_month = number(&[*day_1, *day_2])?;
        if !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day_of_month) {
            return None;
        }
        let day = days_before(year, month, day_of_month);
        let midnight = Self { day, second: 0, attosecond: 0 };
        if rest.is_empty() { Some(midnight) } else { midnight.with_time(rest) }
    }

    /// Adds what follows the date.
    fn with_time(self, text: &[u8]) -> Option<Self> {
        let (time, rest) = text.split_at_checked(9)?;
        let [b'T' | b't' | b' ', hour_1, hour_2, b':', minute_1, minute_2, b':', one, two] = time
        else {
            return None;
        };
        let hour = number(&[*hour_1, *hour_2]).filter(|hour| *hour < 24)?;
        let minute = number(&[*minute_1, *minute_2]).filter(|minute| *minute < 60)?;
        let second = number(&[*one, *two]).filter(|second| *second <= 60)?;
        let (attosecond, rest) = fraction(rest)?;
        let minutes = hour * 60 + minute - offset(rest)?;
        let day = self.day + minutes.div_euclid(24 * 60);
        let minute = minutes.rem_euclid(24 * 60);
        if second == 60 && (minute != 24 * 60 - 1 || civil(day + 1).2 != 1) {
            return None;
        }
        Some(Self { day, second: minute * 60 + second, attosecond })
    }

    /// Reads a point in time in any of the forms in which [`shown`](Self::shown) writes one: also a year, or a year and a month.
    #[must_use]
    pub fn parse_shown(text: &[u8]) -> Option<Self> {
        match text.len() {
            4 => Self::parse(&[text, b"-01-01"].concat()),
            7 => Self::parse(&[text, b"-01"].concat()),
            _ => Self::parse(text),
        }
    }

    /// Returns the beginning of the unit in which it is, in UTC.
    #[must_use]
    pub fn cut(self, cut: Cut) -> Self {
        let (year, month, _) =
            if cut == Cut::Month || cut == Cut::Year { civil(self.day) } else { (0, 1, 1) };
        // A leap second belongs to the last minute.
        let within_day = self.second.min(SECONDS_PER_DAY - 1);
        let (day, second) = match cut {
            Cut::Exact => return self,
            Cut::Second => (self.day, self.second),
            Cut::Minute => (self.day, within_day / 60 * 60),
            Cut::Hour => (self.day, within_day / 3600 * 3600),
            Cut::Day => (self.day, 0),
            Cut::Month => (days_before(year, month, 1), 0),
            Cut::Year => (days_before(year, 1, 1), 0),
        };
        Self { day, second, attosecond: 0 }
    }

    /// Shows it in UTC as far as the cut needs: `2026`, `2026-11`, `2026-11-23`, otherwise `2026-11-23T14:00:00Z`.
    #[must_use]
    pub fn shown(self, cut: Cut) -> impl fmt::Display {
        Shown(self.cut(cut), cut)
    }
}

struct Shown(Instant, Cut);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(instant, cut) = self;
        let (year, month, day) = civil(instant.day);
        // An offset can lead to the years before 0 and after 9999, for which RFC 3339 has no form.
        let width = if year < 0 { 5 } else { 4 };
        write!(f, "{year:0width$}")?;
        if *cut == Cut::Year {
            return Ok(());
        }
        write!(f, "-{month:02}")?;
        if *cut == Cut::Month {
            return Ok(());
        }
        write!(f, "-{day:02}")?;
        if *cut == Cut::Day {
            return Ok(());
        }
        let minute = instant.second.min(SECONDS_PER_DAY - 1) / 60;
        let second = instant.second - minute * 60;
        write!(f, "T{:02}:{:02}:{second:02}", minute / 60, minute % 60)?;
        if instant.attosecond > 0 {
            let digits = format!("{:018}", instant.attosecond);
            write!(f, ".{}", digits.trim_end_matches('0'))?;
        }
        f.write_str("Z")
    }
}

/// Returns the fraction of a second in attoseconds, and what follows it.
fn fraction(text: &[u8]) -> Option<(u64, &[u8])> {
    let [b'.', rest @ ..] = text else { return Some((0, text)) };
    let length = rest.iter().take_while(|digit| digit.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(length);
    let mut attosecond = 0;
    for at in 0..MOST_FRACTION_DIGITS {
        attosecond = attosecond * 10 + u64::from(digits.get(at).unwrap_or(&b'0') - b'0');
    }
    (length > 0).then_some((attosecond, rest))
}

/// Returns the offset from UTC in minutes.
fn offset(text: &[u8]) -> Option<i32> {
    match text {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), hour_1, hour_2, b':', minute_1, minute_2] => {
            let hours = number(&[*hour_1, *hour_2]).filter(|hours| *hours < 24)?;
            let minutes = number(&[*minute_1, *minute_2]).filter(|minutes| *minutes < 60)?;
            let minutes = hours * 60 + minutes;
            Some(if *sign == b'-' { -minutes } else { minutes })
        }
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<i32> {
    digits.iter().try_fold(0, |number, digit| {
        digit.is_ascii_digit().then(|| number * 10 + i32::from(digit - b'0'))
    })
}

/// Returns how many days the month has, which is 1 to 12.
fn days_of(year: i32, month: i32) -> i32 {
    let is_leap_year = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if is_leap_year => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the days since 1970-01-01.
///
/// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", `days_from_civil`.
fn days_before(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Returns the year, month and day of the month.
///
/// Source: as [`days_before`], `civil_from_days`.
fn civil(day: i32) -> (i32, i32, i32) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let day = day.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i32::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn instant(text: &str) -> Instant {
        Instant::parse(text.as_bytes()).unwrap_or_else(|| panic!("{text} is no time"))
    }

    fn shown(text: &str, cut: Cut) -> String {
        instant(text).shown(cut).to_string()
    }

    #[test]
    fn one_instant_has_many_texts() {
        for (one, two) in [
            ("2026-11-23", "2026-11-23T00:00:00Z"),
            ("2026-11-23T14:05:07Z", "2026-11-23t14:05:07z"),
            ("2026-11-23T14:05:07Z", "2026-11-23 15:05:07+01:00"),
            ("2026-11-23T14:05:07Z", "2026-11-23T14:05:07-00:00"),
            ("2026-11-23T14:05:07.5Z", "2026-11-23T14:05:07.500000000000000000000000Z"),
            ("2026-12-31T23:59:59Z", "2027-01-01T05:44:59+05:45"),
            ("2016-12-31T23:59:60Z", "2016-12-31T15:59:60-08:00"),
            ("0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00+23:59"),
        ] {
            assert_eq!(instant(one), instant(two), "{one} and {two}");
        }
    }

    #[test]
    fn instants_are_sorted() {
        let sorted = [
            "0000-01-01T00:00:00+23:59",
            "0000-01-01",
            "1969-12-31T23:59:59.999Z",
            "1970-01-01",
            "2016-12-31T23:59:59.999999999999999999Z",
            "2016-12-31T23:59:60Z",
            "2016-12-31T23:59:60.9Z",
            "2017-01-01T00:00:00Z",
            "2017-01-01T00:00:00.000000001Z",
            "2024-02-29",
            "9999-12-31T23:59:59-23:59",
        ];
        assert!(sorted.is_sorted_by(|one, two| instant(one) < instant(two)));
    }

    #[test]
    fn impossible_times_are_refused() {
        for text in [
            "",
            "2026",
            "2026-11",
            "2026-11-2",
            "2026-13-01",
            "2026-00-01",
            "2026-11-31",
            "2026-11-00",
            "2025-02-29",
            "1900-02-29",
            "2026-11-23T",
            "2026-11-23T14",
            "2026-11-23T14:05Z",
            "2026-11-23T14:05:07",
            "2026-11-23T24:00:00Z",
            "2026-11-23T14:60:00Z",
            "2026-11-23T14:05:61Z",
            "2026-11-23T14:05:60Z",
            "2026-11-23T23:59:60Z",
            "2016-12-31T23:59:60+01:00",
            "2026-11-23T14:05:07.Z",
            "2026-11-23T14:05:07,5Z",
            "2026-11-23T14:05:07+0100",
            "2026-11-23T14:05:07+24:00",
            "2026-11-23T14:05:07+01:60",
            "2026-11-23T14:05:07Z ",
            " 2026-11-23",
            "2026-11-23T14:05:07ZZ",
            "+2026-11-23",
            "2026/11/23",
            "2O26-11-23",
        ] {
            assert_eq!(Instant::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn instants_are_cut_and_shown_in_utc() {
        let text = "2026-01-01T00:30:07.250+01:00";
        for (cut, expected) in [
            (Cut::Exact, "2025-12-31T23:30:07.25Z"),
            (Cut::Second, "2025-12-31T23:30:07Z"),
            (Cut::Minute, "2025-12-31T23:30:00Z"),
            (Cut::Hour, "2025-12-31T23:00:00Z"),
            (Cut::Day, "2025-12-31"),
            (Cut::Month, "2025-12"),
            (Cut::Year, "2025"),
        ] {
            assert_eq!(shown(text, cut), expected);
            assert_eq!(Instant::parse_shown(expected.as_bytes()), Some(instant(text).cut(cut)));
        }
        let leap = "2016-12-31T23:59:60.5Z";
        assert_eq!(shown(leap, Cut::Exact), leap);
        assert_eq!(shown(leap, Cut::Second), "2016-12-31T23:59:60Z");
        assert_eq!(shown(leap, Cut::Minute), "2016-12-31T23:59:00Z");
        assert_eq!(shown(leap, Cut::Hour), "2016-12-31T23:00:00Z");
        assert_eq!(shown("0000-01-01T00:00:00+00:01", Cut::Minute), "-0001-12-31T23:59:00Z");
    }

    #[test]
    fn every_day_of_800_years_follows_the_one_before_it() {
        let mut day = days_before(1600, 1, 1);
        for year in 1600..2400 {
            for month in 1..=12 {
                for day_of_month in 1..=days_of(year, month) {
                    assert_eq!(days_before(year, month, day_of_month), day);
                    assert_eq!(civil(day), (year, month, day_of_month));
                    day += 1;
                }
            }
        }
        assert_eq!(days_before(1970, 1, 1), 0);
        assert_eq!(days_before(2000, 3, 1), 11_017);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(
            day in -719_528..2_932_896_i32, second in 0..SECONDS_PER_DAY, attosecond in 0..10_u64.pow(18),
        ) {
            let instant = Instant { day, second, attosecond };
            let text = instant.shown(Cut::Exact).to_string();
            prop_assert_eq!(Instant::parse(text.as_bytes()), Some(instant));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[0-9TZ:+. -]{0,30}") {
            let _ = Instant::parse(text.as_bytes());
        }
    }
}
