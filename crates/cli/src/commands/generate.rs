//! `fullbore gen`.

use anyhow::{Result, anyhow};
use fullbore_codec::fizzbuzz::FizzBuzz;
use fullbore_codec::generate::{JsonLines, Lines, Random, Skip, Source, Zero};
use fullbore_feed::{Threads, generate, generate_divided};

use super::stage::{output, output_failed, tier};
use crate::args::stages::{GenOptions, Made};
use crate::exit::Exit;
use crate::messages::Failure;

/// The default length of a line.
const LINE_BYTES: u32 = 80;

/// Writes generated data to standard output.
pub(crate) fn run(options: &GenOptions) -> Result<Exit> {
    if let Some(option) = options.idle_option() {
        return Err(Failure {
            message: format!("gen: {option}: it does nothing for this kind of data"),
            hint: match option {
                "--count" => "give a size with --bytes; see fullbore gen --help",
                _ => "leave it out; see fullbore gen --help",
            }
            .to_owned(),
            exit: Exit::NotDone,
        }
        .into());
    }
    let bytes = options.bytes.map(|bytes| bytes.0);
    let (seed, length) = (options.seed.unwrap_or(0), options.length.unwrap_or(LINE_BYTES));
    match (options.what, options.count) {
        (Made::Fizzbuzz, lines) => divided(FizzBuzz::with_lines(tier()?, lines), bytes),
        (Made::Jsonl, rows) => alone(&mut JsonLines::new(seed, rows), bytes),
        (Made::Lines, lines) => {
            let bytes = bytes.or(lines.map(|lines| lines.saturating_mul(length.into())));
            divided(Lines::new(length as usize), bytes)
        }
        (Made::Zero, _) => divided(Zero, bytes),
        (Made::Random, _) => alone(&mut Random::new(seed), bytes),
    }
}

fn alone(source: &mut impl Source, bytes: Option<u64>) -> Result<Exit> {
    match generate(source, bytes, &mut output("gen")?) {
        Ok(_) => Ok(Exit::Done),
        Err(error) => output_failed("gen", &error),
    }
}

/// Generates on all idle CPUs.
fn divided(source: impl Skip, bytes: Option<u64>) -> Result<Exit> {
    match generate_divided(source, bytes, output("gen")?, Threads::WherePays) {
        Ok(_) => Ok(Exit::Done),
        Err(error) if error.is_broken_pipe() => Ok(Exit::ReaderLeft),
        Err(error) => Err(anyhow!("gen: {error}")),
    }
}
