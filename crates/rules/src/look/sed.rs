//! `sed`: reads the script and accepts what is a function of one line.

use crate::answer::{Dealt, Rule};
use crate::call::Call;

pub(super) fn look(rule: &mut Rule, call: &Call) {
    let given = call.parsed.values(&["-e"]).join("\n");
    let text = if given.is_empty() {
        call.parsed.operands.first().map_or("", String::as_str)
    } else {
        &given
    };
    let mut script = Script::new(text);
    match script.read() {
        Ok(()) if script.adds_file => rule.need("the file that r adds ends with a newline"),
        Ok(()) => {}
        Err(Stop::Differs(why)) => super::reason::differ(rule, why),
        Err(Stop::Unknown) => rule.dealt = Dealt::Unknown,
    }
}

/// Why a script is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Differs(&'static str),
    Unknown,
}

/// The state of reading a script.
struct Script<'a> {
    rest: &'a str,
    /// For each open block, whether a regular expression selects it.
    blocks: Vec<bool>,
    first: First,
    hold: Hold,
    labels: bool,
    /// An empty regular expression was found that only its block justifies.
    block_regex: bool,
    adds_file: bool,
    commands: usize,
}

/// What every cycle begins with.
#[derive(Debug, Default)]
struct First {
    /// A regular expression, so an empty one means one of this line.
    regex: bool,
    /// `h`, so the hold space is one of this line.
    hold: bool,
}

/// What is done with the hold space.
#[derive(Debug, Default)]
struct Hold {
    written: bool,
    read: bool,
}

const HOLD: &str = "keeps text from line to line in its hold space";
const LAST_REGEX: &str = "an empty expression can mean one used for an earlier line";

