//! Reads the parts of a shell line that stay whole: words, quotes, expansions, redirections, here-documents.

use super::line::{HereDocument, Line, ends_word, is_blank};

impl Line {
    /// Reads one word; the inner `None` means that some of it was quoted or expanded.
    #[expect(clippy::option_option, reason = "'a word that is not plain' and 'not a word' differ")]
    pub(super) fn word(&mut self) -> Option<Option<String>> {
        let start = self.at;
        let mut is_plain = true;
        while let Some(c) = self.peek(0) {
            match c {
                '\'' | '"' | '\\' | '`' | '$' => {
                    is_plain = false;
                    self.quoted_or_expanded(c)?;
                }
                '<' | '>' if self.peek(1) == Some('(') => {
                    is_plain = false;
                    self.at += 2;
                    self.nested_list(')')?;
                }
                '(' if self.at > start && self.opens_pattern_or_array() => {
                    is_plain = false;
                    self.parenthesised_words()?;
                }
                c if ends_word(c) => break,
                _ => self.at += 1,
            }
        }
        if self.at == start {
            return None;
        }
        Some(is_plain.then(|| self.text[start..self.at].iter().collect()))
    }

    /// Tells whether `name=(…)` starts here, or one of bash's `@(…)`, `?(…)`, `*(…)`, `+(…)`, `!(…)`.
    fn opens_pattern_or_array(&self) -> bool {
        matches!(self.text[self.at - 1], '=' | '@' | '?' | '*' | '+' | '!')
    }

