//! `fullbore gen`.

use anyhow::{Result, bail};
use fullbore_codec::fizzbuzz::FizzBuzz;
use fullbore_codec::generate::{JsonLines, Lines, Random, Source, Zero};
use fullbore_feed::generate;

use super::stage::{output, output_failed, tier};
use crate::args::stages::{GenOptions, Made};
use crate::exit::Exit;

/// Writes made-up data to standard output.
pub(crate) fn run(options: &GenOptions) -> Result<Exit> {
    let mut bytes = options.bytes.map(|bytes| bytes.0);
    let mut source: Box<dyn Source> = match (options.what, options.count) {
        (Made::Fizzbuzz, lines) => Box::new(FizzBuzz::with_lines(tier()?, lines)),
        (Made::Jsonl, rows) => Box::new(JsonLines::new(options.seed, rows)),
        (Made::Lines, lines) => {
            bytes = bytes.or(lines.map(|lines| lines.saturating_mul(options.length.into())));
            Box::new(Lines::new(options.length as usize))
        }
        (Made::Zero | Made::Random, Some(_)) => {
            bail!("gen: --count: there are no lines in it; give a size with --bytes")
        }
        (Made::Zero, None) => Box::new(Zero),
        (Made::Random, None) => Box::new(Random::new(options.seed)),
    };
    match generate(|room| source.fill(room), bytes, &mut output("gen")?) {
        Ok(_) => Ok(Exit::Done),
        Err(error) => output_failed("gen", &error),
    }
}
