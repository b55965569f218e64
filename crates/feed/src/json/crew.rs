//! Workers that read, scan and work on blocks at the same time.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

use fullbore_codec::json::query::Scanner;
use fullbore_pipe::PipeWriter;

use super::back::{Back, Step};
use super::control::Control;
use super::job::{Fault, Job};
use super::options::Options;
use super::outcome::{Kind, Outcome, RunError};
use super::scan::{Rest, Wrong};
use super::source::{Source, Taken};
use super::task::Task;
use crate::Input;
use crate::ahead::has_idle_cpu;

/// Input after which one more worker may start: a small input is done by then.
const BYTES_BETWEEN_STARTS: u64 = 1 << 20;
/// One more worker makes nothing faster where reading takes more of the time than this.
const MOST_READING: f64 = 0.7;

/// What the workers share.
pub(super) struct Crew<'a, I, E, T: Task, F: AsFd> {
    task: &'a T,
    options: &'a Options,
    control: &'a Control,
    front: Mutex<Front<'a, I>>,
    back: Mutex<Back<E>>,
    /// Signals that a worker may find something to do.
    turn: Condvar,
    writer: Mutex<&'a mut PipeWriter<F>>,
    /// Whether a worker waits for input, so that output must not wait.
    is_waiting: AtomicBool,
    states: Mutex<Vec<Arc<Mutex<T::State>>>>,
}

struct Front<'a, I> {
    source: Source<'a, I>,
    /// The number of the next block.
    next: u64,
}

