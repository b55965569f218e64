//! Reads expressions.

use regex::bytes::Regex;

use super::literal::{Literal, Set};
use super::node::Node;
use super::test::{Check, Relation, Test, Time};
use crate::json::query::path::{Path, Step};
use crate::json::query::syntax::{Cursor, SyntaxError};
use crate::json::query::time::{Cut, Instant};

/// Most parentheses and negations around a test.
const MOST_DEPTH: usize = 100;

/// Relations as they are written, longer ones first; whether they are negated.
const RELATIONS: [(&str, Relation, bool); 6] = [
    ("==", Relation::Equal, false),
    ("!=", Relation::Equal, true),
    ("<=", Relation::LessOrEqual, false),
    (">=", Relation::GreaterOrEqual, false),
    ("<", Relation::Less, false),
    (">", Relation::Greater, false),
];

pub(super) const EXPECTED_TEST: &str =
    "expected a path, a number, a string in quotes, true, false, null, exists, time, ! or (";
pub(super) const EXPECTED_OPERAND: &str =
    "expected a path, a number, a string in quotes, true, false, null or time";
pub(super) const EXPECTED_DATE: &str =
    "expected a date in quotes, such as \"2026-11-23\" or \"2026-11-23T14:00:00Z\"";
pub(super) const EXPECTED_LITERAL: &str =
    "expected a number, a string in quotes, true, false or null";
pub(super) const EXPECTED_RELATION: &str = "expected == != < <= > or >=";

/// Returns the paths of an expression and the expression.
pub(super) fn parse(text: &str) -> Result<(Vec<Path>, Node), SyntaxError> {
    let mut parser = Parser { cursor: Cursor::new(text, 0), paths: Vec::new(), depth: 0 };
    let root = parser.alternatives(false)?;
    if parser.cursor.at < text.len() {
        return Err(parser.expected_after_test());
    }
    Ok((parser.paths, root))
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    paths: Vec<Path>,
    /// Parentheses and negations around this position.
    depth: usize,
}

/// One side of a comparison.
enum Side {
    Cell(usize),
    Time(Time),
    Literal(Literal),
}

