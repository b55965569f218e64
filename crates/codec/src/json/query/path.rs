//! Paths into a document.

use std::fmt;

use super::syntax::{Cursor, SyntaxError};

/// A path into a document, such as `.a."b c"[0]`.
///
/// Its text is `.` or `$`, and then any number of steps: `.name`, `."name"`, `["name"]`, `['name']`, `[0]`, `[-1]`, `[]`. After
/// the dot at the beginning, the dot of the first step is left out. A name without quotes consists of letters, digits, `_`,
/// `-`, `$`, `@` and everything beyond ASCII. In quotes, the escapes of JSON can be used. The singular queries of RFC 9535
/// are paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    /// The steps from the outside to the inside; none is the whole document.
    pub steps: Vec<Step>,
}

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The member of an object with this name, which is decoded: without escapes.
    Name(String),
    /// The element of an array, from 0; from the end if negative, where -1 is the last.
    Index(i64),
    /// All elements of an array.
    Each,
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// Where and why the text is no path.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        let (path, end) = Self::parse_at(text, 0)?;
        if end < text.len() {
            return Err(SyntaxError::new(end, "expected . or [ or the end of the path"));
        }
        Ok(path)
    }

    /// Reads a path that begins after `at` bytes of a text, and ends before the first character that cannot belong to it;
    /// returns how many bytes of the text are before its end.
    ///
    /// # Errors
    /// Where and why there is no path.
    pub fn parse_at(text: &str, at: usize) -> Result<(Self, usize), SyntaxError> {
        let mut cursor = Cursor::new(text, at);
        let mut steps = Vec::new();
        if cursor.take("$") {
            if cursor.peek().is_some_and(is_of_name) {
                return Err(cursor.error("expected . or [ after $"));
            }
        } else if cursor.rest().starts_with('.') {
            let letter = cursor.rest()[1..].chars().next();
            if !letter.is_some_and(|letter| is_of_name(letter) || "\"'[.".contains(letter)) {
                return Ok((Self { steps }, at + 1));
            }
        } else {
            return Err(cursor.error("expected a path, which begins with . or $"));
        }
        while let Some(step) = step(&mut cursor)? {
            steps.push(step);
        }
        Ok((Self { steps }, cursor.at))
    }

    /// Returns the names with which the path begins.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let names = self.steps.iter().map_while(|step| match step {
            Step::Name(name) => Some(name.as_str()),
            Step::Index(_) | Step::Each => None,
        });
        names.collect()
    }

    /// Returns the steps that follow the names with which the path begins.
    #[must_use]
    pub fn rest(&self) -> &[Step] {
        let names = self.steps.iter().take_while(|step| matches!(step, Step::Name(_)));
        &self.steps[names.count()..]
    }

    /// Returns the steps up to the last [`Step::Each`], together with it, if the path has one.
    #[must_use]
    pub fn array(&self) -> Option<&[Step]> {
        let last = self.steps.iter().rposition(|step| *step == Step::Each)?;
        Some(&self.steps[..=last])
    }
}

/// Takes the next step, if there is one.
fn step(cursor: &mut Cursor<'_>) -> Result<Option<Step>, SyntaxError> {
    if cursor.take(".") {
        match cursor.peek() {
            Some('"' | '\'') => return Ok(Some(Step::Name(cursor.string()?))),
            Some(letter) if is_of_name(letter) => {
                return Ok(Some(Step::Name(cursor.take_while(is_of_name).to_owned())));
            }
            Some('[') => (),
            _ => return Err(cursor.error("expected a name, or a name in quotes")),
        }
    }
    if !cursor.take("[") {
        return Ok(None);
    }
    cursor.skip_space();
    let step = match cursor.peek() {
        Some(']') => Step::Each,
        Some('"' | '\'') => Step::Name(cursor.string()?),
        Some('-' | '0'..='9') => Step::Index(index(cursor)?),
        _ => return Err(cursor.error("expected an index, a name in quotes, or ]")),
    };
    cursor.skip_space();
    if !cursor.take("]") {
        return Err(cursor.error("expected ]"));
    }
    Ok(Some(step))
}

/// Takes an index as RFC 9535 writes it.
fn index(cursor: &mut Cursor<'_>) -> Result<i64, SyntaxError> {
    let begin = cursor.at;
    let is_negative = cursor.take("-");
    let digits = cursor.take_while(|letter| letter.is_ascii_digit());
    if digits.is_empty() {
        return Err(cursor.error("expected a digit"));
    }
    if digits.starts_with('0') && (is_negative || digits.len() > 1) {
        return Err(SyntaxError::new(begin, "expected an index without a zero before it"));
    }
    let index = cursor.text[begin..cursor.at].parse();
    index.map_err(|_| SyntaxError::new(begin, "this index is too large"))
}

/// Whether the character may be part of a name without quotes.
fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-$@".contains(letter) || !letter.is_ascii()
}

/// Writes the path in its shortest form, beginning with a dot.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !matches!(self.steps.first(), Some(Step::Name(_))) {
            f.write_str(".")?;
        }
        self.steps.iter().try_for_each(|step| write!(f, "{step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) if !name.is_empty() && name.chars().all(is_of_name) => {
                write!(f, ".{name}")
            }
            Self::Name(name) => write!(f, ".{}", Quoted(name)),
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Each => f.write_str("[]"),
        }
    }
}

