//! The answer to a question that stages ask of sorted lines, without sorting every line.

use std::os::fd::AsFd;

use anyhow::{Result, anyhow};
use fullbore_auto::{Few, Key, Question};
use fullbore_feed::Input;
use fullbore_feed::few::{Found, LineOrder, Wanted, first_lines};
use fullbore_pipe::PipeWriter;

use crate::commands::count;
use crate::commands::stage::output_failed;
use crate::exit::Exit;

/// What came of it.
pub(super) enum Answered {
    Written(Exit),
    /// The lines do not fit into memory. These bytes and the rest of the input have the same answer.
    TooLarge(Vec<u8>, Input),
}

/// The lines that are kept take at most so much.
const MOST_KEPT: usize = 128 << 20;

/// Answers a question about the lines of an input.
///
/// # Errors
/// Of the input and of the output, except that its reader left.
pub(super) fn answer(question: Question, input: Input, out: impl AsFd) -> Result<Answered> {
    match question {
        Question::Count { form, is_by_count, top } => {
            count::fused(form, is_by_count, top, input, out).map(Answered::Written)
        }
        Question::Few(few) => first_or_last(few, input, out),
    }
}

fn first_or_last(few: Few, mut input: Input, out: impl AsFd) -> Result<Answered> {
    let Few { key, is_reversed, is_distinct, is_last, most } = few;
    // The last ones are the first ones of the reverse.
    let order = LineOrder { is_numeric: key == Key::Number, is_reversed: is_reversed != is_last };
    let wanted = Wanted { order, is_distinct, most };
    let found =
        first_lines(&mut input, wanted, MOST_KEPT).map_err(|error| anyhow!("par: {error}"))?;
    let mut lines = match found {
        Found::Lines(lines) => lines,
        Found::TooLarge(held) => return Ok(Answered::TooLarge(held, input)),
    };
    if is_last {
        lines.reverse();
    }
    let mut bytes = Vec::new();
    for line in &lines {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    let mut writer = PipeWriter::new(out, fullbore_pipe::Options::default());
    match writer.put(&bytes).and_then(|()| writer.flush_all()) {
        Ok(()) => Ok(Answered::Written(Exit::Done)),
        Err(error) => output_failed("par", &error).map(Answered::Written),
    }
}
