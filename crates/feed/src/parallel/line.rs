//! Workers that take turns reading the input; the first worker writes the output of all.
//!
//! A worker that always writes stays on the CPU of whoever reads its output. Passing the writer role around woke
//! another CPU each time, and FizzBuzz took 1.6 times as long. The other workers write only while the first one waits
//! for input, or when they have been idle for long.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use fullbore_codec::Fault;
use fullbore_pipe::{PipeWriter, Scratch};

use super::Parallel;
use super::memory::Memory;
use crate::{FeedError, InputError, Moved};

/// How many finished pieces may wait for earlier ones, besides one for each worker, so that no worker idles while the
/// output's reader is slow.
pub(super) const WAITING_PIECES: usize = 2;

/// How long a worker without memory waits for the first worker to write before it writes itself.
const PATIENCE: Duration = Duration::from_millis(2);

/// State that all workers share.
pub(super) struct Line<P: Parallel, F: AsFd> {
    stage: P,
    front: Mutex<Front<P>>,
    back: Mutex<Back<P, F>>,
    /// Signals that a piece was written, or that all work is over.
    turn: Condvar,
    /// Signals that all work is over.
    over: Condvar,
}

/// The side that supplies pieces.
struct Front<P: Parallel> {
    source: P::Source,
    /// The number of the next piece.
    next: u64,
}

/// The side that writes pieces in order.
struct Back<P: Parallel, F: AsFd> {
    /// The output; `None` while a worker is writing.
    sink: Option<Sink<P, F>>,
    /// Whether the first worker is reading, which may take for ever, or has found the end.
    is_writer_away: bool,
    /// The number of the piece to write next.
    next: u64,
    /// Finished pieces that wait for earlier ones, by number.
    waiting: BTreeMap<u64, (Made<P>, Memory)>,
    /// Memory for the output of coming pieces.
    free: Vec<Memory>,
    /// How many more of these may still be allocated.
    not_yet: usize,
    end: Option<End<P::Error>>,
}

struct Sink<P: Parallel, F: AsFd> {
    writer: PipeWriter<F>,
    state: P::State,
}

/// Why writing stopped.
enum End<E> {
    Done(Result<(), FeedError<E>>),
    /// A worker panicked.
    Panic,
}

/// What a worker keeps between pieces.
struct Desk<W> {
    is_first: bool,
    input: Scratch,
    worker: W,
}

/// A piece with its result.
type Made<P> = Result<(<P as Parallel>::Piece, <P as Parallel>::Made), InputError>;