    fn parenthesised_words(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek(0)? {
                '(' => {
                    depth += 1;
                    self.at += 1;
                }
                ')' => {
                    depth -= 1;
                    self.at += 1;
                    if depth == 0 {
                        return Some(());
                    }
                }
                c @ ('\'' | '"' | '\\' | '`' | '$') => self.quoted_or_expanded(c)?,
                '#' | ';' | '&' | '<' | '>' => return None,
                _ => self.at += 1,
            }
        }
    }

    /// Reads what begins with one of `'`, `"`, `\`, a backquote or `$`.
    fn quoted_or_expanded(&mut self, c: char) -> Option<()> {
        match c {
            '\'' => self.until_quote('\'', false),
            '`' => self.until_quote('`', true),
            '"' => self.double_quotes(),
            '\\' => {
                self.peek(1)?;
                self.at += 2;
                Some(())
            }
            _ => self.dollar(true),
        }
    }

    fn until_quote(&mut self, quote: char, backslash_escapes: bool) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek(0)? {
                '\\' if backslash_escapes => {
                    self.peek(1)?;
                    self.at += 2;
                }
                c => {
                    self.at += 1;
                    if c == quote {
                        return Some(());
                    }
                }
            }
        }
    }

    fn double_quotes(&mut self) -> Option<()> {
        self.at += 1;
        loop {
            match self.peek(0)? {
                '"' => {
                    self.at += 1;
                    return Some(());
                }
                '\\' => {
                    self.peek(1)?;
                    self.at += 2;
                }
                '`' => self.until_quote('`', true)?,
                '$' => self.dollar(false)?,
                _ => self.at += 1,
            }
        }
    }

    /// Reads `$(…)`, `$((…))`, `${…}`, and outside double quotes `$'…'` and `$"…"`; otherwise just the dollar.
    fn dollar(&mut self, quotes_may_follow: bool) -> Option<()> {
        self.at += 1;
        match self.peek(0) {
            Some('(') if self.peek(1) == Some('(') => self.arithmetic(),
            Some('(') => {
                self.at += 1;
                self.nested_list(')')
            }
            Some('{') => self.parameter(),
            Some('\'') if quotes_may_follow => self.until_quote('\'', true),
            Some('"') if quotes_may_follow => self.double_quotes(),
            // `$#` and `$$` are names, not the start of something.
            Some('#' | '$' | '?' | '!' | '*' | '@' | '-') => {
                self.at += 1;
                Some(())
            }
            _ => Some(()),
        }
    }

    /// Reads `{…}` of `${…}`.
    fn parameter(&mut self) -> Option<()> {
        self.at += 1;
        let mut depth = 1_usize;
        while depth > 0 {
            match self.peek(0)? {
                '{' => {
                    depth += 1;
                    self.at += 1;
                }
                '}' => {
                    depth -= 1;
                    self.at += 1;
                }
                c @ ('\'' | '"' | '\\' | '`') => self.quoted_or_expanded(c)?,
                // A nested expansion is counted by its braces; only `$(…)` hides braces.
                '$' if self.peek(1) == Some('(') => self.dollar(false)?,
                '\n' => return None,
                _ => self.at += 1,
            }
        }
        Some(())
    }

    /// Reads `((…))`; `None` when the two closing parentheses do not stand together.
    pub(super) fn arithmetic(&mut self) -> Option<()> {
        self.at += 2;
        let mut depth = 2_usize;
        loop {
            match self.peek(0)? {
                '(' => depth += 1,
                ')' if depth == 2 => {
                    if self.peek(1) != Some(')') {
                        return None;
                    }
                    self.at += 2;
                    return Some(());
                }
                ')' => depth -= 1,
                '\'' | '"' | '\\' | '`' | '\n' => return None,
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Reads `[[ … ]]` after its first word.
    pub(super) fn conditional(&mut self) -> Option<()> {
        loop {
            while self.peek(0).is_some_and(|c| c == '\n' || is_blank(c)) {
                self.at += 1;
            }
            let c = self.peek(0)?;
            if self.follows("]]") && self.peek(2).is_none_or(ends_word) {
                self.at += 2;
                return Some(());
            }
            match c {
                '\'' | '"' | '\\' | '`' | '$' => self.quoted_or_expanded(c)?,
                '#' => return None,
                _ => self.at += 1,
            }
        }
    }

    /// Reads `WORD in` after `case`, and the first pattern.
    pub(super) fn case_head(&mut self) -> Option<()> {
        self.skip_blanks();
        self.word()?;
        self.skip_space();
        if self.word()?? != "in" {
            return None;
        }
        self.case_pattern()
    }

    /// Reads `PATTERN)`, or nothing when `esac` comes next.
    pub(super) fn case_pattern(&mut self) -> Option<()> {
        self.skip_space();
        if self.follows("esac") && self.peek(4).is_none_or(ends_word) {
            return Some(());
        }
        if self.peek(0)? == '(' {
            self.at += 1;
        }
        loop {
            match self.peek(0)? {
                ')' => {
                    self.at += 1;
                    return Some(());
                }
                c @ ('\'' | '"' | '\\' | '`' | '$') => self.quoted_or_expanded(c)?,
                '(' | ';' | '&' | '<' | '>' | '#' | '\n' => return None,
                _ => self.at += 1,
            }
        }
    }

    fn skip_space(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek(0) {
                Some('\n') if self.here_documents.is_empty() => self.at += 1,
                _ => return,
            }
        }
    }

    /// Reads a redirection with its target; the position is on `<`, `>` or `&>`.
    pub(super) fn redirection(&mut self) -> Option<()> {
        const OPERATORS: [&str; 12] =
            ["<<<", "<<-", "<<", "<>", "<&", "<", "&>>", "&>", ">>", ">&", ">|", ">"];
        let operator = OPERATORS.into_iter().find(|operator| self.follows(operator))?;
        self.at += operator.len();
        self.skip_blanks();
        let start = self.at;
        if self.word()?.is_none() && operator.starts_with("<<") && operator != "<<<" {
            let raw: String = self.text[start..self.at].iter().collect();
            if raw.contains(['$', '`']) {
                return None;
            }
        }
        if operator == "<<" || operator == "<<-" {
            let delimiter: String = self.text[start..self.at]
                .iter()
                .filter(|c| !matches!(c, '\'' | '"' | '\\'))
                .collect();
            self.here_documents.push(HereDocument { delimiter, is_indented: operator == "<<-" });
        }
        Some(())
    }

    /// Skips the bodies of the here-documents that begin after the newline just read.
    pub(super) fn here_document_bodies(&mut self) -> Option<()> {
        for document in std::mem::take(&mut self.here_documents) {
            loop {
                if self.at >= self.text.len() {
                    return None;
                }
                let rest = &self.text[self.at..];
                let length = rest.iter().position(|&c| c == '\n').unwrap_or(rest.len());
                let line: String = rest[..length].iter().collect();
                self.at = (self.at + length + 1).min(self.text.len());
                let line = if document.is_indented { line.trim_start_matches('\t') } else { &line };
                if line == document.delimiter {
                    break;
                }
            }
        }
        Some(())
    }
}