/// Writes a text as a string of JSON.
struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"")?;
        for letter in self.0.chars() {
            match letter {
                '"' | '\\' => write!(f, "\\{letter}")?,
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\0'..='\x1F' | '\x7F' => write!(f, "\\u{:04x}", u32::from(letter))?,
                _ => write!(f, "{letter}")?,
            }
        }
        f.write_str("\"")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn name(name: &str) -> Step {
        Step::Name(name.to_owned())
    }

    #[test]
    fn paths_have_two_notations() {
        for (text, steps, shortest) in [
            (".", vec![], "."),
            ("$", vec![], "."),
            (".a", vec![name("a")], ".a"),
            ("$.a", vec![name("a")], ".a"),
            (".a.b", vec![name("a"), name("b")], ".a.b"),
            (".a[0]", vec![name("a"), Step::Index(0)], ".a[0]"),
            (".a[ -1 ]", vec![name("a"), Step::Index(-1)], ".a[-1]"),
            (".a[]", vec![name("a"), Step::Each], ".a[]"),
            (".[]", vec![Step::Each], ".[]"),
            (".[].a[][2]", vec![Step::Each, name("a"), Step::Each, Step::Index(2)], ".[].a[][2]"),
            (".\"with space\"", vec![name("with space")], ".\"with space\""),
            (".a.\"b.c\"", vec![name("a"), name("b.c")], ".a.\"b.c\""),
            (".[\"b\"]", vec![name("b")], ".b"),
            (".a['b']", vec![name("a"), name("b")], ".a.b"),
            (".a.['b']", vec![name("a"), name("b")], ".a.b"),
            ("$.a[0]['b']", vec![name("a"), Step::Index(0), name("b")], ".a[0].b"),
            ("$[\"a\"]", vec![name("a")], ".a"),
            (".$id", vec![name("$id")], ".$id"),
            (".@type-x_1", vec![name("@type-x_1")], ".@type-x_1"),
            (".größe.日本", vec![name("größe"), name("日本")], ".größe.日本"),
            (r#"."\u0061\n\"\ud83d\ude00""#, vec![name("a\n\"😀")], ".\"a\\n\\\"😀\""),
            (r"$['it\'s \u263A']", vec![name("it's ☺")], ".\"it's ☺\""),
            (".\"\"", vec![name("")], ".\"\""),
            (".0", vec![name("0")], ".0"),
        ] {
            let path = Path::parse(text).unwrap();
            assert_eq!(path.steps, steps, "{text}");
            assert_eq!(path.to_string(), shortest);
        }
    }

    #[test]
    fn a_mistake_has_a_place() {
        for (text, at, message) in [
            ("", 0, "expected a path, which begins with . or $"),
            ("a", 0, "expected a path, which begins with . or $"),
            ("..a", 1, "expected a name, or a name in quotes"),
            (".a.", 3, "expected a name, or a name in quotes"),
            (".a..b", 3, "expected a name, or a name in quotes"),
            (".a b", 2, "expected . or [ or the end of the path"),
            (".größe b", 8, "expected . or [ or the end of the path"),
            ("$a", 1, "expected . or [ after $"),
            (".a[", 3, "expected an index, a name in quotes, or ]"),
            (".a[*]", 3, "expected an index, a name in quotes, or ]"),
            (".a[b]", 3, "expected an index, a name in quotes, or ]"),
            (".a[1", 4, "expected ]"),
            (".a[1:2]", 4, "expected ]"),
            (".a[-]", 4, "expected a digit"),
            (".a[01]", 3, "expected an index without a zero before it"),
            (".a[-0]", 3, "expected an index without a zero before it"),
            (".a[99999999999999999999]", 3, "this index is too large"),
            (".\"a", 1, "this \" is never closed"),
            (".a['b", 3, "this ' is never closed"),
            (r#"."\x""#, 3, "expected one of \" \\ / b f n r t u after \\"),
            (r#"."\u12x4""#, 6, "expected four hexadecimal digits after \\u"),
            (r#"."a\ud800""#, 3, "half of a surrogate pair"),
            (r#"."\udc00\ud800""#, 2, "half of a surrogate pair"),
            (r#"."\ud800\u0041""#, 2, "half of a surrogate pair"),
        ] {
            let error = Path::parse(text).unwrap_err();
            assert_eq!((error.at, &*error.message), (at, message), "{text}");
        }
    }

    #[test]
    fn a_path_ends_where_something_else_begins() {
        for (text, end) in [(".a,.b", 2), (". == 1", 1), (".a[0])", 5), (".,.", 1), ("$<1", 1)] {
            assert_eq!(Path::parse_at(text, 0).unwrap().1, end, "{text}");
        }
        let (path, end) = Path::parse_at("hour .time", 5).unwrap();
        assert_eq!((path.names(), end), (vec!["time"], 10));
    }

    #[test]
    fn a_path_is_divided_into_names_array_and_the_rest() {
        let path = Path::parse(".a.b[0].c[].d[].e[1]").unwrap();
        assert_eq!(path.names(), ["a", "b"]);
        assert_eq!(path.rest().first(), Some(&Step::Index(0)));
        assert_eq!(path.array().map(<[Step]>::len), Some(7));
        assert_eq!(Path::parse(".a[0]").unwrap().array(), None);
    }

    proptest! {
        #[test]
        fn a_path_is_read_as_it_was_written(
            steps in proptest::collection::vec(
                prop_oneof![
                    "[a-c_$@é.\"'\\\\ \n\u{0}]{0,6}".prop_map(Step::Name),
                    any::<i64>().prop_map(Step::Index),
                    Just(Step::Each),
                ],
                0..6,
            ),
        ) {
            let path = Path { steps };
            prop_assert_eq!(Path::parse(&path.to_string()), Ok(path));
        }

        #[test]
        fn any_text_has_a_verdict_within_it(text in "[.$\\[\\]\"'\\\\ua0-9é -]{0,16}") {
            if let Err(error) = Path::parse(&text) {
                prop_assert!(text.is_char_boundary(error.at));
            }
        }
    }
}
