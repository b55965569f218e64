//! `perl -pe` and `perl -ne`: substitutions, transliterations and lines chosen by regular expressions. All else is unknown.

use super::reason::differ;
use crate::answer::{Dealt, Ends, Rule};
use crate::call::Call;

pub(super) fn look(rule: &mut Rule, call: &Call) {
    let parsed = call.parsed;
    let program = parsed.values(&["-e"]).join("\n");
    if !(parsed.has("-n") || parsed.has("-p")) {
        rule.dealt = Dealt::Unknown;
        return;
    }
    if let Some(file) = parsed.operands.first() {
        return differ(rule, &format!("reads the file {file} instead of its input"));
    }
    let stateful = [
        ("$.", "numbers the lines of its block"),
        ("BEGIN", "BEGIN runs once per block"),
        ("END", "END runs once per block"),
    ];
    if let Some((_, why)) = stateful.iter().find(|(text, _)| program.contains(text)) {
        // A `$.` can also be the end of a pattern; nothing is lost by saying less.
        return if program.contains("$./") {
            rule.dealt = Dealt::Unknown
        } else {
            differ(rule, why)
        };
    }
    // Without -l a line's newline can be removed like any other character.
    rule.output = if parsed.has("-l") { Ends::Lines } else { Ends::Bytes };
    if Program(&program).read().is_none() {
        rule.dealt = Dealt::Unknown;
    }
}

/// What is left of a program.
struct Program<'a>(&'a str);

impl Program<'_> {
    /// Goes through the statements; `None` at the first that is not understood.
    fn read(mut self) -> Option<()> {
        loop {
            self.0 = self.0.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ';');
            if self.0.is_empty() {
                return Some(());
            }
            self.statement()?;
            self.blanks();
            (self.0.is_empty() || self.0.starts_with(';')).then_some(())?;
        }
    }

    fn blanks(&mut self) {
        self.0 = self.0.trim_start_matches(|c: char| c.is_ascii_whitespace());
    }

    /// Takes a word that ends here.
    fn word(&mut self, word: &str) -> bool {
        let rest = self.0.strip_prefix(word);
        let ends = |rest: &&str| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        rest.filter(ends).is_some_and(|rest| {
            self.0 = rest;
            true
        })
    }

    fn statement(&mut self) -> Option<()> {
        if self.word("s") {
            let delimiter = self.delimiter()?;
            self.pattern(delimiter)?;
            self.replacement(delimiter)?;
            self.flags("gims");
        } else if self.word("tr") || self.word("y") {
            let delimiter = self.delimiter()?;
            self.until(delimiter)?;
            self.until(delimiter)?;
            self.flags("cds");
        } else if !(self.word("print") || self.word("next") || self.word("chomp")) {
            return None;
        }
        self.blanks();
        if self.word("if") || self.word("unless") { self.condition() } else { Some(()) }
    }

    /// Regular expressions joined by `&&` and `||`.
    fn condition(&mut self) -> Option<()> {
        loop {
            self.blanks();
            self.0 = self.0.strip_prefix('!').unwrap_or(self.0);
            self.0 = self.0.strip_prefix('/')?;
            self.pattern('/')?;
            self.flags("ims");
            self.blanks();
            match self.0.strip_prefix("&&").or_else(|| self.0.strip_prefix("||")) {
                Some(rest) => self.0 = rest,
                None => return Some(()),
            }
        }
    }

    fn delimiter(&mut self) -> Option<char> {
        let delimiter = self.0.chars().next().filter(|c| "/|,!:%".contains(*c))?;
        self.0 = &self.0[1..];
        Some(delimiter)
    }

    fn flags(&mut self, allowed: &str) {
        self.0 = self.0.trim_start_matches(|c: char| allowed.contains(c));
    }

    /// Takes text up to a delimiter without a backslash before it.
    fn until(&mut self, delimiter: char) -> Option<String> {
        let mut chars = self.0.char_indices();
        while let Some((at, c)) = chars.next() {
            if c == '\\' {
                chars.next()?;
            } else if c == delimiter {
                let text = self.0[..at].to_owned();
                self.0 = &self.0[at + 1..];
                return Some(text);
            }
        }
        None
    }

    /// A pattern without variables, code or a memory of earlier matches. An empty one means the last that matched.
    fn pattern(&mut self, delimiter: char) -> Option<()> {
        let text = self.until(delimiter)?;
        let variable = sigils(&text).any(|(sigil, after)| match sigil {
            b'$' => !matches!(after, None | Some(b')' | b'|')),
            _ => true,
        });
        let code = ["(?{", "(??{", "\\G", "(*"].iter().any(|one| text.contains(one));
        (!text.is_empty() && !variable && !code).then_some(())
    }

    /// A replacement with no variables but what the pattern caught.
    fn replacement(&mut self, delimiter: char) -> Option<()> {
        let text = self.until(delimiter)?;
        let caught = |after| matches!(after, Some(b'1'..=b'9' | b'&'));
        let foreign = sigils(&text).any(|(sigil, after)| sigil == b'@' || !caught(after));
        // `$1[0]` and `$1{x}` are other variables, `$1->` calls.
        let element = ["[", "{", "->"].iter().any(|one| text.contains(one));
        (!foreign && !element).then_some(())
    }
}

/// Every `$` and `@` without a backslash before it, with the byte behind it.
fn sigils(text: &str) -> impl Iterator<Item = (u8, Option<u8>)> + '_ {
    let bytes = text.as_bytes();
    let mut escaped = false;
    bytes.iter().enumerate().filter_map(move |(at, byte)| {
        let was_escaped = escaped;
        escaped = *byte == b'\\' && !was_escaped;
        let sigil = matches!(byte, b'$' | b'@') && !was_escaped;
        sigil.then(|| (*byte, bytes.get(at + 1).copied()))
    })
}
