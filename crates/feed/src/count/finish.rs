//! From tables to rows in an order.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fullbore_codec::group::{Groups, NoMemory, Order, Part, Rows, SEGMENTS, Tally};

use super::gather::held;
use super::merge::{List, merge};
use super::options::Options;
use super::overflow::{Overflow, Recount};
use super::runs::Runs;
use super::top::Top;

/// Rows of some of the segments.
pub(super) enum Found<V> {
    Top(Top<V>),
    Rows(Rows<V>),
    /// They are in the runs.
    OnDisk,
}

/// Where rows go.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) options: &'a Options,
    pub(super) workers: usize,
    /// Rows that do not fit into memory.
    pub(super) runs: &'a Runs,
    /// Most memory for the most frequent rows of all workers, in bytes.
    pub(super) top_bytes: usize,
}

impl Plan<'_> {
    fn wants<V: Tally>(&self, value: V) -> bool {
        value.count() >= self.options.at_least
    }

    fn top<V: Tally>(&self) -> Option<Top<V>> {
        self.options.top.map(Top::new)
    }

    /// Takes a row in if it is among the most frequent; they go to disk when they are too large.
    fn offer<V: Tally>(&self, top: &mut Top<V>, key: &[u8], value: V) -> io::Result<()> {
        if self.wants(value) {
            top.offer(key, value);
            if top.bytes() > self.top_bytes / self.workers {
                self.store(top, Order::Count)?;
            }
        }
        Ok(())
    }

    /// Writes the rows in this order to disk, and empties the list. Nothing is lost: at least as many rows as wanted
    /// have come before each that was left out.
    fn store<V: Tally>(&self, top: &mut Top<V>, order: Order) -> io::Result<()> {
        let all = std::mem::replace(top, top.emptied());
        self.runs.add(|run| all.in_order(order, |key, value| run.put(key, value)))
    }
}

/// Merges the tables, on several threads; what comes back has no key in common.
pub(super) fn in_memory<V: Tally>(
    tables: Vec<Groups<V>>,
    plan: Plan<'_>,
) -> io::Result<Vec<Found<V>>> {
    let mut columns: Vec<Vec<Part<V>>> = (0..SEGMENTS).map(|_| Vec::new()).collect();
    for table in tables {
        let parts = table.into_parts().into_iter();
        parts.zip(&mut columns).for_each(|(part, column)| column.push(part));
    }
    let columns = Mutex::new(columns);
    on_threads(plan.workers, || {
        let next = || {
            let mut column = held(&columns).pop()?.into_iter();
            let first = column.next()?;
            Some(column.try_fold(first, Part::merged).map_err(memory))
        };
        let mut parts = std::iter::from_fn(next);
        let Some(mut top) = plan.top() else {
            let rows = Rows::new(parts.collect::<io::Result<_>>()?, plan.options.order, |value| {
                plan.wants(value)
            });
            return rows.map(Found::Rows).map_err(memory);
        };
        parts.try_for_each(|part| {
            part?.try_for_each(|key, value| plan.offer(&mut top, key, value))
        })?;
        Ok(Found::Top(top))
    })
}

/// Counts the parts of the overflow, on several threads; what comes back has no key in common.
pub(super) fn from_disk<V: Tally>(
    overflow: &Overflow,
    recount: &Recount,
    plan: Plan<'_>,
) -> io::Result<Vec<Found<V>>> {
    let next = AtomicUsize::new(0);
    on_threads(plan.workers, || {
        let mut top = plan.top();
        loop {
            let segment = next.fetch_add(1, Ordering::Relaxed);
            if segment >= SEGMENTS {
                return Ok(top.map_or(Found::OnDisk, Found::Top));
            }
            recount.count(overflow, segment, &mut |groups: Groups<V>| match &mut top {
                None => store_all(groups, plan),
                Some(top) => groups.try_for_each(|_, key, value| plan.offer(top, key, value)),
            })?;
        }
    })
}

/// Sorts the rows of a table and writes them to disk.
fn store_all<V: Tally>(groups: Groups<V>, plan: Plan<'_>) -> io::Result<()> {
    let wanted = |value| plan.wants(value);
    let rows = Rows::new(groups.into_parts().into(), plan.options.order, wanted);
    let rows = rows.map_err(memory)?;
    plan.runs.add(|run| {
        (0..rows.len()).try_for_each(|row| {
            let mut room = [0; 16];
            let (key, value) = rows.get(row, &mut room);
            run.put(key, value)
        })
    })
}

/// Calls `each` with all rows that were found, in their order.
pub(super) fn in_order<V: Tally, E: From<io::Error>>(
    found: Vec<Found<V>>,
    plan: Plan<'_>,
    each: impl FnMut(&[u8], V) -> Result<(), E>,
) -> Result<(), E> {
    let order = plan.options.order;
    let mut lists = Vec::new();
    let mut tops = Vec::new();
    for found in found {
        match found {
            Found::Rows(rows) => lists.push(List::Rows(rows, 0)),
            Found::Top(top) => tops.push(top),
            Found::OnDisk => {}
        }
    }
    let Some(most) = plan.options.top else {
        lists.extend(plan.runs.lists());
        return merge(lists, order, usize::MAX, each);
    };
    if plan.runs.is_empty() {
        return match tops.into_iter().reduce(Top::join) {
            Some(top) => top.in_order(order, each),
            None => Ok(()),
        };
    }
    for mut top in tops {
        plan.store(&mut top, Order::Count)?;
    }
    if order == Order::Count {
        return merge(plan.runs.lists(), order, most, each);
    }
    let mut chosen = Top::new(usize::MAX);
    merge(plan.runs.lists(), Order::Count, most, |key, value: V| {
        chosen.offer(key, value);
        if chosen.bytes() > plan.top_bytes { plan.store(&mut chosen, order) } else { Ok(()) }
    })?;
    plan.store(&mut chosen, order)?;
    merge(plan.runs.lists(), order, usize::MAX, each)
}

fn memory(_: NoMemory) -> io::Error {
    io::ErrorKind::OutOfMemory.into()
}

/// Runs the same on so many threads, this one included, and returns what each of them returned.
fn on_threads<T: Send>(
    count: usize,
    work: impl Fn() -> io::Result<T> + Sync,
) -> io::Result<Vec<T>> {
    thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, &work).ok();
        let others: Vec<_> = (1..count).filter_map(spawn).collect();
        let own = work();
        let joined = others.into_iter().map(|other| match other.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(own).chain(joined).collect()
    })
}
