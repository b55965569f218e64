//! A small reference for the merges.

use fullbore_rules::{Dealt, Merge, Rule, Status};

use crate::run::{Outcome, run, run_on_files};

/// How many lines of the input every block must begin with.
pub(crate) fn header(dealt: &Dealt) -> usize {
    match dealt {
        Dealt::Merge(Merge::FirstHeader(lines)) => usize::try_from(*lines).expect("few lines"),
        _ => 0,
    }
}

/// What of the outcome of the whole the merged one must equal.
pub(crate) fn comparable(rule: &Rule, words: &[String], whole: &Outcome) -> Outcome {
    match rule.dealt {
        Dealt::Equivalent { .. } => decompressed(words, whole.clone()),
        _ => whole.clone(),
    }
}

fn decompressed(words: &[String], mut outcome: Outcome) -> Outcome {
    let unpack = [words[0].clone(), "-dc".to_owned()];
    outcome.output = run(&unpack, &outcome.output, "C").output;
    outcome
}

/// The outcome that a rule makes of the outcomes of blocks.
pub(crate) fn merge(rule: &Rule, words: &[String], blocks: &[Outcome], locale: &str) -> Outcome {
    let outputs: Vec<&[u8]> = blocks.iter().map(|block| &block.output[..]).collect();
    let together = || outputs.concat();
    let output = match &rule.dealt {
        Dealt::Merge(Merge::Sum) => sum(&outputs),
        Dealt::Merge(Merge::Greatest) => greatest(&outputs),
        Dealt::Merge(Merge::Sort(words)) => run_on_files(words, &outputs, locale),
        Dealt::Merge(Merge::Uniq(words) | Merge::Head(words) | Merge::Tail(words)) => {
            run(words, &together(), locale).output
        }
        Dealt::Merge(Merge::UniqCount) => uniq_count(&outputs),
        Dealt::Merge(Merge::Squeeze(byte)) => squeeze(&outputs, *byte),
        Dealt::Merge(Merge::FirstHeader(_)) => first_header(&outputs, header(&rule.dealt)),
        Dealt::Equivalent { .. } => {
            decompressed(words, Outcome { output: together(), status: 0 }).output
        }
        _ => together(),
    };
    Outcome { output, status: status(rule.status, blocks) }
}

fn status(how: Status, blocks: &[Outcome]) -> i32 {
    let mut all = blocks.iter().map(|block| block.status);
    match how {
        Status::All => all.find(|status| *status != 0).unwrap_or(0),
        Status::Max => all.max().unwrap_or(0),
        Status::Last => all.next_back().unwrap_or(0),
        Status::Any => {
            let worst = all.clone().max().unwrap_or(0);
            if worst > 1 { worst } else { all.min().unwrap_or(0) }
        }
    }
}

fn numbers(output: &[u8]) -> Vec<u64> {
    let text = String::from_utf8_lossy(output);
    text.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn sum(outputs: &[&[u8]]) -> Vec<u8> {
    let rows: Vec<Vec<u64>> =
        outputs.iter().map(|output| numbers(output)).filter(|row| !row.is_empty()).collect();
    let Some(first) = rows.first() else { return Vec::new() };
    let columns = (0..first.len()).map(|column| rows.iter().map(|row| row[column]).sum::<u64>());
    let texts: Vec<String> = match first.len() {
        1 => columns.map(|sum| sum.to_string()).collect(),
        _ => columns.map(|sum| format!("{sum:7}")).collect(),
    };
    format!("{}\n", texts.join(" ")).into_bytes()
}

fn greatest(outputs: &[&[u8]]) -> Vec<u8> {
    let all = outputs.iter().flat_map(|output| numbers(output));
    all.max().map_or_else(Vec::new, |greatest| format!("{greatest}\n").into_bytes())
}

fn uniq_count(outputs: &[&[u8]]) -> Vec<u8> {
    let mut lines: Vec<(u64, &[u8])> = Vec::new();
    for line in outputs.iter().flat_map(|output| output.split_inclusive(|byte| *byte == b'\n')) {
        let begin = line.iter().position(|byte| *byte != b' ').expect("a count");
        let end = begin + line[begin..].iter().position(|byte| *byte == b' ').expect("a line");
        let count = numbers(&line[begin..end])[0];
        match lines.last_mut() {
            Some((earlier, text)) if *text == &line[end..] => *earlier += count,
            _ => lines.push((count, &line[end..])),
        }
    }
    lines
        .iter()
        .flat_map(|(count, text)| [format!("{count:7}").as_bytes(), text].concat())
        .collect()
}

fn squeeze(outputs: &[&[u8]], byte: u8) -> Vec<u8> {
    let mut all: Vec<u8> = Vec::new();
    for output in outputs {
        let again = all.last() == Some(&byte) && output.first() == Some(&byte);
        all.extend(&output[usize::from(again)..]);
    }
    all
}

fn first_header(outputs: &[&[u8]], lines: usize) -> Vec<u8> {
    let mut all: Vec<u8> = Vec::new();
    for output in outputs {
        let skip = if all.is_empty() { 0 } else { lines };
        all.extend(output.split_inclusive(|byte| *byte == b'\n').skip(skip).flatten());
    }
    all
}
