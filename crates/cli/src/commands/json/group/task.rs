//! Groups the records of blocks.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use fullbore_codec::aggregate::{Grouped, KeyPart, Plan, Question, Wanted};
use fullbore_codec::json::query::{
    Cut, Duplicates, Instant, Kind, Path, Predicate, Repeated, Rows, Table, Value,
};
use fullbore_feed::json::{RecordError, Task};

use super::columns::Print;
use super::so_far;
use super::words::NAME;
use crate::commands::json::paths;
use crate::commands::json::records::repeated;
use crate::commands::json::seen::Seen;

/// What is done with each record.
pub(super) struct Grouping {
    pub(super) plan: Plan,
    cuts: Vec<Option<Cut>>,
    paths: Vec<Path>,
    rows: Rows,
    condition: Option<(Predicate, Rows)>,
    pub(super) memory: Memory,
    pub(super) print: Print,
    seed: u64,
}

/// The memory of all workers.
pub(super) struct Memory {
    limit: usize,
    used: AtomicUsize,
    /// Groups of the worker that had too many, or 0.
    over: AtomicUsize,
}

impl Memory {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, used: AtomicUsize::new(0), over: AtomicUsize::new(0) }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns how many groups there were when the memory did not suffice.
    pub(super) fn over(&self) -> Option<usize> {
        Some(self.over.load(Ordering::Relaxed)).filter(|groups| *groups > 0)
    }

    /// Notes that there are too many groups.
    pub(super) fn exceed(&self, groups: usize) {
        self.over.fetch_max(groups.max(1), Ordering::Relaxed);
    }
}

/// What one worker keeps.
pub(super) struct Worker {
    pub(super) grouped: Grouped,
    /// Values of each key that are no times.
    pub(super) no_times: Vec<u64>,
    pub(super) seen: Seen,
    condition: Option<Predicate>,
    cells: Vec<Range<usize>>,
    noted_bytes: usize,
}

impl Worker {
    /// Notes which paths lead to a value.
    #[inline]
    fn see(seen: &mut Seen, cells: &[Range<usize>]) {
        seen.has.iter_mut().zip(cells).for_each(|(has, cell)| *has |= !cell.is_empty());
    }
}

/// Records between two looks at the memory.
const RECORDS_BETWEEN_LOOKS: usize = 4096;

impl Grouping {
    pub(super) fn new(
        keys: &[KeyPart],
        questions: &[Question],
        condition: Option<Predicate>,
        duplicates: Duplicates,
        memory: Memory,
        print: Print,
    ) -> Result<Self> {
        let mut all: Vec<Path> = keys.iter().map(|key| key.path.clone()).collect();
        let mut wanted = Vec::new();
        for Question { aggregate, path } in questions {
            let number = path.as_ref().map(|path| {
                let known = all[keys.len()..].iter().position(|other| other == path);
                known.unwrap_or_else(|| {
                    all.push(path.clone());
                    all.len() - keys.len() - 1
                })
            });
            wanted.push(Wanted { aggregate: *aggregate, path: number.unwrap_or_default() });
        }
        let rows = paths::rows(NAME, &all, duplicates)?;
        let condition = match condition {
            None => None,
            Some(condition) => {
                let rows = paths::rows(NAME, condition.paths(), duplicates)?;
                Some((condition, rows))
            }
        };
        Ok(Self {
            plan: Plan::new(keys.len(), wanted),
            cuts: keys.iter().map(|key| key.cut).collect(),
            paths: all,
            rows,
            condition,
            memory,
            print,
            seed: crate::commands::memory::seed(NAME),
        })
    }

    /// Returns the members for which the scanner looks.
    pub(super) fn members(&self) -> Vec<Vec<String>> {
        let condition = self.condition.iter().flat_map(|(_, rows)| rows.members());
        self.rows.members().iter().chain(condition).cloned().collect()
    }

    /// Takes in one record, given by the values that the scanner found.
    fn record(
        &self,
        worker: &mut Worker,
        text: &[u8],
        found: &[Range<usize>],
    ) -> Result<(), Repeated> {
        let (own, of_condition) = found.split_at(self.rows.members().len());
        let Worker { grouped, no_times, seen, condition, cells, .. } = worker;
        if let (Some(condition), Some((_, rows))) = (condition, &self.condition)
            && !condition.selects(rows, text, of_condition, cells)?
        {
            return Ok(());
        }
        seen.has_records = true;
        let parts = self.cuts.len();
        let has_times = self.cuts.iter().any(Option::is_some);
        let flow = self.rows.visit(text, own, cells, |cells| {
            Worker::see(seen, cells);
            if has_times {
                self.add_times(grouped, no_times, text, cells);
            } else {
                Values::new(text, cells).add_to(grouped, parts);
            }
            ControlFlow::<()>::Continue(())
        })?;
        debug_assert!(flow.is_continue());
        Ok(())
    }