impl<'a> Script<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            blocks: Vec::new(),
            first: First::default(),
            hold: Hold::default(),
            labels: false,
            block_regex: false,
            adds_file: false,
            commands: 0,
        }
    }

    fn read(&mut self) -> Result<(), Stop> {
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == ';');
            match self.rest.chars().next() {
                None => break,
                Some('#') => self.skip_line(),
                Some(_) => self.command()?,
            }
        }
        if !self.blocks.is_empty() {
            return Err(Stop::Unknown);
        }
        if self.block_regex && self.labels {
            return Err(Stop::Differs(LAST_REGEX));
        }
        if self.hold.written && self.hold.read && !self.first.hold {
            return Err(Stop::Differs(HOLD));
        }
        Ok(())
    }

    fn next(&mut self) -> Result<char, Stop> {
        let c = self.rest.chars().next().ok_or(Stop::Unknown)?;
        self.rest = &self.rest[c.len_utf8()..];
        Ok(c)
    }

    fn skip_line(&mut self) {
        self.rest = self.rest.find('\n').map_or("", |at| &self.rest[at..]);
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
    }

    /// Reads an address, if there is one; tells whether there is.
    fn address(&mut self) -> Result<bool, Stop> {
        let delimiter = match self.rest.chars().next() {
            Some('/') => self.next()?,
            Some('\\') => {
                self.next()?;
                self.next()?
            }
            Some('$') => {
                return Err(Stop::Differs(
                    "the last line of a block is not the last line of the input",
                ));
            }
            Some(c) if c.is_ascii_digit() => {
                return Err(Stop::Differs("counts the lines of its block"));
            }
            _ => return Ok(false),
        };
        let empty = self.pattern(delimiter)?;
        if empty {
            self.empty_regex(false)?;
        }
        self.rest = self.rest.trim_start_matches(['I', 'M']);
        self.skip_blanks();
        if self.rest.starts_with(',') {
            return Err(Stop::Differs("a range can begin in one block and end in the next"));
        }
        Ok(true)
    }

    /// Reads a regular expression up to its delimiter; tells whether it is empty.
    fn pattern(&mut self, delimiter: char) -> Result<bool, Stop> {
        if delimiter == '\n' || delimiter == '\\' {
            return Err(Stop::Unknown);
        }
        let mut empty = true;
        loop {
            let c = self.next()?;
            if c == delimiter {
                return Ok(empty);
            }
            empty = false;
            match c {
                '\\' => {
                    self.next()?;
                }
                '[' => self.bracket()?,
                '\n' => return Err(Stop::Unknown),
                _ => {}
            }
        }
    }

    /// Skips the rest of a bracket expression.
    fn bracket(&mut self) -> Result<(), Stop> {
        self.rest = self.rest.strip_prefix('^').unwrap_or(self.rest);
        self.rest = self.rest.strip_prefix(']').unwrap_or(self.rest);
        loop {
            match self.next()? {
                ']' => return Ok(()),
                '[' if self.rest.starts_with([':', '.', '=']) => {
                    let end = format!("{}]", self.next()?);
                    let at = self.rest.find(&end).ok_or(Stop::Unknown)?;
                    self.rest = &self.rest[at + 2..];
                }
                '\n' => return Err(Stop::Unknown),
                _ => {}
            }
        }
    }

    /// Reads the second part of `s` or `y`, or the first of `y`.
    fn part(&mut self, delimiter: char) -> Result<(), Stop> {
        loop {
            match self.next()? {
                c if c == delimiter => return Ok(()),
                '\\' => {
                    self.next()?;
                }
                _ => {}
            }
        }
    }

    /// An empty expression is the last one used: it must be certain that this line used one.
    fn empty_regex(&mut self, addressed: bool) -> Result<(), Stop> {
        if self.first.regex || addressed {
            return Ok(());
        }
        if !self.blocks.contains(&true) {
            return Err(Stop::Differs(LAST_REGEX));
        }
        self.block_regex = true;
        Ok(())
    }

    fn command(&mut self) -> Result<(), Stop> {
        let first = self.commands == 0 && self.blocks.is_empty();
        let addressed = self.address()?;
        self.first.regex |= first && addressed;
        self.rest = self.rest.trim_start_matches([' ', '\t', '!']);
        let name = self.next()?;
        if name != '}' && name != ':' {
            self.commands += 1;
        }
        match name {
            '{' => {
                self.blocks.push(addressed);
                return Ok(());
            }
            '}' => {
                self.blocks.pop().ok_or(Stop::Unknown)?;
            }
            's' => self.substitute(first && !addressed, addressed)?,
            'y' => {
                let delimiter = self.next()?;
                self.part(delimiter)?;
                self.part(delimiter)?;
            }
            'a' | 'i' | 'c' => return self.text(),
            'b' | 't' | 'T' | ':' => return self.label(name),
            'r' => {
                self.skip_blanks();
                let name = self.rest.lines().next().unwrap_or_default();
                if name.starts_with("/dev/") {
                    return Err(Stop::Unknown);
                }
                self.adds_file = true;
                self.skip_line();
                return Ok(());
            }
            'h' => {
                self.first.hold |= first && !addressed;
                self.hold.written = true;
            }
            'H' => self.hold.written = true,
            'x' => self.hold = Hold { written: true, read: true },
            'g' | 'G' => self.hold.read = true,
            'p' | 'P' | 'd' | 'F' | 'z' => {}
            'l' => {
                self.skip_blanks();
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
            }
            other => return Err(refused(other)),
        }
        self.end()
    }

    /// `s/…/…/flags`
    fn substitute(&mut self, first: bool, addressed: bool) -> Result<(), Stop> {
        let delimiter = self.next()?;
        if self.pattern(delimiter)? {
            self.empty_regex(addressed)?;
        } else {
            self.first.regex |= first;
        }
        self.part(delimiter)?;
        let is_flag =
            |c: char| matches!(c, 'g' | 'i' | 'I' | 'm' | 'M' | 'p') || c.is_ascii_digit();
        self.rest = self.rest.trim_start_matches(is_flag);
        match self.rest.chars().next() {
            Some('w') => Err(refused('w')),
            Some('e') => Err(Stop::Unknown),
            _ => Ok(()),
        }
    }

    /// The text of `a`, `i` and `c`: up to the end of a line without a backslash before it.
    fn text(&mut self) -> Result<(), Stop> {
        loop {
            match self.rest.chars().next() {
                None | Some('\n') => return Ok(()),
                Some('\\') => {
                    self.next()?;
                    if !self.rest.is_empty() {
                        self.next()?;
                    }
                }
                Some(_) => {
                    self.next()?;
                }
            }
        }
    }

    fn label(&mut self, name: char) -> Result<(), Stop> {
        self.labels = true;
        self.skip_blanks();
        let end = |c: char| c == ';' || c.is_ascii_whitespace();
        let length = self.rest.find(end).unwrap_or(self.rest.len());
        // Versions of sed do not agree on a brace in a label.
        if self.rest[..length].contains('}') || name == ':' && length == 0 {
            return Err(Stop::Unknown);
        }
        self.rest = &self.rest[length..];
        Ok(())
    }

    /// A command ends before `;`, `}`, a comment or the end of the line.
    fn end(&mut self) -> Result<(), Stop> {
        self.skip_blanks();
        match self.rest.chars().next() {
            None | Some(';' | '}' | '#' | '\n') => Ok(()),
            Some(_) => Err(Stop::Unknown),
        }
    }
}

/// Why a command is not a function of one line.
fn refused(command: char) -> Stop {
    Stop::Differs(match command {
        '=' => "numbers the lines of its block",
        'q' | 'Q' => "stops within its block only",
        'n' | 'N' | 'D' => "joins lines, but only those of its block",
        'w' | 'W' => "every block overwrites the file",
        'R' => "every block reads the file from its beginning",
        _ => return Stop::Unknown,
    })
}