impl Parser<'_> {
    /// Reads tests with `||` between them; the opposite of that if `is_negated`.
    fn alternatives(&mut self, is_negated: bool) -> Result<Node, SyntaxError> {
        let mut nodes = vec![self.conjunction(is_negated)?];
        while self.take_symbol("||") || self.take_word("or") {
            nodes.push(self.conjunction(is_negated)?);
        }
        Ok(joined(nodes, if is_negated { Node::All } else { Node::Any }))
    }

    fn conjunction(&mut self, is_negated: bool) -> Result<Node, SyntaxError> {
        let mut nodes = vec![self.negation(is_negated)?];
        while self.take_symbol("&&") || self.take_word("and") {
            nodes.push(self.negation(is_negated)?);
        }
        Ok(joined(nodes, if is_negated { Node::Any } else { Node::All }))
    }

    fn negation(&mut self, is_negated: bool) -> Result<Node, SyntaxError> {
        self.cursor.skip_space();
        let begin = self.cursor.at;
        if self.depth == MOST_DEPTH {
            return Err(self.cursor.error(format!("nested more than {MOST_DEPTH} deep")));
        }
        self.depth += 1;
        let node = if self.take_symbol("!") || self.take_word("not") {
            self.negation(!is_negated)?
        } else if self.take_symbol("(") {
            let node = self.alternatives(is_negated)?;
            if !self.take_symbol(")") {
                let is_end = self.cursor.peek().is_none();
                let unclosed = || SyntaxError::new(begin, "this ( is never closed");
                return Err(if is_end { unclosed() } else { self.expected_after_test() });
            }
            node
        } else {
            Node::Test(self.test(is_negated)?)
        };
        self.depth -= 1;
        Ok(node)
    }

    fn expected_after_test(&self) -> SyntaxError {
        match self.cursor.peek() {
            Some(')') => self.cursor.error("there is no ( for this )"),
            _ => self.cursor.error("expected && or || or the end of the expression"),
        }
    }

    fn test(&mut self, is_negated: bool) -> Result<Test, SyntaxError> {
        if self.take_word("exists") {
            let cell = self.path()?;
            return Ok(self.finished(Check::Exists { cell }, is_negated, &[cell]));
        }
        let left_at = self.cursor.at;
        let left = self.side(EXPECTED_TEST)?;
        self.cursor.skip_space();
        for (symbol, relation, is_opposite) in RELATIONS {
            if self.cursor.take(symbol) {
                let (check, cells) = self.comparison((left, left_at), relation)?;
                return Ok(self.finished(check, is_negated != is_opposite, &cells));
            }
        }
        let Side::Cell(cell) = left else { return Err(self.cursor.error(EXPECTED_RELATION)) };
        let is_opposite = self.cursor.take("!~");
        let check = if is_opposite || self.cursor.take("~") {
            Check::Matches { cell, regex: self.regex()? }
        } else if self.take_word("in") {
            Check::In { cell, set: self.set()? }
        } else {
            let is_end = self.cursor.peek().is_none_or(|next| "&|)".contains(next));
            if !is_end && !self.is_at_word("and") && !self.is_at_word("or") {
                return Err(self
                    .cursor
                    .error(format!("{EXPECTED_RELATION}, ~ !~ in && ||, or the end")));
            }
            Check::IsTrue { cell }
        };
        Ok(self.finished(check, is_negated != is_opposite, &[cell]))
    }

    fn finished(&self, check: Check, is_negated: bool, cells: &[usize]) -> Test {
        let needs_element = cells.iter().any(|cell| self.paths[*cell].array().is_some());
        Test { check, is_negated, needs_element }
    }

    /// Reads the right side of a comparison; returns the comparison and its cells.
    fn comparison(
        &mut self,
        (left, left_at): (Side, usize),
        relation: Relation,
    ) -> Result<(Check, Vec<usize>), SyntaxError> {
        self.cursor.skip_space();
        let right_at = self.cursor.at;
        let right = self.side(EXPECTED_OPERAND)?;
        Ok(match (left, right) {
            (Side::Cell(cell), Side::Literal(literal)) => {
                (Check::Literal { cell, relation, literal }, vec![cell])
            }
            (Side::Literal(literal), Side::Cell(cell)) => {
                (Check::Literal { cell, relation: relation.turned(), literal }, vec![cell])
            }
            (Side::Cell(one), Side::Cell(two)) => {
                (Check::Cells { one, relation, two }, vec![one, two])
            }
            (Side::Time(time), Side::Literal(literal)) => {
                let instant = date(&literal, right_at)?;
                (Check::Instant { time, relation, instant }, vec![time.cell])
            }
            (Side::Literal(literal), Side::Time(time)) => {
                let instant = date(&literal, left_at)?;
                (Check::Instant { time, relation: relation.turned(), instant }, vec![time.cell])
            }
            (Side::Time(one), Side::Time(two)) => {
                (Check::Times { one, relation, two }, vec![one.cell, two.cell])
            }
            (Side::Cell(_), Side::Time(_)) => return Err(without_function(left_at)),
            (Side::Time(_), Side::Cell(_)) => return Err(without_function(right_at)),
            (Side::Literal(_), Side::Literal(_)) => {
                return Err(SyntaxError::new(left_at, "expected a path on one side"));
            }
        })
    }

    /// Reads one side of a comparison.
    fn side(&mut self, expected: &str) -> Result<Side, SyntaxError> {
        if let Some('.' | '$') = self.cursor.peek() {
            return Ok(Side::Cell(self.path()?));
        }
        let function = word(self.cursor.rest());
        if let Some(cut) = Cut::of_function(function) {
            self.cursor.at += function.len();
            return Ok(Side::Time(Time { cell: self.path()?, cut }));
        }
        Ok(Side::Literal(self.literal(expected)?))
    }

    fn literal(&mut self, expected: &str) -> Result<Literal, SyntaxError> {
        self.cursor.skip_space();
        match self.cursor.peek() {
            Some('"' | '\'') => return Ok(Literal::String(self.cursor.string()?.into_bytes())),
            Some('-' | '0'..='9') => return self.number(),
            _ => (),
        }
        let literals = [
            ("null", Literal::Null),
            ("true", Literal::Bool(true)),
            ("false", Literal::Bool(false)),
        ];
        for (name, literal) in literals {
            if self.take_word(name) {
                return Ok(literal);
            }
        }
        Err(self.cursor.error(expected))
    }

    fn number(&mut self) -> Result<Literal, SyntaxError> {
        let begin = self.cursor.at;
        let is_of_number = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
        let text = self.cursor.take_while(is_of_number);
        if !is_number(text) {
            return Err(SyntaxError::new(begin, "expected a number as JSON writes it"));
        }
        Ok(Literal::number(text.as_bytes()))
    }

    /// Reads a path, and returns its number.
    fn path(&mut self) -> Result<usize, SyntaxError> {
        self.cursor.skip_space();
        let begin = self.cursor.at;
        let (path, end) = Path::parse_at(self.cursor.text, begin)?;
        self.cursor.at = end;
        if let Some(known) = self.paths.iter().position(|known| *known == path) {
            return Ok(known);
        }
        let other = self.paths.iter().find_map(Path::array);
        if let (Some(array), Some(other)) = (path.array(), other)
            && array != other
        {
            let [array, other] =
                [array, other].map(|steps: &[Step]| Path { steps: steps.to_vec() });
            let message = format!("only one array can be gone through: {other} or {array}");
            return Err(SyntaxError::new(begin, message));
        }
        self.paths.push(path);
        Ok(self.paths.len() - 1)
    }

    /// Reads a regular expression in quotes. Its backslashes are its own, except before the quote.
    fn regex(&mut self) -> Result<Regex, SyntaxError> {
        self.cursor.skip_space();
        let begin = self.cursor.at;
        let Some(quote @ ('"' | '\'')) = self.cursor.peek() else {
            return Err(self.cursor.error("expected a regular expression in quotes"));
        };
        self.cursor.at += 1;
        let mut pattern = String::new();
        loop {
            pattern.push_str(self.cursor.take_while(|letter| letter != quote && letter != '\\'));
            let mut letters = self.cursor.rest().chars();
            match (letters.next(), letters.next()) {
                (Some('\\'), Some(letter)) if letter == quote => {
                    pattern.push(quote);
                    self.cursor.at += 2;
                }
                (Some('\\'), Some(letter)) => {
                    pattern.extend(['\\', letter]);
                    self.cursor.at += 1 + letter.len_utf8();
                }
                (Some('"' | '\''), _) => break,
                _ => return Err(SyntaxError::new(begin, format!("this {quote} is never closed"))),
            }
        }
        self.cursor.at += 1;
        Regex::new(&pattern).map_err(|error| SyntaxError::new(begin, why(&error)))
    }

    /// Reads the values of `in`.
    fn set(&mut self) -> Result<Set, SyntaxError> {
        if !self.take_symbol("(") {
            return Err(self.cursor.error("expected ( after in"));
        }
        let mut literals = Vec::new();
        loop {
            literals.push(self.literal(EXPECTED_LITERAL)?);
            if self.take_symbol(")") {
                return Ok(Set::new(literals));
            }
            if !self.take_symbol(",") {
                return Err(self.cursor.error("expected , or )"));
            }
        }
    }

    /// Takes a symbol that may have white space before it.
    fn take_symbol(&mut self, symbol: &str) -> bool {
        self.cursor.skip_space();
        // `!=` and `!~` never come where `!` may.
        self.cursor.take(symbol)
    }

    fn is_at_word(&self, expected: &str) -> bool {
        word(self.cursor.rest()) == expected
    }

    /// Takes a word that may have white space before it.
    fn take_word(&mut self, expected: &str) -> bool {
        self.cursor.skip_space();
        self.is_at_word(expected) && self.cursor.take(expected)
    }
}