    /// Takes in a row some of whose keys are times.
    fn add_times(
        &self,
        grouped: &mut Grouped,
        no_times: &mut [u64],
        text: &[u8],
        cells: &[Range<usize>],
    ) {
        let values = Values::new(text, cells);
        let mut times = Vec::with_capacity(self.cuts.len());
        for ((cut, value), no_times) in self.cuts.iter().zip(values.get()).zip(no_times) {
            times.push(cut.zip(*value).and_then(|(cut, value)| {
                let time = shown(cut, value);
                *no_times += u64::from(time.is_none() && value.kind() != Kind::Null);
                time
            }));
        }
        let keys: Vec<Option<Value<'_>>> = (0..self.cuts.len())
            .map(|part| match self.cuts[part] {
                Some(_) => times[part].as_ref().map(|text| Value::new(text.as_bytes())),
                None => values.get()[part],
            })
            .collect();
        grouped.add(&keys, &values.get()[self.cuts.len()..]);
    }

    /// Notes what the groups of a worker take; fails if all together take too much.
    fn look(&self, worker: &mut Worker) -> Result<(), RecordError> {
        let bytes = worker.grouped.bytes();
        let before = std::mem::replace(&mut worker.noted_bytes, bytes);
        let used = if bytes >= before {
            self.memory.used.fetch_add(bytes - before, Ordering::Relaxed) + (bytes - before)
        } else {
            self.memory.used.fetch_sub(before - bytes, Ordering::Relaxed) - (before - bytes)
        };
        if used <= self.memory.limit {
            return Ok(());
        }
        self.memory.exceed(worker.grouped.len());
        Err(RecordError { at: 0, what: "too many groups".to_owned() })
    }

    pub(super) fn paths(&self) -> &[Path] {
        &self.paths
    }
}

/// Returns the time of a string as a JSON string.
fn shown(cut: Cut, value: Value<'_>) -> Option<String> {
    let instant = Instant::parse(&value.decoded()).filter(|_| value.kind() == Kind::String)?;
    Some(format!("\"{}\"", instant.shown(cut)))
}

/// Most values of a record that lie on the stack.
const MOST_ON_STACK: usize = 8;

/// The values of a row.
enum Values<'a> {
    Few([Option<Value<'a>>; MOST_ON_STACK], usize),
    Many(Vec<Option<Value<'a>>>),
}

impl<'a> Values<'a> {
    #[inline]
    fn new(text: &'a [u8], cells: &[Range<usize>]) -> Self {
        let value =
            |cell: &Range<usize>| (!cell.is_empty()).then(|| Value::new(&text[cell.clone()]));
        if cells.len() > MOST_ON_STACK {
            return Self::Many(cells.iter().map(value).collect());
        }
        let mut values = [None; MOST_ON_STACK];
        values.iter_mut().zip(cells).for_each(|(place, cell)| *place = value(cell));
        Self::Few(values, cells.len())
    }

    #[inline]
    fn get(&self) -> &[Option<Value<'a>>] {
        match self {
            Self::Few(values, count) => &values[..*count],
            Self::Many(values) => values,
        }
    }

    #[inline]
    fn add_to(&self, grouped: &mut Grouped, parts: usize) {
        let (keys, values) = self.get().split_at(parts);
        grouped.add(keys, values);
    }
}

impl Task for Grouping {
    type State = Worker;

    fn state(&self) -> Worker {
        Worker {
            grouped: Grouped::new(&self.plan, self.seed),
            no_times: vec![0; self.cuts.len()],
            seen: Seen::new(self.paths.len()),
            condition: self.condition.as_ref().map(|(condition, _)| condition.clone()),
            cells: Vec::new(),
            noted_bytes: 0,
        }
    }

    fn block(
        &self,
        worker: &mut Worker,
        text: &[u8],
        table: &Table,
        _: &mut Vec<u8>,
    ) -> Result<(), RecordError> {
        let own = self.rows.members().len();
        let columns = own + self.condition.as_ref().map_or(0, |(_, rows)| rows.members().len());
        for (number, (_, found)) in table.records(columns).enumerate() {
            self.record(worker, text, found).map_err(repeated)?;
            if (number + 1) % RECORDS_BETWEEN_LOOKS == 0 {
                self.look(worker)?;
            }
        }
        worker.seen.sample(&self.paths, text, &table.documents);
        self.look(worker)
    }

    fn so_far(&self, workers: &[&Worker]) {
        let tables = workers.iter().map(|worker| &worker.grouped);
        so_far::say(&self.print, self.memory.limit, tables);
    }
}
