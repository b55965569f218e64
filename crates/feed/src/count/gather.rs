//! Counts the input into one table for each worker.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use fullbore_codec::group::{Groups, Tally};

use super::budget::Budget;
use super::error::CountError;
use super::options::Options;
use super::overflow::Overflow;
use super::source::{Block, Source};
use super::stop::Stop;
use crate::Input;
use crate::ahead::has_idle_cpu;

/// What was counted.
pub(super) struct Gathered<V> {
    /// One table for each worker; with an overflow, nothing.
    pub(super) tables: Vec<Groups<V>>,
    /// What did not fit into memory.
    pub(super) overflow: Option<Overflow>,
}

/// What the workers share.
struct Work<'a, I> {
    source: Mutex<Source<I>>,
    options: &'a Options,
    budget: Budget,
    overflow: OnceLock<Overflow>,
    /// Present where there may be several workers.
    stop: Option<Arc<Stop>>,
}

/// Input after which one more worker may start: a small input is counted by then.
const BYTES_BETWEEN_STARTS: u64 = 1 << 20;

/// A worker more makes nothing faster where reading takes more of the time than this.
const MOST_READING: f64 = 0.7;

/// Counts everything. All tables together take at most `memory` bytes, and what a block adds to them.
pub(super) fn gather<V: Tally, I, E>(
    inputs: I,
    options: &Options,
    workers: usize,
    memory: usize,
) -> Result<Gathered<V>, CountError<E>>
where
    I: Iterator<Item = Result<Input, E>> + Send,
    E: Send,
{
    let work = Work {
        source: Mutex::new(Source::new(inputs, options.end)),
        options,
        budget: Budget::new(memory),
        overflow: OnceLock::new(),
        stop: if workers > 1 { Stop::new().ok().map(Arc::new) } else { None },
    };
    let mut tables = thread::scope(|scope| {
        let mut others = Vec::new();
        if options.workers.is_some() {
            others.extend((1..workers).filter_map(|_| work.start(scope)));
        }
        let mut looked_at = 0;
        let own = work.count(|position| {
            let is_time = position >= looked_at + BYTES_BETWEEN_STARTS;
            if is_time && options.workers.is_none() && others.len() + 1 < workers {
                looked_at = position;
                if has_idle_cpu() && held(&work.source).reading_share() < MOST_READING {
                    others.extend(work.start(scope));
                }
            }
        });
        let joined = others.into_iter().map(|other| match other.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(own).chain(joined).collect::<Result<Vec<Groups<V>>, _>>()
    })?;
    let overflow = work.overflow.into_inner();
    if let Some(overflow) = &overflow {
        for table in std::mem::take(&mut tables) {
            overflow.add(&table).map_err(|source| disk(&options.folder, source))?;
        }
    }
    Ok(Gathered { tables, overflow })
}

/// Names the folder of a temporary file that failed.
pub(super) fn disk<E>(folder: &std::path::Path, source: std::io::Error) -> CountError<E> {
    if source.kind() == std::io::ErrorKind::OutOfMemory {
        return CountError::Groups;
    }
    CountError::Disk { folder: PathBuf::from(folder), source }
}

/// A running worker.
type Started<'scope, V, E> = ScopedJoinHandle<'scope, Result<Groups<V>, CountError<E>>>;

impl<I, E> Work<'_, I>
where
    I: Iterator<Item = Result<Input, E>> + Send,
    E: Send,
{
    /// Starts one more worker, unless Linux refuses one, or the means to end its wait for input.
    fn start<'scope, V: Tally>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Option<Started<'scope, V, E>>
    where
        E: 'scope,
    {
        held(&self.source).stop_at(Arc::clone(self.stop.as_ref()?));
        let thread = thread::Builder::new().name("count".to_owned());
        thread.spawn_scoped(scope, || self.count(|_| ())).ok()
    }

    /// Counts block after block. Calls `after` with how many bytes the workers have taken.
    fn count<V: Tally>(&self, mut after: impl FnMut(u64)) -> Result<Groups<V>, CountError<E>> {
        let counted = Groups::try_new(self.options.seed)
            .map_err(|_| CountError::Groups)
            .and_then(|mut groups| self.count_into(&mut groups, &mut after).map(|()| groups));
        if let (Err(_), Some(stop)) = (&counted, &self.stop) {
            stop.now();
        }
        counted
    }

    fn count_into<V: Tally>(
        &self,
        groups: &mut Groups<V>,
        after: &mut impl FnMut(u64),
    ) -> Result<(), CountError<E>> {
        let Options { end, field, tier, .. } = *self.options;
        let mut share = self.budget.share();
        let mut block = Block::default();
        loop {
            let position = {
                let mut source = held(&self.source);
                if self.stop.as_ref().is_some_and(|stop| stop.is_over()) {
                    return Ok(());
                }
                source.take(&mut block)?;
                source.position()
            };
            if block.bytes().is_empty() {
                return Ok(());
            }
            groups.set_limit(share.limit());
            let added = match field {
                None => groups.add_lines(block.bytes(), end, block.position, tier),
                Some(field) => groups.add_fields(block.bytes(), end, block.position, field),
            };
            added.map_err(|_| CountError::Groups)?;
            if groups.is_full() {
                self.overflow_with(groups)?;
            }
            share.set(groups.bytes());
            after(position);
        }
    }

    /// Writes a table to disk and empties it.
    fn overflow_with<V: Tally>(&self, groups: &mut Groups<V>) -> Result<(), CountError<E>> {
        let folder = &self.options.folder;
        let failed = |source| disk(folder, source);
        if self.overflow.get().is_none() {
            // Of two workers that come here at the same time, one keeps its file.
            let _ = self.overflow.set(Overflow::create(folder).map_err(failed)?);
        }
        if let Some(overflow) = self.overflow.get() {
            overflow.add(groups).map_err(failed)?;
        }
        groups.clear();
        Ok(())
    }
}

/// Takes the lock, also after a panic, which the scope passes on.
pub(super) fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
