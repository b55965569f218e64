//! What an expression of awk reads and assigns.

use std::collections::BTreeSet;

use super::names;
use super::stop::Stop;
use super::tokens::Token;

/// The position of the token that closes the bracket at `open`; `None` if brackets do not match.
pub(super) fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut awaited = Vec::new();
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Operator("(") => awaited.push(")"),
            Token::Operator("[") => awaited.push("]"),
            Token::Operator("{") => awaited.push("}"),
            Token::Operator(close @ (")" | "]" | "}")) => {
                (awaited.pop() == Some(*close)).then_some(())?;
                if awaited.is_empty() {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

fn assigns(token: Option<&Token>) -> bool {
    let operators = ["=", "+=", "-=", "*=", "/=", "%=", "^=", "**=", "++", "--"];
    token.is_some_and(|token| operators.iter().any(|one| token.is(one)))
}

/// The positions of names that a call of a function changes, given where it stands.
pub(super) fn changed_by_call(tokens: &[Token], at: usize, own: &BTreeSet<String>) -> Vec<usize> {
    let Token::Call(name) = &tokens[at] else { return Vec::new() };
    let Some(end) = closing(tokens, at + 1) else { return Vec::new() };
    let changed = |number: usize| match name.as_str() {
        "split" | "patsplit" => number == 1 || number == 3,
        "match" | "sub" | "gsub" => number == 2,
        "asort" | "asorti" => true,
        name => own.contains(name),
    };
    let (mut found, mut depth, mut number, mut begin) = (Vec::new(), 0_usize, 0, at + 2);
    for place in at + 2..=end {
        let last = place == end;
        match &tokens[place] {
            Token::Operator("(" | "[") => depth += 1,
            Token::Operator(")" | "]") if !last => depth -= 1,
            Token::Operator(",") if depth > 0 => {}
            Token::Operator("," | ")") => {
                // A bare name, or an element of an array, is what can be changed.
                if begin < place && matches!(tokens[begin], Token::Name(_)) && changed(number) {
                    found.push(begin);
                }
                number += 1;
                begin = place + 1;
            }
            _ => {}
        }
    }
    found
}

/// All names that something may assign to. The values of all others are the same for every record.
pub(super) fn written(tokens: &[Token], own: &BTreeSet<String>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, token) in tokens.iter().enumerate() {
        let after = tokens.get(at + 1);
        let before = at.checked_sub(1).and_then(|at| tokens.get(at));
        match token {
            Token::Name(name) => {
                let stepped = before.is_some_and(|token| token.is("++") || token.is("--"));
                let element = after.is_some_and(|token| token.is("["));
                let looped = at > 1
                    && tokens[at - 2].is_name("for")
                    && after.is_some_and(|token| token.is_name("in"));
                let deleted = before.is_some_and(|token| token.is_name("delete"));
                if stepped || element || looped || deleted || assigns(after) {
                    found.insert(name.clone());
                }
            }
            Token::Call(_) => {
                for place in changed_by_call(tokens, at, own) {
                    if let Token::Name(name) = &tokens[place] {
                        found.insert(name.clone());
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// What is known while an action is followed.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// Names that something assigns to.
    pub written: BTreeSet<String>,
    /// Functions of the program itself.
    pub own: BTreeSet<String>,
    /// Names that certainly got their value from this record.
    pub defined: BTreeSet<String>,
}

impl Known {
    /// Follows one expression: everything that it reads must be constant or of this record.
    pub(super) fn expression(&mut self, tokens: &[Token]) -> Result<(), Stop> {
        let mut gained = Vec::new();
        let mut changed = Vec::new();
        let mut certain = true;
        let mut at = 0;
        // `a = b = …` at the beginning assigns after everything else was read.
        while let [Token::Name(name), Token::Operator("="), ..] = &tokens[at..] {
            names::check_special(name, true)?;
            gained.push(name.clone());
            at += 2;
        }
        for at in at..tokens.len() {
            match &tokens[at] {
                Token::Operator("?" | "&&" | "||") => certain = false,
                Token::Operator("|" | "|&") => {
                    return Err(Stop::differs("runs a command once per block"));
                }
                Token::Call(name) => {
                    self.call(name)?;
                    let replaced = matches!(name.as_str(), "split" | "patsplit" | "match");
                    let places = changed_by_call(tokens, at, &self.own);
                    if replaced {
                        let names = places.iter().filter_map(|place| match &tokens[*place] {
                            Token::Name(name) if !tokens[place + 1].is("[") => Some(name.clone()),
                            _ => None,
                        });
                        let match_sets = ["RSTART", "RLENGTH"].map(str::to_owned);
                        let mut set: Vec<String> = names.collect();
                        set.extend(match_sets.into_iter().filter(|_| name == "match"));
                        changed.extend(
                            places.iter().copied().filter(|place| !tokens[place + 1].is("[")),
                        );
                        if certain {
                            gained.extend(set);
                        }
                    }
                }
                Token::Name(name) if !changed.contains(&at) => {
                    self.name(name, at, tokens, certain, &mut gained)?;
                }
                _ => {}
            }
        }
        self.defined.extend(gained);
        Ok(())
    }

    fn name(
        &self,
        name: &str,
        at: usize,
        tokens: &[Token],
        certain: bool,
        gained: &mut Vec<String>,
    ) -> Result<(), Stop> {
        if self.defined.contains(name) && !names::is_setting(name) {
            return Ok(());
        }
        let after = tokens.get(at + 1);
        let field = at > 0 && tokens[at - 1].is("$");
        let stepped = at > 0 && (tokens[at - 1].is("++") || tokens[at - 1].is("--"));
        names::check_special(name, stepped || assigns(after) && !field)?;
        if names::is_keyword(name) || names::is_constant(name) {
            return Ok(());
        }
        if after.is_some_and(|token| token.is("=")) && !field {
            if certain {
                gained.push(name.to_owned());
            }
            return Ok(());
        }
        if matches!(name, "RSTART" | "RLENGTH") || self.written.contains(name) {
            let array = after.is_some_and(|token| token.is("["));
            let kind = if array { "array" } else { "variable" };
            return Err(Stop::Differs(format!("keeps the {kind} {name} from record to record")));
        }
        Ok(())
    }

    fn call(&self, name: &str) -> Result<(), Stop> {
        match name {
            _ if self.own.contains(name) || names::is_keyword(name) => Ok(()),
            "rand" | "srand" => Err(Stop::differs("every block has random numbers of its own")),
            "system" | "close" => Err(Stop::differs("runs a command once per block")),
            _ => names::check_special(name, false).and(Err(Stop::Unknown)),
        }
    }
}
