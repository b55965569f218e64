//! Keys and aggregates as users write them.

use std::fmt;

use super::plan::Aggregate;
use super::quantile::Level;
use crate::json::query::{Cut, Path, SyntaxError};

/// A part of a group's key: the value of a path, or the time there, cut down to an hour, a day, ….
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyPart {
    /// To what the time is cut; nothing if the value counts as it is.
    pub cut: Option<Cut>,
    /// Where the value is.
    pub path: Path,
}

impl KeyPart {
    /// Reads parts with commas between them: `.host,hour .time`.
    ///
    /// # Errors
    /// Where the first mistake is, and what was expected there.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, SyntaxError> {
        let mut parts = Vec::new();
        let mut at = 0;
        loop {
            let (part, end) = Self::parse_at(text, skip_space(text, at))?;
            parts.push(part);
            at = skip_space(text, end);
            match text[at..].chars().next() {
                None => return Ok(parts),
                Some(',') => at += 1,
                Some(_) => {
                    return Err(error(at, "expected a comma, or . or [ or the end of the path"));
                }
            }
        }
    }

    fn parse_at(text: &str, at: usize) -> Result<(Self, usize), SyntaxError> {
        let word = word(text, at);
        let mut path_at = at;
        let mut cut = None;
        if !word.is_empty() {
            cut = Cut::of_function(word);
            if cut.is_none() {
                return Err(error(
                    at,
                    "expected a path, or year, month, day, hour, minute, second or time and a path",
                ));
            }
            path_at = skip_space(text, at + word.len());
        }
        let (path, end) = Path::parse_at(text, path_at)?;
        Ok((Self { cut, path }, end))
    }
}

impl fmt::Display for KeyPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cut.map(name_of) {
            Some(name) => write!(f, "{name} {}", self.path),
            None => self.path.fmt(f),
        }
    }
}

fn name_of(cut: Cut) -> &'static str {
    match cut {
        Cut::Exact => "time",
        Cut::Second => "second",
        Cut::Minute => "minute",
        Cut::Hour => "hour",
        Cut::Day => "day",
        Cut::Month => "month",
        Cut::Year => "year",
    }
}

/// An aggregate as a user asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What is to be found out.
    pub aggregate: Aggregate,
    /// About which values; only [`Aggregate::Records`] has none.
    pub path: Option<Path>,
}

/// The names of all aggregates, for those who mistyped one. Any number from 0 to 100 may follow `p`.
pub const NAMES: [&str; 11] =
    ["count", "sum", "avg", "min", "max", "p50", "p95", "p99", "distinct", "top", "hist"];

impl Question {
    /// Reads an aggregate, such as `count`, `sum .bytes` or `top 5 .path`; or several of the same path: `p50,p99 .ms`.
    ///
    /// # Errors
    /// Where the first mistake is, and what was expected there. If something is missing at the end, the mistake is at the end.
    pub fn parse(text: &str) -> Result<Vec<Self>, SyntaxError> {
        let begin = skip_space(text, 0);
        let (aggregates, end) = aggregates(text, begin)?;
        let at = skip_space(text, end);
        if at == text.len() && aggregates == [Aggregate::Count] {
            return Ok(vec![Self { aggregate: Aggregate::Records, path: None }]);
        }
        let (path, end) = Path::parse_at(text, at)?;
        let end = skip_space(text, end);
        if end < text.len() {
            return Err(error(end, "expected . or [ or the end of the path"));
        }
        let question = |aggregate| Self { aggregate, path: Some(path.clone()) };
        Ok(aggregates.into_iter().map(question).collect())
    }

    /// Returns whether the text begins with the name of an aggregate.
    #[must_use]
    pub fn begins(text: &str) -> bool {
        let name = word(text, skip_space(text, 0));
        NAMES.contains(&name) || is_level(name)
    }