impl<P: Parallel, F: AsFd + Send + 'static> Line<P, F> {
    pub(super) fn new(stage: P, source: P::Source, state: P::State, writer: PipeWriter<F>) -> Self {
        let back = Back {
            sink: Some(Sink { writer, state }),
            is_writer_away: false,
            next: 0,
            waiting: BTreeMap::new(),
            free: Vec::new(),
            not_yet: 0,
            end: None,
        };
        let front = Mutex::new(Front { source, next: 0 });
        let (turn, over) = (Condvar::new(), Condvar::new());
        Self { stage, front, back: Mutex::new(back), turn, over }
    }

    /// Does all the work; the calling thread does the first piece, so that little input starts no thread.
    pub(super) fn run(self, workers: usize) -> Result<Moved, FeedError<P::Error>> {
        let line = Arc::new(self);
        let first = Memory::first(line.stage.output_bytes()).map_err(FeedError::Memory)?;
        let mut desk = line.desk(0).map_err(FeedError::Memory)?;
        if line.step(&mut desk, first) {
            drop(desk);
            line.go_on(workers);
        }
        line.finish()
    }

    /// Does all the work, with this many threads from the beginning.
    pub(super) fn run_on_threads(self, workers: usize) -> Result<Moved, FeedError<P::Error>> {
        let line = Arc::new(self);
        line.go_on(workers);
        line.finish()
    }

    fn go_on(self: &Arc<Self>, workers: usize) {
        {
            let mut back = held(&self.back);
            back.free.clear();
            back.not_yet = if workers > 1 { workers + WAITING_PIECES } else { 1 };
        }
        if workers > 1 && self.start(workers).is_ok() {
            self.wait();
        } else {
            self.work(0);
        }
    }

    fn desk(&self, number: usize) -> std::io::Result<Desk<P::Worker>> {
        let input = Scratch::try_new(self.stage.input_bytes())?;
        Ok(Desk { is_first: number == 0, input, worker: self.stage.worker() })
    }

    /// Starts the workers, or as many as Linux allows.
    fn start(self: &Arc<Self>, workers: usize) -> std::io::Result<()> {
        for number in 0..workers {
            let line = Arc::clone(self);
            let work = move || {
                let alarm = Alarm(line);
                alarm.0.work(number);
            };
            match thread::Builder::new().name("worker".to_owned()).spawn(work) {
                Err(error) if number == 0 => return Err(error),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// Works on one piece after the other.
    fn work(&self, number: usize) {
        let mut desk = match self.desk(number) {
            Ok(desk) => desk,
            Err(error) => return self.end_without_memory(error),
        };
        while let Some(output) = self.memory(desk.is_first)
            && self.step(&mut desk, output)
        {}
    }

    /// Returns memory for the output of a piece as soon as there is some, and writes what can be written meanwhile.
    /// Returns `None` when all work is over.
    fn memory(&self, is_first: bool) -> Option<Memory> {
        let mut back = held(&self.back);
        let mut has_waited = false;
        loop {
            back = self.write_waiting(back, is_first || has_waited);
            if back.end.is_some() {
                return None;
            }
            let memory = back.free.pop();
            if memory.is_some() || back.not_yet > 0 {
                back.not_yet -= usize::from(memory.is_none());
                back.is_writer_away |= is_first && P::MAY_WAIT_FOR_INPUT;
                drop(back);
                let memory = memory.map_or_else(|| Memory::new(self.stage.output_bytes()), Ok);
                return memory.map_err(|error| self.end_without_memory(error)).ok();
            }
            if is_first || back.sink.is_none() {
                // The worker that finishes or writes the next piece sends the signal.
                back = self.turn.wait(back).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.turn.wait_timeout(back, PATIENCE);
            let (returned, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            back = returned;
            has_waited = timeout.timed_out();
        }
    }

    /// Ends all work and leaves finished pieces unwritten.
    fn end_without_memory(&self, error: std::io::Error) {
        held(&self.back).end.get_or_insert(End::Done(Err(FeedError::Memory(error))));
        self.turn.notify_all();
        self.over.notify_all();
    }

    /// Reads the next piece, works on it, and sees that it gets written. Tells whether there is more to do.
    fn step(&self, desk: &mut Desk<P::Worker>, mut output: Memory) -> bool {
        let (index, taken) = {
            let mut front = held(&self.front);
            front.next += 1;
            (front.next - 1, self.stage.take(&mut front.source, &mut desk.input))
        };
        let Some(taken) = taken.transpose() else { return false };
        if desk.is_first {
            held(&self.back).is_writer_away = false;
        }
        let made = taken.map(|piece| {
            let made = self.stage.make(&mut desk.worker, &piece, &desk.input, output.bytes());
            (piece, made)
        });
        let waits = made.as_ref().is_ok_and(|(_, made)| P::needs_the_one_before(made));
        let mut back = held(&self.back);
        if waits {
            loop {
                back = self.write_waiting(back, desk.is_first);
                if back.end.is_some() {
                    return false;
                }
                if back.next == index && back.sink.is_some() {
                    break;
                }
                back = self.turn.wait(back).unwrap_or_else(PoisonError::into_inner);
            }
            back = self.write_next(back, made, output, &desk.input);
        } else {
            back.waiting.insert(index, (made, output));
            // The first worker may have nothing else to do.
            self.turn.notify_all();
            back = self.write_waiting(back, desk.is_first);
        }
        back.end.is_none()
    }

    /// Writes all finished pieces whose turn it is, unless another worker does. A worker with `writes` set does so even
    /// when the first worker will soon.
    fn write_waiting<'a>(
        &'a self,
        mut back: MutexGuard<'a, Back<P, F>>,
        writes: bool,
    ) -> MutexGuard<'a, Back<P, F>> {
        while (writes || back.is_writer_away) && back.sink.is_some() && back.end.is_none() {
            let next = back.next;
            let Some((made, output)) = back.waiting.remove(&next) else { break };
            back = self.write_next(back, made, output, &[]);
        }
        back
    }

    /// Writes the next piece. Other workers can queue theirs meanwhile.
    fn write_next<'a>(
        &'a self,
        mut back: MutexGuard<'a, Back<P, F>>,
        made: Made<P>,
        mut output: Memory,
        input: &[u8],
    ) -> MutexGuard<'a, Back<P, F>> {
        let Some(mut sink) = back.sink.take() else { return back };
        let index = back.next;
        drop(back);
        let written = self.put(&mut sink, index, made, &mut output, input);
        let mut back = held(&self.back);
        back.sink = Some(sink);
        back.next += 1;
        back.free.push(output);
        if !matches!(written, Ok(false)) {
            back.end.get_or_insert(End::Done(written.map(|_| ())));
            self.over.notify_all();
        }
        self.turn.notify_all();
        back
    }

    /// Writes a piece, and tells whether it was the last.
    fn put(
        &self,
        sink: &mut Sink<P, F>,
        index: u64,
        made: Made<P>,
        output: &mut Memory,
        input: &[u8],
    ) -> Result<bool, FeedError<P::Error>> {
        let (mut piece, made) = match made {
            Ok(made) => made,
            Err(error) => {
                sink.writer.flush_all()?;
                return Err(error.into());
            }
        };
        let settled = self.stage.settle(&mut sink.state, &mut piece, made, input, output.bytes());
        let (bytes, error) = match settled {
            Ok(bytes) => (bytes, None),
            Err(Fault { written, error }) => (written, Some(error)),
        };
        output.write(bytes, &mut sink.writer)?;
        let is_last = P::is_last(&piece);
        if error.is_some() || is_last || self.is_idle(index) {
            sink.writer.flush_all()?;
        }
        error.map_or(Ok(is_last), |error| Err(FeedError::Codec(error)))
    }

    /// Tells whether no later piece has been read, so that none may follow for long. A source in use is being read
    /// from, or has just been.
    fn is_idle(&self, index: u64) -> bool {
        self.front.try_lock().map_or(true, |front| front.next == index + 1)
    }

    /// Waits until the last piece was written or writing has stopped.
    fn wait(&self) {
        let mut back = held(&self.back);
        while back.end.is_none() {
            back = self.over.wait(back).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self) -> Result<Moved, FeedError<P::Error>> {
        let mut back = held(&self.back);
        match back.end.take() {
            Some(End::Done(result)) => {
                // Workers that are still running find that all work is over.
                back.end = Some(End::Done(Ok(())));
                let written = back.sink.as_ref().map_or(0, |sink| sink.writer.written());
                result.map(|()| Moved { read: P::bytes_read(&held(&self.front).source), written })
            }
            Some(End::Panic) | None => panic!("a worker panicked"),
        }
    }
}

/// Tells the other workers when one panics; otherwise they would wait for it for ever.
struct Alarm<P: Parallel, F: AsFd>(Arc<Line<P, F>>);

impl<P: Parallel, F: AsFd> Drop for Alarm<P, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            held(&self.0.back).end.get_or_insert(End::Panic);
            self.0.turn.notify_all();
            self.0.over.notify_all();
        }
    }
}

/// Takes the lock, even after a panic, which [`Alarm`] handles.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
