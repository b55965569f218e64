//! Generates event records.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{Begun, Source};

/// Generates records of a made-up web service, one JSON object a line, in the order of their time stamps.
///
/// The fields: `id` (counts), `time` (RFC 3339, milliseconds), `level`, `service`, `method`, `path` (often with a
/// number), `status`, `duration_ms` (most short, some long), `bytes`, `user` (object with `id`, `name`, `country`;
/// `null` for one in eight), `tags` (zero to three), `message` (with quotes, escapes and letters beyond ASCII now and
/// then).
#[derive(Clone, Debug)]
pub struct JsonLines {
    generator: Xoshiro256PlusPlus,
    rows_left: Option<u64>,
    row: u64,
    time_ms: u64,
    begun: Begun,
}

const LEVELS: [&str; 8] = ["info", "info", "info", "info", "debug", "debug", "warn", "error"];
const SERVICES: [&str; 6] = ["checkout", "search", "gateway", "accounts", "mailer", "images"];
const METHODS: [&str; 4] = ["GET", "GET", "POST", "PUT"];
const PATHS: [&str; 6] = ["/", "/cart/", "/items/", "/users/", "/search?q=", "/static/app.js?v="];
const STATUSES: [u16; 8] = [200, 200, 200, 200, 204, 301, 404, 500];
const NAMES: [&str; 8] = ["Ada", "Grace", "Jürgen", "Зоя", "Émile", "さくら", "Linus", "O'Neill"];
const COUNTRIES: [&str; 6] = ["DE", "FR", "JP", "US", "BR", "KZ"];
const TAGS: [&str; 6] = ["mobile", "beta", "retry", "cached", "eu-west", "a/b:17"];
const MESSAGES: [&str; 8] = [
    "request done",
    "cache miss",
    r#"user said \"hello\", left"#,
    r"path C:\\data\\in.txt not found",
    "timeout after 3 tries",
    r"two lines\nof text",
    "Größe überschritten – abgelehnt",
    r"snow \u2603 and done",
];
/// 2024-01-01T00:00:00Z, in milliseconds since 1970.
const BEGIN_MS: u64 = 1_704_067_200_000;

impl JsonLines {
    /// Generates the first `rows` records of `seed`, or records without end for `None`.
    #[must_use]
    pub fn new(seed: u64, rows: Option<u64>) -> Self {
        Self {
            generator: Xoshiro256PlusPlus::seed_from_u64(seed),
            rows_left: rows,
            row: 0,
            time_ms: BEGIN_MS,
            begun: Begun::default(),
        }
    }
}

/// Draws small numbers from one random word.
struct Draw(u64);

impl Draw {
    /// Draws a number below `end`, which is small.
    fn below(&mut self, end: u64) -> u64 {
        let drawn = self.0 % end;
        self.0 /= end;
        drawn
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap_or(0)]
    }
}

fn append_record(generator: &mut Xoshiro256PlusPlus, row: u64, time_ms: u64, text: &mut String) {
    use std::fmt::Write;
    let mut draw = Draw(generator.next_u64());
    let (level, service, method) = (draw.of(&LEVELS), draw.of(&SERVICES), draw.of(&METHODS));
    let (path, status, name) = (draw.of(&PATHS), draw.of(&STATUSES), draw.of(&NAMES));
    let (country, message) = (draw.of(&COUNTRIES), draw.of(&MESSAGES));
    let mut more = Draw(generator.next_u64());
    let scale = [1, 1, 1, 10, 100][usize::try_from(more.below(5)).unwrap_or(0)];
    let (duration, bytes) = (more.below(2000) * scale, more.below(60_000));
    let (item, user) = (more.below(100_000), more.below(8_000));
    // Writing into a string cannot fail.
    let _ = write!(
        text,
        r#"{{"id":{row},"time":"{}","level":"{level}","service":"{service}","method":"{method}","path":"{path}{item}","status":{status},"duration_ms":{}.{:02},"bytes":{bytes},"user":"#,
        Time(time_ms),
        duration / 100,
        duration % 100,
    );
    let _ = if user % 8 == 0 {
        write!(text, "null")
    } else {
        write!(text, r#"{{"id":{user},"name":"{name}","country":"{country}"}}"#)
    };
    text.push_str(r#","tags":["#);
    for tag in 0..more.below(4) {
        let comma = if tag == 0 { "" } else { "," };
        let _ = write!(text, r#"{comma}"{}""#, more.of(&TAGS));
    }
    let _ = writeln!(text, r#"],"message":"{message}"}}"#);
}

/// A time of the years 2024 to 2027, written in RFC 3339 format.
struct Time(u64);

impl std::fmt::Display for Time {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (seconds, ms) = (self.0 / 1000, self.0 % 1000);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let (year, month, day) = date(seconds / 86_400);
        write!(f, "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
    }
}

/// Returns year, month and day of a day since 1970, by the Gregorian calendar. Source: Hinnant, "chrono-compatible
/// low-level date algorithms", `civil_from_days`.
fn date(day: u64) -> (u64, u64, u64) {
    let shifted = day + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

impl Source for JsonLines {
    fn fill(&mut self, output: &mut [u8]) -> usize {
        let Self { generator, rows_left, row, time_ms, begun } = self;
        begun.fill(output, |text| {
            let mut records = String::new();
            while records.len() < 4096 && *rows_left != Some(0) {
                *rows_left = rows_left.map(|left| left - 1);
                *row += 1;
                *time_ms += generator.next_u64() % 40;
                append_record(generator, *row, *time_ms, &mut records);
            }
            text.extend_from_slice(records.as_bytes());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_follow_the_calendar() {
        assert_eq!(Time(BEGIN_MS).to_string(), "2024-01-01T00:00:00.000Z");
        assert_eq!(Time(1_709_164_800_123).to_string(), "2024-02-29T00:00:00.123Z");
        assert_eq!(Time(1_735_689_599_999).to_string(), "2024-12-31T23:59:59.999Z");
    }
}
