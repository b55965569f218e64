//! Walks a shell line character by character and notes where its top-level pipelines and stages end.

use std::ops::Range;

use super::line::Line;

/// The stages of each pipeline, as ranges of characters.
type Pipelines = Vec<Vec<Range<usize>>>;

/// A compound command that is still open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Brace,
    If,
    LoopBeforeDo,
    LoopBody,
    Case,
}

/// What may come next in a list of commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A command, or the end of the list.
    Command,
    /// A command; an operator such as `|` or `&&` has just been read.
    Operand,
    /// More words of a command.
    Argument,
    /// Only redirections and operators; a compound command has just been closed.
    AfterCompound,
}

/// The pipelines of one list read so far.
struct List {
    done: Pipelines,
    stages: Vec<Range<usize>>,
    stage_start: usize,
    open: Vec<Open>,
    expect: Expect,
}

impl Line {
    pub(super) fn new(line: &str) -> Self {
        Self::with(line, |line, close| line.list(Some(close)).map(|_| ()))
    }

    /// Reads the whole line. Comments are blank in its text from then on.
    pub(super) fn pipelines(&mut self) -> Option<Pipelines> {
        let found = self.list(None)?;
        (self.at == self.text.len() && self.here_documents.is_empty()).then_some(found)
    }

    /// The text of a stage.
    pub(super) fn part(&self, range: &Range<usize>) -> String {
        self.text[range.clone()].iter().collect()
    }

    /// Reads a list of commands up to `close` (which is consumed) or the end of the line.
    fn list(&mut self, close: Option<char>) -> Option<Pipelines> {
        self.descend()?;
        let mut list = List {
            done: Vec::new(),
            stages: Vec::new(),
            stage_start: self.at,
            open: Vec::new(),
            expect: Expect::Command,
        };
        loop {
            self.skip_blanks();
            let Some(c) = self.peek(0) else {
                if close.is_some() {
                    return None;
                }
                break;
            };
            if Some(c) == close {
                break;
            }
            self.step(c, &mut list)?;
        }
        if !list.open.is_empty() {
            return None;
        }
        self.end_pipeline(&mut list, Expect::Command)?;
        if close.is_some() {
            self.at += 1;
        }
        self.ascend();
        Some(list.done)
    }