impl<'a, I, E, T, F> Crew<'a, I, E, T, F>
where
    I: Iterator<Item = Result<Input, E>> + Send,
    E: Send,
    T: Task,
    F: AsFd + Send,
{
    pub(super) fn new(
        inputs: I,
        options: &'a Options,
        task: &'a T,
        control: &'a Control,
        writer: &'a mut PipeWriter<F>,
    ) -> Self {
        Self {
            task,
            options,
            control,
            front: Mutex::new(Front {
                source: Source::new(inputs, control, options.block_bytes),
                next: 0,
            }),
            back: Mutex::new(Back::new(options.most_workers())),
            turn: Condvar::new(),
            writer: Mutex::new(writer),
            is_waiting: AtomicBool::new(false),
            states: Mutex::default(),
        }
    }

    /// Does everything.
    pub(super) fn run(self) -> Result<Outcome<T::State>, RunError<E>> {
        let most = self.options.most_workers();
        thread::scope(|scope| {
            let mut others = 0;
            if self.options.workers.is_some() {
                others = (1..most).filter(|_| self.start(scope)).count();
            }
            let mut looked_at = 0;
            self.work(|| {
                let position = self.control.read_bytes();
                let is_time = position >= looked_at + BYTES_BETWEEN_STARTS;
                if is_time && self.options.workers.is_none() && others + 1 < most {
                    looked_at = position;
                    if self.would_another_help() {
                        others += usize::from(self.start(scope));
                    }
                }
            });
        });
        let end = self.back.into_inner().unwrap_or_else(PoisonError::into_inner).end;
        if let Some(failure) = end.failure {
            return Err(failure);
        }
        let states = self.states.into_inner().unwrap_or_else(PoisonError::into_inner);
        let states = states.into_iter().filter_map(Arc::into_inner);
        Ok(Outcome {
            states: states
                .map(|state| state.into_inner().unwrap_or_else(PoisonError::into_inner))
                .collect(),
            records: self.control.records(),
            invalid: end.invalid,
            skipped: end.skipped,
            first_skipped: end.first_skipped.map(|spot| spot.find()),
            is_partial: self.control.is_stopped(),
            spans_lines: end.spans_lines,
        })
    }

    fn would_another_help(&self) -> bool {
        !held(&self.back).order.is_alone
            && has_idle_cpu()
            // Whoever waits for input holds the lock.
            && self.front.try_lock().is_ok_and(|f| f.source.reading_share() < MOST_READING)
    }

    /// Starts one more worker, and tells whether Linux allowed it.
    fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> bool {
        let thread = thread::Builder::new().name("records".to_owned());
        thread.spawn_scoped(scope, || self.work(|| ())).is_ok()
    }

    /// Works on one block after the other; calls `after` after each.
    fn work(&self, mut after: impl FnMut()) {
        let _alarm = Alarm(self);
        let state = Arc::new(Mutex::new(self.task.state()));
        held(&self.states).push(Arc::clone(&state));
        let Options { tier, duplicates, max_record, .. } = *self.options;
        let most_bytes = usize::try_from(max_record.0).unwrap_or(usize::MAX);
        let mut scanner = Scanner::new(tier, self.options.members.clone(), duplicates);
        scanner = scanner.with_most_bytes(most_bytes);
        loop {
            self.answer();
            let mut back = held(&self.back);
            let step = loop {
                match back.next() {
                    Step::Wait => {
                        back = self.turn.wait(back).unwrap_or_else(PoisonError::into_inner)
                    }
                    step => break step,
                }
            };
            let is_alone = back.order.is_alone;
            drop(back);
            match step {
                Step::Process(job) => self.process(job, &state),
                Step::Take(job) => {
                    if let Some(job) = self.take(job, is_alone, &mut scanner) {
                        self.resolve(job, &mut scanner);
                        after();
                    }
                }
                Step::Wait | Step::Over => return,
            }
        }
    }

    /// Hands out the answer so far, if somebody asked.
    fn answer(&self) {
        if !self.control.take_question() {
            return;
        }
        let states = held(&self.states);
        let states: Vec<MutexGuard<'_, T::State>> =
            states.iter().map(|state| held(state)).collect();
        let states: Vec<&T::State> = states.iter().map(|state| &**state).collect();
        self.task.so_far(&states);
    }

    /// Reads the next block, and scans it in the hope that a record begins at its beginning.
    fn take(&self, mut job: Job<E>, is_alone: bool, scanner: &mut Scanner) -> Option<Job<E>> {
        let mut front = held(&self.front);
        front.source.cuts_anywhere |= is_alone && self.options.most_workers() > 1;
        let is_over = self.control.is_stopped() || held(&self.back).total.is_some();
        let taken = if is_over {
            Ok(Taken::End)
        } else {
            front.source.take(&mut job.block, || self.flush_before_waiting())
        };
        self.is_waiting.store(false, Ordering::SeqCst);
        match taken {
            Ok(Taken::Block) => {}
            Ok(Taken::Woken) => {
                drop(front);
                held(&self.back).give_back(job);
                return None;
            }
            Ok(Taken::End) => {
                let total = front.next;
                drop(front);
                let mut back = held(&self.back);
                back.give_back(job);
                back.end_after(total);
                self.turn.notify_all();
                return None;
            }
            Err(failure) => job.fault = Some(Fault::Failure(failure)),
        }
        job.number = front.next;
        front.next += 1;
        drop(front);
        if job.fault.is_none()
            && let Err(error) = job.block.fill()
        {
            job.fault = Some(Fault::Failure(error.into()));
        }
        if job.fault.is_none() && !is_alone {
            job.scan(scanner, self.options);
        }
        Some(job)
    }

    fn flush_before_waiting(&self) -> Result<(), RunError<E>> {
        self.is_waiting.store(true, Ordering::SeqCst);
        Ok(held(&self.writer).flush_all()?)
    }

    /// Finds out where the block really begins, as soon as that is known of the blocks before it; also of those behind it.
    fn resolve(&self, job: Job<E>, scanner: &mut Scanner) {
        let mut back = held(&self.back);
        back.order.add(job);
        while let Some((mut between, mut job)) = back.order.next() {
            if job.fault.is_none() {
                if job.is_scanned && between.is_clear() {
                    between.settle(&mut job, self.options);
                } else {
                    drop(back);
                    between.join(&mut job, scanner, self.options);
                    back = held(&self.back);
                }
            }
            if job.found.rest == Rest::Wrong || job.fault.is_some() {
                back.end_after(job.number + 1);
            }
            let was_alone = back.order.is_alone;
            if !between.is_clear() && job.block.ends_line && !was_alone {
                let at = job.found.rest.begin().unwrap_or(0);
                let what = "a record goes on after its line".to_owned();
                back.end
                    .spans_lines
                    .get_or_insert_with(|| job.spot(&Wrong { at, what, kind: Kind::GoesOn }));
            }
            back.order.resolve(between, job);
        }
        self.turn.notify_all();
    }

    /// Gives a block to the task, and what becomes of it to the output.
    fn process(&self, mut job: Job<E>, state: &Mutex<T::State>) {
        if job.fault.is_none() {
            let mut state = held(state);
            self.task.begin(&mut state, job.number);
            let mut output = std::mem::take(&mut job.output);
            for part in job.found.parts() {
                let text = &job.text()[part.begin..];
                self.control.note_records(part.table.documents.len());
                let done = self.task.block(&mut state, text, &part.table, &mut output);
                if let Err(error) = done {
                    let wrong =
                        Wrong { at: part.begin + error.at, what: error.what, kind: Kind::Refused };
                    job.fault = Some(Fault::Invalid(job.spot(&wrong).find()));
                    break;
                }
                let Some(wrong) = &part.wrong else { continue };
                if self.options.skips_invalid {
                    job.skipped += 1;
                } else {
                    job.fault = Some(Fault::Invalid(job.spot(wrong).find()));
                    break;
                }
            }
            job.output = output;
        }
        let mut back = held(&self.back);
        back.finish(job);
        self.write(back);
    }

    /// Writes what is finished and next.
    fn write<'b>(&'b self, mut back: MutexGuard<'b, Back<E>>) {
        while let Some(mut job) = back.next_to_write() {
            drop(back);
            let written = {
                let mut writer = held(&self.writer);
                let put = writer.put(&job.output);
                let must_flush = self.is_waiting.load(Ordering::SeqCst);
                put.and_then(|()| if must_flush { writer.flush_all() } else { Ok(()) })
            };
            back = held(&self.back);
            let fault = job.fault.take();
            back.wrote(job);
            match (written, fault) {
                (Err(error), _) => back.fail(error.into()),
                (Ok(()), Some(Fault::Failure(failure))) => back.fail(failure),
                (Ok(()), Some(Fault::Invalid(invalid))) => back.end.invalid = Some(invalid),
                (Ok(()), None) => {}
            }
        }
        if back.is_over() {
            // A worker may wait for input that nobody wants any more.
            self.control.wake();
        }
        self.turn.notify_all();
    }
}

/// Ends all work when a worker panics; the scope passes the panic on.
struct Alarm<'b, 'a, I, E, T: Task, F: AsFd>(&'b Crew<'a, I, E, T, F>);

impl<I, E, T: Task, F: AsFd> Drop for Alarm<'_, '_, I, E, T, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            held(&self.0.back).total = Some(0);
            self.0.control.wake();
            self.0.turn.notify_all();
        }
    }
}

/// Takes the lock, also after a panic.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
