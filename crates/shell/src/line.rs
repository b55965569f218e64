//! A position in a shell line, and what both the reader of lists and the reader of words ask of it.

/// Deepest nesting that is read; the limit also bounds the recursion.
const MAX_DEPTH: usize = 50;

/// A here-document whose body has not been reached yet.
pub(super) struct HereDocument {
    pub(super) delimiter: String,
    pub(super) is_indented: bool,
}

/// Reads a list of commands up to the character, which it consumes.
type ReadList = fn(&mut Line, char) -> Option<()>;

/// A position in a line, with the here-documents that wait for the next newline.
pub(super) struct Line {
    pub(super) text: Vec<char>,
    pub(super) at: usize,
    pub(super) here_documents: Vec<HereDocument>,
    depth: usize,
    /// A word may contain a list of commands, as `$(a | b)` does. The list is made of words, so whoever reads lists
    /// says here how.
    read_list: ReadList,
}

/// Space and tab separate words; a newline ends a command.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r')
}

pub(super) fn ends_word(c: char) -> bool {
    is_blank(c) || matches!(c, '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')')
}

impl Line {
    pub(super) fn with(line: &str, read_list: ReadList) -> Self {
        Self {
            text: line.chars().collect(),
            at: 0,
            here_documents: Vec::new(),
            depth: 0,
            read_list,
        }
    }

    /// Reads a list of commands inside a word.
    pub(super) fn nested_list(&mut self, close: char) -> Option<()> {
        (self.read_list)(self, close)
    }

    /// Enters a list; `None` when it is nested too deeply.
    pub(super) fn descend(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    /// Leaves a list that was read to its end.
    pub(super) fn ascend(&mut self) {
        self.depth -= 1;
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.text.get(self.at + ahead).copied()
    }

    pub(super) fn follows(&self, what: &str) -> bool {
        what.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    /// Whether the word that begins here assigns a variable.
    pub(super) fn is_assignment(&self, start: usize) -> bool {
        let letters = |c: &&char| c.is_ascii_alphanumeric() || **c == '_';
        let word = &self.text[start..self.at];
        let name = word.iter().take_while(letters).count();
        name > 0 && !word[0].is_ascii_digit() && word.get(name) == Some(&'=')
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek(0) {
                Some(c) if is_blank(c) => self.at += 1,
                // Blank the continuation, so that it is in no stage's text.
                Some('\\') if self.peek(1) == Some('\n') => {
                    self.text[self.at..self.at + 2].fill(' ');
                    self.at += 2;
                }
                _ => return,
            }
        }
    }
}
