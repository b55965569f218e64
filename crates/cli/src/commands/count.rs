//! `fullbore count`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::AsFd;
use std::path::Path;

use anyhow::{Error, Result, anyhow};
use fullbore_auto::Form;
use fullbore_codec::group::Order;
use fullbore_codec::lines::Field;
use fullbore_feed::Input;
use fullbore_feed::count::{CountError, Options, check_folder, count};
use fullbore_pipe::PipeWriter;
use rustix::io::Errno;

use super::memory::{default_memory, seed};
use super::stage::{inputs, output, output_failed, tier};
use crate::args::count::{CountOptions, Sort};
use crate::exit::Exit;
use crate::messages::{Failure, plain};

/// The name in messages.
const NAME: &str = "count";

/// Output is handed to the writer in pieces of this size.
const PIECE_BYTES: usize = 64 << 10;

/// Counts the lines of files or standard input.
pub(crate) fn run(options: &CountOptions) -> Result<Exit> {
    let mut writer = output(NAME)?;
    check(options)?;
    let print = Print::of(options);
    let counted = write(inputs(NAME, &options.files), &plan(options)?, &print, &mut writer);
    end(counted, |error| failure(error, options))
}

/// Answers instead of some stages of a pipeline: prints each distinct line in this form, the most frequent ones first if
/// `is_by_count`, at most `top`.
pub(crate) fn fused(
    form: Form,
    is_by_count: bool,
    top: Option<usize>,
    input: Input,
    out: impl AsFd,
) -> Result<Exit> {
    let mut writer = PipeWriter::new(out, fullbore_pipe::Options::default());
    let print = Print { end: b'\n', is_json: false, has_counts: form == Form::Counts };
    let options = Options {
        end: b'\n',
        field: None,
        order: if is_by_count { Order::Count } else { Order::Key },
        top,
        at_least: if form == Form::Repeated { 2 } else { 1 },
        workers: None,
        memory: default_memory(),
        folder: std::env::temp_dir(),
        tier: tier()?,
        seed: seed(NAME),
    };
    let inputs = std::iter::once(Ok::<_, Error>(input));
    let counted = write(inputs, &options, &print, &mut writer);
    end(counted, |error| anyhow!("{NAME}: {error}"))
}

/// Counts, and writes every row.
fn write<F: AsFd>(
    inputs: impl Iterator<Item = Result<Input>> + Send,
    options: &Options,
    print: &Print,
    writer: &mut PipeWriter<F>,
) -> Result<(), CountError<Error>> {
    let mut piece = Vec::with_capacity(2 * PIECE_BYTES);
    count(inputs, options, |key, count| {
        print.row(key, count, &mut piece);
        if piece.len() >= PIECE_BYTES {
            writer.put(&piece)?;
            piece.clear();
        }
        Ok(())
    })?;
    writer.put(&piece).and_then(|()| writer.flush_all()).map_err(CountError::Output)
}

fn end(
    counted: Result<(), CountError<Error>>,
    failure: impl FnOnce(CountError<Error>) -> Error,
) -> Result<Exit> {
    match counted {
        Ok(()) => Ok(Exit::Done),
        Err(CountError::Output(error)) => output_failed(NAME, &error),
        Err(error) => Err(failure(error)),
    }
}

/// Tells at once of files that cannot be read, and of a folder that takes no files: their turn may come in hours.
fn check(options: &CountOptions) -> Result<()> {
    for file in options.files.iter().filter(|file| *file != Path::new("-")) {
        let unreadable =
            |error: &io::Error| anyhow!("{NAME}: reading: {}: {}", file.display(), plain(error));
        let kind = fs::metadata(file).map_err(|error| unreadable(&error))?.file_type();
        if kind.is_dir() {
            return Err(unreadable(&Errno::ISDIR.into()));
        }
        // Opening a named pipe would wait for its writer, and closing it would end that.
        if kind.is_file() {
            File::open(file).map_err(|error| unreadable(&error))?;
        }
    }
    if let Some(folder) = &options.temporary_directory {
        let failed = |source| CountError::Disk { folder: folder.clone(), source };
        check_folder(folder).map_err(|error| failure(failed(error), options))?;
    }
    Ok(())
}

