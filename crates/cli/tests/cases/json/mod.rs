//! What `json select|where|group|keys|each` must answer. The cases were written from docs/json.md, without knowledge of the
//! code, and the answers come from other programs (jq, python3) or were worked out by hand. If you change an
//! expectation, write the reason beside it.

pub(crate) mod aggregates;
pub(crate) mod bad;
pub(crate) mod dates;
pub(crate) mod group;
pub(crate) mod jq_lines;
pub(crate) mod keys_each;
pub(crate) mod large;
pub(crate) mod mistakes;
pub(crate) mod paths;
pub(crate) mod select;
pub(crate) mod semantics;
pub(crate) mod services;
pub(crate) mod where_;

/// An independent model of the commands, for made streams: see its first lines.
pub(crate) const MODEL: &str = include_str!("model.py");

/// A question and its answer.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) input: Input,
    /// Words of a shell behind `fullbore json`. If `input` is one of them, the input comes from that file only; if `-` is
    /// one, from standard input only. Otherwise it comes in all ways.
    pub(crate) args: &'static str,
    pub(crate) answer: Answer,
    pub(crate) status: i32,
    /// Parts of what is said on standard error; `{in}` is the name of the input. Nothing is said if there are none.
    pub(crate) said: &'static [&'static str],
    /// A text, and the character of it below which a caret stands.
    pub(crate) caret: Option<(&'static str, usize)>,
    /// More files in the folder.
    pub(crate) files: &'static [(&'static str, &'static [u8])],
}

/// Where the input comes from.
#[derive(Clone, Copy)]
pub(crate) enum Input {
    Bytes(&'static [u8]),
    Made(fn() -> Vec<u8>),
    /// Output of a line of bash; `{fullbore}` is the program.
    Line(&'static str),
}

/// What standard output must be.
#[derive(Clone, Copy)]
pub(crate) enum Answer {
    Text(&'static [u8]),
    /// These lines of the input, counted from 1.
    Lines(&'static [usize]),
    /// What this line of bash prints with the input as standard input.
    Oracle(&'static str),
    /// Each of these is a line of it.
    Has(&'static [&'static str]),
    /// What this line of bash makes of it, and its result.
    Through(&'static str, &'static str),
}

impl Case {
    /// Prints exactly this, says nothing, and ends with 0.
    pub(crate) const fn new(
        name: &'static str,
        input: &'static str,
        args: &'static str,
        stdout: &'static str,
    ) -> Self {
        Self {
            name,
            input: Input::Bytes(input.as_bytes()),
            args,
            answer: Answer::Text(stdout.as_bytes()),
            status: 0,
            said: &[],
            caret: None,
            files: &[],
        }
    }

    /// A mistake in the arguments: the caret stands below this character of the text.
    pub(crate) const fn mistake(
        name: &'static str,
        args: &'static str,
        caret: (&'static str, usize),
    ) -> Self {
        let mut case = Self::new(name, "{}\n", args, "").ends(2, &["^"]);
        case.caret = Some(caret);
        case
    }

    pub(crate) const fn bytes(mut self, input: &'static [u8]) -> Self {
        self.input = Input::Bytes(input);
        self
    }

    pub(crate) const fn made(mut self, make: fn() -> Vec<u8>) -> Self {
        self.input = Input::Made(make);
        self
    }

    pub(crate) const fn made_by(mut self, line: &'static str) -> Self {
        self.input = Input::Line(line);
        self
    }

    pub(crate) const fn lines(mut self, lines: &'static [usize]) -> Self {
        self.answer = Answer::Lines(lines);
        self
    }

    pub(crate) const fn oracle(mut self, line: &'static str) -> Self {
        self.answer = Answer::Oracle(line);
        self
    }

    pub(crate) const fn has(mut self, lines: &'static [&'static str]) -> Self {
        self.answer = Answer::Has(lines);
        self
    }

    pub(crate) const fn through(mut self, line: &'static str, result: &'static str) -> Self {
        self.answer = Answer::Through(line, result);
        self
    }

    pub(crate) const fn ends(mut self, status: i32, said: &'static [&'static str]) -> Self {
        self.status = status;
        self.said = said;
        self
    }

    pub(crate) const fn says(self, said: &'static [&'static str]) -> Self {
        self.ends(0, said)
    }

    pub(crate) const fn files(mut self, files: &'static [(&'static str, &'static [u8])]) -> Self {
        self.files = files;
        self
    }
}