fn joined(mut nodes: Vec<Node>, join: impl Fn(Vec<Node>) -> Node) -> Node {
    if nodes.len() > 1 {
        return join(nodes);
    }
    // There is always one.
    nodes.pop().unwrap_or(Node::All(nodes))
}

/// Returns the word with which the text begins.
fn word(text: &str) -> &str {
    let end = text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    &text[..end.unwrap_or(text.len())]
}

fn date(literal: &Literal, at: usize) -> Result<Instant, SyntaxError> {
    let instant = match literal {
        Literal::String(text) => Instant::parse_shown(text),
        _ => None,
    };
    instant.ok_or_else(|| SyntaxError::new(at, EXPECTED_DATE))
}

fn without_function(at: usize) -> SyntaxError {
    SyntaxError::new(at, "expected time before this path, because the other side is a time")
}

/// Whether the text is a number as RFC 8259 defines it.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = match digits.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };
    let are_digits =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent = exponent.map(|text| text.strip_prefix(['+', '-']).unwrap_or(text));
    are_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(are_digits)
        && exponent.is_none_or(are_digits)
}

/// Says what is wrong with a regular expression, in one line.
fn why(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("this regular expression would need more than {limit} bytes of memory")
        }
        _ => {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            format!("wrong regular expression: {}", last.trim_start_matches("error: "))
        }
    }
}