fn plan(options: &CountOptions) -> Result<Options> {
    let order = match options.sort {
        Some(Sort::Count) => Order::Count,
        Some(Sort::Key) => Order::Key,
        Some(Sort::First) => Order::First,
        None if options.top.is_some() => Order::Count,
        None => Order::Key,
    };
    Ok(Options {
        end: if options.zero_terminated { 0 } else { b'\n' },
        field: options.key.map(|number| Field { number, separator: options.field_separator }),
        order,
        top: options.top,
        at_least: if options.repeated { 2 } else { 1 },
        workers: options.jobs,
        memory: options.memory.unwrap_or_else(default_memory),
        folder: options.temporary_directory.clone().unwrap_or_else(std::env::temp_dir),
        tier: tier()?,
        seed: seed(NAME),
    })
}

/// How rows are printed.
struct Print {
    end: u8,
    is_json: bool,
    has_counts: bool,
}

impl Print {
    fn of(options: &CountOptions) -> Self {
        Self {
            end: if options.zero_terminated { 0 } else { b'\n' },
            is_json: options.json,
            has_counts: !options.unique && !options.repeated,
        }
    }

    /// Appends a row to `text`.
    fn row(&self, key: &[u8], count: u64, text: &mut Vec<u8>) {
        if self.is_json {
            json(key, count, text);
        } else {
            if self.has_counts {
                number(count, text);
            }
            text.extend_from_slice(key);
        }
        text.push(self.end);
    }
}

/// Width of a number in the output of uniq -c.
const WIDTH: usize = 7;

/// Appends a number as uniq -c prints it: at the right of seven columns, and a space.
fn number(mut value: u64, text: &mut Vec<u8>) {
    let mut digits = [b' '; 21];
    digits[20] = b' ';
    let mut at = 20;
    while at == 20 || value > 0 {
        at -= 1;
        digits[at] = b'0' + (value % 10).to_le_bytes()[0];
        value /= 10;
    }
    text.extend_from_slice(&digits[at.min(20 - WIDTH)..]);
}

fn json(key: &[u8], count: u64, text: &mut Vec<u8>) {
    let lossy = String::from_utf8_lossy(key);
    // A vector takes everything.
    let _ = write!(text, "{{\"count\":{count},\"key\":{}", serde_json::Value::from(&*lossy));
    if std::str::from_utf8(key).is_err() {
        text.extend_from_slice(b",\"bytes\":\"");
        key.iter().for_each(|byte| drop(write!(text, "{byte:02x}")));
        text.push(b'"');
    }
    text.push(b'}');
}

/// Says what went wrong.
fn failure(error: CountError<Error>, options: &CountOptions) -> Error {
    match error {
        CountError::Open(error) => error,
        CountError::Disk { folder, source } => {
            let message =
                format!("{NAME}: temporary file: {}: {}", folder.display(), plain(&source));
            let hint = match options.memory {
                None => "-T DIR chooses another folder for temporary files",
                Some(_) => "-T DIR chooses another folder; a larger -m needs less of it",
            };
            Failure { message, hint: hint.to_owned(), exit: Exit::NotDone }.into()
        }
        CountError::Groups => {
            let hint = "-m SIZE limits the memory, and what does not fit goes to disk";
            let message = format!("{NAME}: {error}");
            Failure { message, hint: hint.to_owned(), exit: Exit::NotDone }.into()
        }
        other => anyhow!("{NAME}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_seven_columns_or_more() {
        let printed = |value| {
            let mut text = Vec::new();
            number(value, &mut text);
            String::from_utf8(text).unwrap()
        };
        for value in [0, 1, 42, 999_999, 1_234_567, 12_345_678, u64::MAX] {
            assert_eq!(printed(value), format!("{value:7} "));
        }
    }

    #[test]
    fn keys_are_json_whatever_they_are() {
        let mut text = Vec::new();
        json(b"a\"\\\n\xff", 3, &mut text);
        let read: serde_json::Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(read["count"], 3);
        assert_eq!(read["key"], "a\"\\\n\u{FFFD}");
        assert_eq!(read["bytes"], "61225c0aff");
    }
}
