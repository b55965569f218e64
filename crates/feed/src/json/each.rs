//! The elements of an array, of documents of any size.

use std::os::fd::AsFd;

use fullbore_codec::json::query::{Each, EachError};
use fullbore_pipe::{PipeWriter, Scratch};

use super::control::Control;
use super::options::Options;
use super::outcome::{Invalid, Kind, Outcome, RunError};
use crate::Input;

/// Bytes read at a time: they stay in the second-level cache.
const READ_BYTES: usize = 256 << 10;

/// Writes the elements that `each` finds in all inputs; each input begins with a clone of it. The state of the [`Outcome`] tells
/// whether a document had an array or object there; its records are the documents. Of the options, only `skips_invalid` and
/// `max_record` matter.
///
/// # Errors
/// [`RunError`]: what came before it was written.
pub fn each<E, F: AsFd>(
    inputs: impl Iterator<Item = Result<Input, E>>,
    options: &Options,
    each: &Each,
    control: &Control,
    writer: &mut PipeWriter<F>,
) -> Result<Outcome<bool>, RunError<E>> {
    let mut has_found = false;
    let mut end = Ended::default();
    let mut block = Scratch::new(READ_BYTES);
    let mut output = Vec::new();
    for input in inputs {
        let mut input = input.map_err(RunError::Open)?;
        let name = input.name().to_owned();
        let mut each = each.clone();
        loop {
            if !control.wait_for(&input, false) {
                writer.flush_all()?;
            }
            let count = input.read(&mut block)?;
            control.note_read(count);
            let goes_on = if count == 0 {
                each.finish().map_or_else(|error| end.note(error, &name, options), |()| true)
            } else {
                push(&mut each, &block[..count], &mut output, |error| {
                    end.note(error, &name, options)
                })
            };
            writer.put(&output)?;
            output.clear();
            if !goes_on || count == 0 {
                break;
            }
        }
        has_found |= each.has_found();
        control.note_records(usize::try_from(each.documents()).unwrap_or(usize::MAX));
        if end.is_over {
            break;
        }
    }
    Ok(Outcome {
        states: vec![has_found],
        records: control.records(),
        invalid: end.invalid,
        skipped: end.skipped,
        first_skipped: end.first_skipped,
        is_partial: false,
        spans_lines: None,
    })
}

/// Pushes a block; after each error that `note` accepts it goes on at the next line. Tells whether it went to the end.
fn push(
    each: &mut Each,
    block: &[u8],
    output: &mut Vec<u8>,
    mut note: impl FnMut(EachError) -> bool,
) -> bool {
    let begin = each.place().offset;
    let mut rest = block;
    while let Err(error) = each.push(rest, output) {
        if !note(error) {
            return false;
        }
        let read = usize::try_from(each.place().offset - begin).unwrap_or(usize::MAX);
        rest = &block[read..];
        each.skip_line();
    }
    true
}

/// Errors so far.
#[derive(Default)]
struct Ended {
    invalid: Option<Invalid>,
    skipped: u64,
    first_skipped: Option<Invalid>,
    is_over: bool,
}

impl Ended {
    /// Notes an error, and tells whether it goes on after it.
    fn note(&mut self, error: EachError, name: &str, options: &Options) -> bool {
        let (place, what, kind) = match error {
            EachError::Json(error) => (error.place, error.cause.to_string(), Kind::of(error.cause)),
            EachError::TooLarge(place) => {
                let what =
                    format!("an element is larger than {} (--max-record)", options.max_record);
                (place, what, Kind::TooLong)
            }
            EachError::Repeated(place) => {
                (place, "a name occurs twice in an object".to_owned(), Kind::Refused)
            }
        };
        let invalid = Invalid { input: name.to_owned(), place, what, kind };
        if matches!(kind, Kind::Json | Kind::Early) && options.skips_invalid {
            self.skipped += 1;
            self.first_skipped.get_or_insert(invalid);
            return true;
        }
        self.invalid = Some(invalid);
        self.is_over = true;
        false
    }
}
