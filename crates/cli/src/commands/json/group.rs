//! `fullbore json group`.

mod columns;
mod so_far;
mod task;
mod words;

use anyhow::Result;
use fullbore_codec::aggregate::{
    Aggregate, DISTINCT_ERROR, KeyPart, MOST_EXACT_DISTINCT, MOST_EXACT_VALUES, Note, Question,
    Rows,
};
use fullbore_codec::json::query::Predicate;

use self::columns::{Answers, Print};
use self::task::{Grouping, Memory, Worker};
use self::words::NAME;
use super::paths::mistake;
use super::records::Records;
use super::sheet;
use crate::args::json::JsonGroup;
use crate::commands::memory::default_memory;
use crate::commands::stage::output;
use crate::exit::Exit;
use crate::messages::Failure;

/// Groups the records of files or standard input.
pub(super) fn run(options: &JsonGroup) -> Result<Exit> {
    let words::Asked { keys, questions, files } =
        words::read(&options.words, options.by.as_deref())?;
    let files = [options.file.clone(), files].concat();
    let condition = match &options.condition {
        None => None,
        Some(text) => {
            let read = Predicate::parse(text);
            Some(read.map_err(|error| mistake(NAME, text, &error, ""))?)
        }
    };
    let limit = options.memory.unwrap_or_else(default_memory).0;
    let memory = Memory::new(usize::try_from(limit).unwrap_or(usize::MAX));
    let print = Print::new(options, &keys, &questions)?;
    let duplicates = options.records.duplicates.into();
    let grouping = Grouping::new(&keys, &questions, condition, duplicates, memory, print)?;
    let records = Records::new(NAME, &files, &options.records);
    let mut writer = output(NAME)?;
    let mut outcome = match records.run_watched(&grouping.members(), &grouping, &mut writer) {
        Ok(outcome) => outcome,
        Err(failure) => return records.failed(failure, &mut writer),
    };
    let workers = std::mem::take(&mut outcome.states);
    let Some(found) = join(workers, &grouping.memory) else {
        return Err(too_many(&grouping.memory).into());
    };
    if outcome.is_refused() {
        // With several workers, the rows would depend on who was faster.
        return records.ended(&outcome, &mut writer);
    }
    let rows = Rows::new(found.grouped, grouping.print.sort);
    let warnings = warnings(&rows, &questions, &keys, &found.no_times);
    let answers = Answers::new(rows, &grouping.print);
    let printed = sheet::print(&answers, grouping.print.format, |piece| writer.put(piece));
    if let Err(error) = printed {
        return records.failed(error.into(), &mut writer);
    }
    // Rows come before warnings, and warnings before the end, which a signal can bring.
    if writer.flush_all().is_ok() {
        warnings.iter().for_each(|warning| records.warn(warning));
        // If --where let nothing through, nothing is known about the paths.
        found.seen.warnings(grouping.paths()).iter().for_each(|warning| records.warn(warning));
    }
    records.ended(&outcome, &mut writer)
}

/// Joins what the workers have; nothing if that took too much memory.
fn join(mut workers: Vec<Worker>, memory: &Memory) -> Option<Worker> {
    if memory.over().is_some() {
        return None;
    }
    // The largest table takes in the others.
    workers.sort_by_key(|worker| worker.grouped.len());
    let mut found = workers.pop()?;
    while let Some(worker) = workers.pop() {
        let waiting: usize = workers.iter().map(|worker| worker.grouped.bytes()).sum();
        let fits = |bytes: usize| bytes + waiting <= memory.limit();
        if !found.grouped.absorb(worker.grouped, fits) {
            memory.exceed(found.grouped.len());
            return None;
        }
        found.no_times.iter_mut().zip(worker.no_times).for_each(|(all, more)| *all += more);
        found.seen.add(worker.seen);
    }
    Some(found)
}

fn too_many(memory: &Memory) -> Failure {
    let groups = memory.over().unwrap_or_default();
    let limit = fullbore_measure::Bytes(memory.limit() as u64);
    let groups = if groups == 1 { "1 group".to_owned() } else { format!("{groups} groups") };
    Failure {
        message: format!("{NAME}: {groups} and their values need more than {limit} of memory"),
        hint: "-m SIZE allows more; --where leaves records out".to_owned(),
        exit: Exit::NotDone,
    }
}

/// What there is to tell about values that do not fit, and estimates.
fn warnings(
    rows: &Rows,
    questions: &[Question],
    keys: &[KeyPart],
    no_times: &[u64],
) -> Vec<String> {
    let mut warnings = Vec::new();
    for (key, count) in keys.iter().zip(no_times).filter(|(_, count)| **count > 0) {
        warnings.push(format!(
            "{key}: {}",
            counted(*count, "is no time (RFC 3339)", "are no times (RFC 3339)")
        ));
    }
    for (number, question) in questions.iter().enumerate() {
        for note in rows.notes(number) {
            let text = match note {
                Note::NoNumbers(count) => counted(count, "is not a number", "are not numbers"),
                Note::TooLarge(count) => counted(count, "is out of range", "are out of range"),
                Note::Estimated(groups) => estimated(question.aggregate, groups),
            };
            warnings.push(format!("{question}: {text}"));
        }
    }
    warnings
}

fn counted(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 value {one}") } else { format!("{count} values {many}") }
}

fn estimated(aggregate: Aggregate, groups: u64) -> String {
    let groups = if groups == 1 { "1 group".to_owned() } else { format!("{groups} groups") };
    match aggregate {
        Aggregate::Distinct => format!(
            "estimated for {groups} with more than {MOST_EXACT_DISTINCT} different values (typical error {} %)",
            DISTINCT_ERROR * 100.0
        ),
        _ => format!(
            "estimated for {groups} with more than {MOST_EXACT_VALUES} values (error up to 0.5 %)"
        ),
    }
}