    /// Reads one word, operator, comment or newline.
    fn step(&mut self, c: char, list: &mut List) -> Option<()> {
        match c {
            '#' => {
                if list.open.is_empty() {
                    self.blank_comment();
                } else {
                    self.skip_comment();
                }
                Some(())
            }
            '\n' => self.newline(list),
            '|' => self.bar(list),
            '&' => self.ampersand(list),
            ';' => self.semicolon(list),
            '<' | '>' => self.redirection_of(list),
            '(' => self.open_parenthesis(list),
            ')' => None,
            _ => self.word_of(list),
        }
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// Skips a comment and overwrites it with spaces, so that it is in no stage's text.
    fn blank_comment(&mut self) {
        let start = self.at;
        self.skip_comment();
        self.text[start..self.at].fill(' ');
    }

    fn newline(&mut self, list: &mut List) -> Option<()> {
        let can_end = matches!(list.expect, Expect::Argument | Expect::AfterCompound);
        if list.open.is_empty() && can_end {
            self.end_pipeline(list, Expect::Command)?;
        } else if can_end {
            list.expect = Expect::Command;
        }
        self.at += 1;
        self.here_document_bodies()?;
        if list.open.is_empty() {
            list.stage_start = self.at;
        }
        Some(())
    }

    fn bar(&mut self, list: &mut List) -> Option<()> {
        if self.follows("||") {
            return self.operator(list, 2, Expect::Operand);
        }
        let length = if self.follows("|&") { 2 } else { 1 };
        Self::require_command(list)?;
        if list.open.is_empty() {
            self.end_stage(list)?;
        }
        self.at += length;
        if list.open.is_empty() {
            list.stage_start = self.at;
        }
        list.expect = Expect::Operand;
        Some(())
    }

    fn ampersand(&mut self, list: &mut List) -> Option<()> {
        if self.follows("&>") {
            return self.redirection_of(list);
        }
        if self.follows("&&") {
            return self.operator(list, 2, Expect::Operand);
        }
        self.operator(list, 1, Expect::Command)
    }

    fn semicolon(&mut self, list: &mut List) -> Option<()> {
        let ends_case_branch = [";;&", ";;", ";&"].into_iter().find(|end| self.follows(end));
        let Some(end) = ends_case_branch else {
            return self.operator(list, 1, Expect::Command);
        };
        if list.open.last() != Some(&Open::Case) || list.expect == Expect::Operand {
            return None;
        }
        self.at += end.len();
        self.case_pattern()?;
        list.expect = Expect::Command;
        Some(())
    }

    /// Ends a pipeline with an operator of `length` characters.
    fn operator(&mut self, list: &mut List, length: usize, next: Expect) -> Option<()> {
        Self::require_command(list)?;
        if list.open.is_empty() {
            self.end_pipeline(list, next)?;
        }
        self.at += length;
        if list.open.is_empty() {
            list.stage_start = self.at;
        }
        list.expect = next;
        Some(())
    }

    fn require_command(list: &List) -> Option<()> {
        matches!(list.expect, Expect::Argument | Expect::AfterCompound).then_some(())
    }

    fn end_stage(&self, list: &mut List) -> Option<()> {
        let is_text = |c: &char| !c.is_whitespace();
        let text = &self.text[list.stage_start..self.at];
        let first = text.iter().position(is_text)?;
        let last = text.iter().rposition(is_text)?;
        list.stages.push(list.stage_start + first..list.stage_start + last + 1);
        Some(())
    }

    fn end_pipeline(&self, list: &mut List, next: Expect) -> Option<()> {
        match list.expect {
            Expect::Operand => return None,
            Expect::Command => {}
            Expect::Argument | Expect::AfterCompound => {
                self.end_stage(list)?;
                list.done.push(std::mem::take(&mut list.stages));
            }
        }
        list.expect = next;
        Some(())
    }

    fn redirection_of(&mut self, list: &mut List) -> Option<()> {
        if self.follows("<(") || self.follows(">(") {
            if list.expect != Expect::Argument {
                return None;
            }
            return self.word().map(|_| ());
        }
        self.redirection()?;
        if list.expect != Expect::AfterCompound {
            list.expect = Expect::Argument;
        }
        Some(())
    }

    fn open_parenthesis(&mut self, list: &mut List) -> Option<()> {
        if !matches!(list.expect, Expect::Command | Expect::Operand) {
            return None;
        }
        if self.follows("((") {
            self.arithmetic()?;
        } else {
            self.at += 1;
            if self.list(Some(')'))?.is_empty() {
                return None;
            }
        }
        list.expect = Expect::AfterCompound;
        Some(())
    }

    fn word_of(&mut self, list: &mut List) -> Option<()> {
        let word = self.word()?;
        let is_descriptor = matches!(self.peek(0), Some('<' | '>'))
            && word.as_deref().is_some_and(|w| w.chars().all(|c| c.is_ascii_digit()));
        if is_descriptor {
            return self.redirection_of(list);
        }
        match (list.expect, word) {
            (Expect::Argument, _) => Some(()),
            (Expect::AfterCompound, Some(word)) => self.closing_word(&word, list).flatten(),
            (Expect::AfterCompound, None) => None,
            (Expect::Command, Some(word)) => match self.closing_word(&word, list) {
                Some(done) => done,
                None => self.first_word(&word, list),
            },
            (Expect::Operand, Some(word)) => self.first_word(&word, list),
            (Expect::Command | Expect::Operand, None) => {
                list.expect = Expect::Argument;
                Some(())
            }
        }
    }

    /// Handles a word that continues or closes a compound command; the outer `None` means that it is another word.
    #[expect(
        clippy::option_option,
        reason = "'not such a word' and 'such a word in a wrong place' differ"
    )]
    fn closing_word(&self, word: &str, list: &mut List) -> Option<Option<()>> {
        let (wanted, replacement) = match word {
            "}" => (Open::Brace, None),
            "fi" => (Open::If, None),
            "done" => (Open::LoopBody, None),
            "esac" => (Open::Case, None),
            "then" | "elif" | "else" => (Open::If, Some(Open::If)),
            "do" => (Open::LoopBeforeDo, Some(Open::LoopBody)),
            _ => return None,
        };
        if list.open.pop() != Some(wanted) {
            return Some(None);
        }
        list.open.extend(replacement);
        list.expect = if replacement.is_some() { Expect::Operand } else { Expect::AfterCompound };
        Some(Some(()))
    }

    /// Handles the first word of a command: it may open a compound command.
    fn first_word(&mut self, word: &str, list: &mut List) -> Option<()> {
        list.expect = Expect::Operand;
        match word {
            "!" | "time" => {}
            "{" => list.open.push(Open::Brace),
            "if" => list.open.push(Open::If),
            "while" | "until" => list.open.push(Open::LoopBeforeDo),
            "for" | "select" => {
                list.open.push(Open::LoopBeforeDo);
                self.skip_blanks();
                if self.follows("((") {
                    self.arithmetic()?;
                    list.expect = Expect::AfterCompound;
                } else {
                    self.word()?;
                    list.expect = Expect::Argument;
                }
            }
            "case" => {
                list.open.push(Open::Case);
                self.case_head()?;
                list.expect = Expect::Command;
            }
            "[[" => {
                self.conditional()?;
                list.expect = Expect::AfterCompound;
            }
            "}" | "fi" | "done" | "esac" | "then" | "elif" | "else" | "do" | "in" | "function"
            | "coproc" => {
                return None;
            }
            _ => {
                list.expect = Expect::Argument;
                // `name (` begins a function definition.
                self.skip_blanks();
                if self.peek(0) == Some('(') {
                    return None;
                }
            }
        }
        Some(())
    }
}
