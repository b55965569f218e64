//! The parts of an awk program: `BEGIN`, functions, and patterns with their actions.

use std::collections::BTreeSet;
use std::ops::Range;

use super::expression::closing;
use super::stop::Stop;
use super::tokens::Token;

/// The reason why a program with `END` differs.
pub(super) const END: &str = "END runs once per block";

/// One part of a program.
pub(super) enum Item {
    Begin(Range<usize>),
    Function { parameters: BTreeSet<String>, body: Range<usize> },
    Rule { pattern: Range<usize>, body: Option<Range<usize>> },
}

/// The names of a program's own functions.
pub(super) fn functions(tokens: &[Token]) -> BTreeSet<String> {
    let pairs = tokens.windows(2).filter(|pair| is_function(&pair[0]));
    let named = pairs.filter_map(|pair| match &pair[1] {
        Token::Name(name) | Token::Call(name) => Some(name.clone()),
        _ => None,
    });
    named.collect()
}

fn is_function(token: &Token) -> bool {
    token.is_name("function") || token.is_name("func")
}

/// Splits a program into its parts.
pub(super) fn items(tokens: &[Token]) -> Result<Vec<Item>, Stop> {
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if matches!(token, Token::Newline) || token.is(";") {
            at += 1;
            continue;
        }
        if token.is_name("END") || token.is_name("ENDFILE") || token.is_name("BEGINFILE") {
            return Err(Stop::differs(END));
        }
        let begin = at;
        let body = body(tokens, at)?;
        let head_end = body.as_ref().map_or_else(|| line_end(tokens, at), |body| body.start - 1);
        at = body.as_ref().map_or(head_end, |body| body.end + 1);
        if at == begin {
            return Err(Stop::Unknown);
        }
        if token.is_name("BEGIN") {
            items.push(Item::Begin(body.ok_or(Stop::Unknown)?));
        } else if is_function(token) {
            let inside = tokens.get(begin + 2..head_end).ok_or(Stop::Unknown)?;
            let names = inside.iter().filter_map(|token| match token {
                Token::Name(name) => Some(name.clone()),
                _ => None,
            });
            items.push(Item::Function {
                parameters: names.collect(),
                body: body.ok_or(Stop::Unknown)?,
            });
        } else {
            items.push(Item::Rule { pattern: begin..head_end, body });
        }
    }
    Ok(items)
}

/// The tokens between the braces of the part that begins at `at`; none if it is only a pattern.
fn body(tokens: &[Token], at: usize) -> Result<Option<Range<usize>>, Stop> {
    let mut depth = 0_usize;
    for place in at..line_end(tokens, at) {
        match &tokens[place] {
            Token::Operator("(" | "[") => depth += 1,
            Token::Operator(")" | "]") => depth = depth.checked_sub(1).ok_or(Stop::Unknown)?,
            Token::Operator(",") if depth == 0 => {
                return Err(Stop::differs("a range can begin in one block and end in the next"));
            }
            Token::Operator("{") => {
                let end = closing(tokens, place).ok_or(Stop::Unknown)?;
                return Ok(Some(place + 1..end));
            }
            _ => {}
        }
    }
    Ok(None)
}

/// Where a pattern or a simple statement ends: at `;`, `}` or a newline that nothing continues.
pub(super) fn line_end(tokens: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for place in at..tokens.len() {
        match &tokens[place] {
            Token::Operator("(" | "[" | "{") => depth += 1,
            Token::Operator(")" | "]" | "}") if depth > 0 => depth -= 1,
            Token::Operator(";" | "}") if depth == 0 => return place,
            Token::Newline if depth == 0 => {
                let continued =
                    place > at && matches!(tokens[place - 1], Token::Operator("," | "&&" | "||"));
                let opened = tokens[at..place].last().is_some_and(|token| token.is(")"))
                    && is_function(&tokens[at]);
                if !continued && !opened {
                    return place;
                }
            }
            _ => {}
        }
    }
    tokens.len()
}
