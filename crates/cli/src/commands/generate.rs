//! `fullbore gen`.

use anyhow::{Result, anyhow, bail};
use fullbore_codec::fizzbuzz::FizzBuzz;
use fullbore_codec::generate::{JsonLines, Lines, Random, Skip, Source, Zero};
use fullbore_feed::{Threads, generate, generate_divided};

use super::stage::{output, output_failed, tier};
use crate::args::stages::{GenOptions, Made};
use crate::exit::Exit;

/// Writes made-up data to standard output.
pub(crate) fn run(options: &GenOptions) -> Result<Exit> {
    let bytes = options.bytes.map(|bytes| bytes.0);
    match (options.what, options.count) {
        (Made::Fizzbuzz, lines) => divided(FizzBuzz::with_lines(tier()?, lines), bytes),
        (Made::Jsonl, rows) => alone(&mut JsonLines::new(options.seed, rows), bytes),
        (Made::Lines, lines) => {
            let bytes = bytes.or(lines.map(|lines| lines.saturating_mul(options.length.into())));
            divided(Lines::new(options.length as usize), bytes)
        }
        (Made::Zero | Made::Random, Some(_)) => {
            bail!("gen: --count: there are no lines in it; give a size with --bytes")
        }
        (Made::Zero, None) => divided(Zero, bytes),
        (Made::Random, None) => alone(&mut Random::new(options.seed), bytes),
    }
}

fn alone(source: &mut impl Source, bytes: Option<u64>) -> Result<Exit> {
    match generate(source, bytes, &mut output("gen")?) {
        Ok(_) => Ok(Exit::Done),
        Err(error) => output_failed("gen", &error),
    }
}

/// On all CPUs that are idle.
fn divided(source: impl Skip, bytes: Option<u64>) -> Result<Exit> {
    match generate_divided(source, bytes, output("gen")?, Threads::WherePays) {
        Ok(_) => Ok(Exit::Done),
        Err(error) if error.is_broken_pipe() => Ok(Exit::ReaderLeft),
        Err(error) => Err(anyhow!("gen: {error}")),
    }
}