    /// Returns the name of the aggregate, such as `p99.9`, without its path.
    #[must_use]
    pub fn name(&self) -> String {
        match self.aggregate {
            Aggregate::Records | Aggregate::Count => "count".to_owned(),
            Aggregate::Sum => "sum".to_owned(),
            Aggregate::Mean => "avg".to_owned(),
            Aggregate::Least => "min".to_owned(),
            Aggregate::Greatest => "max".to_owned(),
            Aggregate::Quantile(level) => level.to_string(),
            Aggregate::Distinct => "distinct".to_owned(),
            Aggregate::Top(most) => format!("top {most}"),
            Aggregate::Histogram => "hist".to_owned(),
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        self.path.as_ref().map_or(Ok(()), |path| write!(f, " {path}"))
    }
}

/// Reads the name of an aggregate or several quantiles; returns them and where they end.
fn aggregates(text: &str, at: usize) -> Result<(Vec<Aggregate>, usize), SyntaxError> {
    let name = word(text, at);
    let end = at + name.len();
    let one = |aggregate| Ok((vec![aggregate], end));
    match name {
        "count" => one(Aggregate::Count),
        "sum" => one(Aggregate::Sum),
        "avg" => one(Aggregate::Mean),
        "min" => one(Aggregate::Least),
        "max" => one(Aggregate::Greatest),
        "distinct" => one(Aggregate::Distinct),
        "hist" => one(Aggregate::Histogram),
        "top" => top(text, end),
        _ if is_level(name) => levels(text, at),
        _ => Err(error(at, "expected count, sum, avg, min, max, p50, distinct, top or hist")),
    }
}

fn is_level(name: &str) -> bool {
    name.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn top(text: &str, at: usize) -> Result<(Vec<Aggregate>, usize), SyntaxError> {
    let at = skip_space(text, at);
    let digits = word(text, at);
    match digits.parse() {
        Ok(most) if most > 0 => Ok((vec![Aggregate::Top(most)], at + digits.len())),
        _ => Err(error(at, "expected how many values, such as top 5")),
    }
}

fn levels(text: &str, at: usize) -> Result<(Vec<Aggregate>, usize), SyntaxError> {
    let mut aggregates = Vec::new();
    let mut at = at;
    loop {
        let length = text[at..].find(|c: char| c == ',' || c.is_whitespace());
        let end = length.map_or(text.len(), |length| at + length);
        let level = Level::parse(&text[at..end]);
        let level = level
            .ok_or_else(|| error(at, "expected p and a number from 0 to 100, such as p99.9"))?;
        aggregates.push(Aggregate::Quantile(level));
        let next = skip_space(text, end);
        if !text[next..].starts_with(',') {
            return Ok((aggregates, end));
        }
        at = skip_space(text, next + 1);
    }
}

impl Level {
    /// Reads p and a percentage with up to six decimal places: `p99.9`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = text.strip_prefix('p')?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let is_number =
            |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) || fraction.len() > 6 || whole.len() > 3 {
            return None;
        }
        let level = Self(format!("{whole}{fraction:0<6}").parse().ok()?);
        (level <= Self::ALL).then_some(level)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("p{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000);
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// Returns the letters and digits that begin here.
fn word(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    &rest[..rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())]
}

fn skip_space(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

fn error(at: usize, message: &str) -> SyntaxError {
    SyntaxError { at, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aggregates_are_read_and_shown_again() {
        for (text, shown) in [
            ("count", &["count"][..]),
            ("count .a", &["count .a"]),
            (" sum  $.a[0] ", &["sum .a[0]"]),
            ("sum.a", &["sum .a"]),
            ("avg .", &["avg ."]),
            ("p50,p99 , p99.90 .ms", &["p50 .ms", "p99 .ms", "p99.9 .ms"]),
            ("p0 .a", &["p0 .a"]),
            ("p100 .a", &["p100 .a"]),
            ("top 5 .a", &["top 5 .a"]),
            ("hist .\"a b\"", &["hist .\"a b\""]),
        ] {
            let questions = Question::parse(text).unwrap();
            let texts: Vec<String> = questions.iter().map(Question::to_string).collect();
            assert_eq!(texts, shown, "{text}");
            assert!(Question::begins(text), "{text}");
        }
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, at) in [
            ("summ .a", 0),
            ("sum", 3),
            ("sum a", 4),
            ("sum .a b", 7),
            ("sum .a,.b", 6),
            ("top .a", 4),
            ("top 0 .a", 4),
            ("p101 .a", 0),
            ("p50,p .a", 4),
            ("p99.9999999 .a", 0),
            ("p50", 3),
            ("", 0),
        ] {
            assert_eq!(Question::parse(text).unwrap_err().at, at, "{text}");
        }
    }

    #[test]
    fn keys_are_paths_or_times() {
        let shown = |text: &str| {
            let parts = KeyPart::parse_list(text).unwrap();
            parts.iter().map(KeyPart::to_string).collect::<Vec<_>>()
        };
        assert_eq!(shown(".host, $.a[0] ,hour .time"), [".host", ".a[0]", "hour .time"]);
        assert_eq!(shown("."), ["."]);
        for (text, at) in [(".a,", 3), ("hours .a", 0), ("hour", 4), (".a .b", 3), ("", 0)] {
            assert_eq!(KeyPart::parse_list(text).unwrap_err().at, at, "{text}");
        }
    }
}
