//! Follows a program of awk: what each record's action assigns before it reads it.

use std::collections::BTreeSet;
use std::ops::Range;

use super::expression::{Known, closing, written};
use super::names;
use super::program::{Item, functions, items, line_end};
use super::stop::Stop;
use super::tokens::Token;

/// Accepts or refuses a program; tells whether what it writes for a record ends with a newline.
pub(super) fn judge(tokens: &[Token]) -> Result<bool, Stop> {
    let items = items(tokens)?;
    let mut rest = tokens.to_vec();
    for item in &items {
        if let Item::Begin(body) = item {
            // What is set once at the start is the same for every record.
            rest[body.clone()].fill(Token::Newline);
        }
    }
    let own = functions(tokens);
    let known = Known { written: written(&rest, &own), own, defined: BTreeSet::new() };
    let mut flow = Flow { tokens, at: 0, known, whole_lines: true };
    for item in items {
        flow.item(item)?;
    }
    Ok(flow.whole_lines)
}

/// The state of following a program.
struct Flow<'t> {
    tokens: &'t [Token],
    at: usize,
    known: Known,
    whole_lines: bool,
}

impl Flow<'_> {
    fn item(&mut self, item: Item) -> Result<(), Stop> {
        match item {
            Item::Begin(body) => self.constants(body),
            Item::Function { parameters, body } => {
                let before = std::mem::replace(&mut self.known.defined, parameters);
                self.block(body)?;
                self.known.defined = before;
                Ok(())
            }
            Item::Rule { pattern, body } => {
                let always = pattern.is_empty();
                self.known.expression(&self.tokens[pattern])?;
                let before = self.known.defined.clone();
                if let Some(body) = body {
                    self.block(body)?;
                }
                if !always {
                    self.known.defined = before;
                }
                Ok(())
            }
        }
    }

    /// `BEGIN` may only set variables to constants.
    fn constants(&mut self, body: Range<usize>) -> Result<(), Stop> {
        let tokens = &self.tokens[body];
        if tokens.iter().any(|token| token.is_name("print") || token.is_name("printf")) {
            return Err(Stop::differs("BEGIN prints once per block"));
        }
        for statement in tokens.split(|token| matches!(token, Token::Newline) || token.is(";")) {
            let mut left = statement;
            let mut set = Vec::new();
            while let [Token::Name(name), Token::Operator("="), after @ ..] = left {
                set.push(name.as_str());
                left = after;
            }
            let value = match left {
                [] if set.is_empty() => continue,
                [Token::Text(text)] => text.as_str(),
                [Token::Number] | [Token::Operator("-"), Token::Number] => "",
                _ => return Err(Stop::Unknown),
            };
            for name in set {
                names::may_set_at_start(name, value)?;
                self.whole_lines &= name != "ORS" || names::ends_line(value);
            }
        }
        Ok(())
    }

    fn block(&mut self, body: Range<usize>) -> Result<(), Stop> {
        self.at = body.start;
        while self.at < body.end {
            self.statement()?;
        }
        Ok(())
    }

    fn token(&self) -> Result<&Token, Stop> {
        self.tokens.get(self.at).ok_or(Stop::Unknown)
    }

    fn skip_newlines(&mut self) {
        while matches!(self.tokens.get(self.at), Some(Token::Newline)) {
            self.at += 1;
        }
    }

    /// The tokens between the parentheses that come next; goes behind them.
    fn parenthesis(&mut self) -> Result<Range<usize>, Stop> {
        if !self.token()?.is("(") {
            return Err(Stop::Unknown);
        }
        let end = closing(self.tokens, self.at).ok_or(Stop::Unknown)?;
        let inside = self.at + 1..end;
        self.at = end + 1;
        Ok(inside)
    }

    fn statement(&mut self) -> Result<(), Stop> {
        let token = self.token()?.clone();
        let begin = self.at;
        self.at += 1;
        match &token {
            Token::Newline | Token::Operator(";") => Ok(()),
            Token::Operator("{") => {
                let end = closing(self.tokens, begin).ok_or(Stop::Unknown)?;
                self.block(begin + 1..end)?;
                self.at = end + 1;
                Ok(())
            }
            Token::Name(name) | Token::Call(name) => match name.as_str() {
                "if" => self.condition(),
                "while" => self.repeated(),
                "do" => self.do_while(),
                "for" => self.for_loop(),
                _ => self.simple(begin),
            },
            _ => self.simple(begin),
        }
    }

    fn condition(&mut self) -> Result<(), Stop> {
        let inside = self.parenthesis()?;
        self.known.expression(&self.tokens[inside])?;
        self.skip_newlines();
        let before = self.known.defined.clone();
        self.statement()?;
        let behind = self.at;
        while self
            .tokens
            .get(self.at)
            .is_some_and(|token| *token == Token::Newline || token.is(";"))
        {
            self.at += 1;
        }
        if !self.tokens.get(self.at).is_some_and(|token| token.is_name("else")) {
            self.at = behind;
            self.known.defined = before;
            return Ok(());
        }
        self.at += 1;
        self.skip_newlines();
        let then = std::mem::replace(&mut self.known.defined, before);
        self.statement()?;
        self.known.defined.retain(|name| then.contains(name));
        Ok(())
    }

    fn repeated(&mut self) -> Result<(), Stop> {
        let inside = self.parenthesis()?;
        self.known.expression(&self.tokens[inside])?;
        self.loop_body()
    }

    /// What a loop assigns may never be assigned.
    fn loop_body(&mut self) -> Result<(), Stop> {
        let before = self.known.defined.clone();
        self.skip_newlines();
        self.statement()?;
        self.known.defined = before;
        Ok(())
    }

    fn do_while(&mut self) -> Result<(), Stop> {
        self.loop_body()?;
        while self.token()?.is(";") || matches!(self.token()?, Token::Newline) {
            self.at += 1;
        }
        if !self.token()?.is_name("while") {
            return Err(Stop::Unknown);
        }
        self.at += 1;
        let inside = self.parenthesis()?;
        self.known.expression(&self.tokens[inside])
    }

    fn for_loop(&mut self) -> Result<(), Stop> {
        let inside = self.parenthesis()?;
        let tokens = &self.tokens[inside];
        if let [Token::Name(name), word, array] = tokens
            && word.is_name("in")
        {
            self.known.expression(std::slice::from_ref(array))?;
            let before = self.known.defined.clone();
            names::check_special(name, true)?;
            self.known.defined.insert(name.clone());
            self.loop_body()?;
            self.known.defined = before;
            return Ok(());
        }
        let parts: Vec<&[Token]> = tokens.split(|token| token.is(";")).collect();
        let [first, test, step] = parts[..] else { return Err(Stop::Unknown) };
        self.known.expression(first)?;
        self.known.expression(test)?;
        self.loop_body()?;
        let before = self.known.defined.clone();
        self.known.expression(step)?;
        self.known.defined = before;
        Ok(())
    }

    /// A statement without parts: up to the end of its line.
    fn simple(&mut self, begin: usize) -> Result<(), Stop> {
        let end = line_end(self.tokens, begin);
        self.at = end;
        let tokens = &self.tokens[begin..end];
        if tokens.is_empty() {
            return Err(Stop::Unknown);
        }
        if let [word, Token::Name(array)] = tokens
            && word.is_name("delete")
        {
            self.known.defined.insert(array.clone());
            return Ok(());
        }
        let prints = tokens[0].is_name("print") || tokens[0].is_name("printf");
        let target = if prints { self.output(tokens)? } else { tokens.len() };
        self.known.expression(&tokens[..target])
    }

    /// Looks at what is printed, and where to; returns where that ends.
    fn output(&mut self, tokens: &[Token]) -> Result<usize, Stop> {
        if tokens[0].is_name("printf") {
            let format = if tokens.get(1).is_some_and(|token| token.is("(")) { 2 } else { 1 };
            let ends =
                matches!(tokens.get(format), Some(Token::Text(text)) if names::ends_line(text));
            let alone = tokens
                .get(format + 1)
                .is_none_or(|token| token.is(",") || token.is(")") || token.is(">"));
            self.whole_lines &= ends && alone;
        }
        let mut depth = 0_usize;
        for (at, token) in tokens.iter().enumerate() {
            match token {
                Token::Operator("(" | "[") => depth += 1,
                Token::Operator(")" | "]") => depth = depth.saturating_sub(1),
                Token::Operator(">" | ">>") if depth == 0 => {
                    return match &tokens[at + 1..] {
                        [Token::Text(file)] if file == "/dev/stderr" => Ok(at),
                        _ => Err(Stop::differs("every block overwrites the file")),
                    };
                }
                _ => {}
            }
        }
        Ok(tokens.len())
    }
}
