//! `fullbore json where`.

use std::ops::Range;

use anyhow::Result;
use fullbore_codec::json::query::{Path, Predicate, Rows, Step, Table};
use fullbore_feed::json::{RecordError, Task};

use super::paths::{mistake, rows};
use super::records::{Records, repeated};
use super::seen::Seen;
use crate::args::json::JsonWhere;
use crate::commands::stage::output;
use crate::exit::Exit;
use crate::messages::Failure;

const NAME: &str = "json where";

/// What the second word is if somebody forgot the quotes.
const OPERATORS: [&str; 10] = ["==", "=", "!=", "<=", ">=", "~", "!~", "in", "&&", "||"];

/// Prints the records for which an expression is true.
pub(crate) fn run(options: &JsonWhere) -> Result<Exit> {
    let text = &options.expression;
    if let Some(word) = options.files.first().and_then(|file| file.to_str())
        && OPERATORS.contains(&word)
    {
        let message = format!("{NAME}: {word} is not part of the expression");
        let hint = format!("put all of it in single quotes: '{text} {word} …'");
        return Err(Failure { message, hint, exit: Exit::NotDone }.into());
    }
    let predicate = Predicate::parse(text).map_err(|error| mistake(NAME, text, &error, ""))?;
    let rows = rows(NAME, predicate.paths(), options.records.duplicates.into())?;
    let mut writer = output(NAME)?;
    let records = Records::new(NAME, &options.files, &options.records);
    let filter = Filter { predicate: &predicate, rows: &rows, members: &paths(rows.members()) };
    let outcome = match records.run(rows.members(), &filter, &mut writer) {
        Ok(outcome) => outcome,
        Err(failure) => return records.failed(failure, &mut writer),
    };
    let ended = records.ended(&outcome, &mut writer)?;
    let states = outcome.states;
    if outcome.records > 0 && states.iter().all(|state| state.printed == 0) {
        let mut seen = Seen::new(filter.members.len());
        states.into_iter().for_each(|state| seen.add(state.seen));
        seen.warnings(filter.members).iter().for_each(|warning| records.warn(warning));
    }
    Ok(ended)
}

/// The members that the scanner looks for, as paths.
fn paths(members: &[Vec<String>]) -> Vec<Path> {
    let path =
        |names: &Vec<String>| Path { steps: names.iter().cloned().map(Step::Name).collect() };
    members.iter().map(path).collect()
}

/// What is printed.
struct Filter<'a> {
    predicate: &'a Predicate,
    rows: &'a Rows,
    members: &'a [Path],
}

/// What a worker keeps.
struct Worker {
    predicate: Predicate,
    cells: Vec<Range<usize>>,
    printed: u64,
    seen: Seen,
}

impl Task for Filter<'_> {
    type State = Worker;

    fn state(&self) -> Worker {
        Worker {
            predicate: self.predicate.clone(),
            cells: Vec::new(),
            printed: 0,
            seen: Seen::new(self.members.len()),
        }
    }

    fn block(
        &self,
        state: &mut Worker,
        text: &[u8],
        table: &Table,
        output: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        for (document, values) in table.records(self.members.len()) {
            let is_wanted = state.predicate.selects(self.rows, text, values, &mut state.cells);
            if is_wanted.map_err(repeated)? {
                output.extend_from_slice(&text[document.clone()]);
                output.push(b'\n');
                state.printed += 1;
            }
        }
        if state.printed == 0 {
            state.seen.note(&table.values);
            state.seen.sample(self.members, text, &table.documents);
        }
        Ok(())
    }
}
