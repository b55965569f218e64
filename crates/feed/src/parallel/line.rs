//! Workers that stand in line for the input; the first of them also writes.
//!
//! One that always writes stays on the CPU of whoever reads from it: when all write in turn, each handing over wakes another
//! CPU, and FizzBuzz takes 1.6 times as long. The others write only while the first one waits for input, or
//! when they could do nothing for long.

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

/// Pieces that may wait for those before them, beside one for each worker: so that none waits for the reader while another
/// could work.
const WAITING_PIECES: usize = 2;

/// How long a worker without memory waits for the first one to write, before it does so itself.
const PATIENCE: Duration = Duration::from_millis(2);

/// What all workers share.
pub(super) struct Line<P: Parallel, F: AsFd> {
    stage: P,
    front: Mutex<Front<P>>,
    back: Mutex<Back<P, F>>,
    /// A piece was written, or all is over.
    turn: Condvar,
    /// All is over.
    over: Condvar,
}

/// Where pieces come from.
struct Front<P: Parallel> {
    source: P::Source,
    /// The number of the next piece.
    next: u64,
}

/// Where they go, one after the other.
struct Back<P: Parallel, F: AsFd> {
    /// `None` while a worker is writing.
    sink: Option<Sink<P, F>>,
    /// Whether the first worker is reading, which may take for ever, or has found the end.
    is_writer_away: bool,
    /// The piece to be written next.
    next: u64,
    /// Pieces that wait for others, by number.
    waiting: BTreeMap<u64, (Made<P>, Memory)>,
    /// Memory for the output of the next pieces.
    free: Vec<Memory>,
    /// How much more there may be of it.
    not_yet: usize,
    end: Option<End<P::Error>>,
}

struct Sink<P: Parallel, F: AsFd> {
    writer: PipeWriter<F>,
    state: P::State,
}

/// Why no more is written.
enum End<E> {
    Done(Result<(), FeedError<E>>),
    /// A worker panicked.
    Panic,
}

/// What a worker has.
struct Desk<W> {
    is_first: bool,
    input: Scratch,
    worker: W,
}

/// A piece on its way, with what was made of it.
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

    /// Does all of it; the first piece here, so that little input starts no thread.
    pub(super) fn run(self, workers: usize) -> Result<Moved, FeedError<P::Error>> {
        let line = Arc::new(self);
        // On small pages: they are taken as they are touched.
        let first = Memory::First(vec![0; line.stage.output_bytes()]);
        if line.step(&mut line.desk(0), first) {
            line.go_on(workers);
        }
        line.finish()
    }

    /// Does all of it; with so many threads from the beginning.
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

    fn desk(&self, number: usize) -> Desk<P::Worker> {
        let input = Scratch::new(self.stage.input_bytes());
        Desk { is_first: number == 0, input, worker: self.stage.worker() }
    }

    /// Starts the workers; as many as Linux allows will do.
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

    /// One piece after the other.
    fn work(&self, number: usize) {
        let mut desk = self.desk(number);
        while let Some(output) = self.memory(desk.is_first)
            && self.step(&mut desk, output)
        {}
    }

    /// Memory for the output of a piece, when there is some; before that, writes what can be written. `None` when all is
    /// over.
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
                return Some(memory.unwrap_or_else(|| Memory::new(self.stage.output_bytes())));
            }
            if is_first || back.sink.is_none() {
                // Whoever makes or writes the next piece tells.
                back = self.turn.wait(back).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.turn.wait_timeout(back, PATIENCE);
            let (returned, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            back = returned;
            has_waited = timeout.timed_out();
        }
    }

    /// Reads the next piece, works on it, and sees to it that it is written; whether there is more to do.
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

    /// Writes all pieces that wait for nothing but this, unless another worker does. A worker that `writes` does so even
    /// when the first one will soon.
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

    /// Writes the next piece. Others can leave theirs meanwhile.
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

    /// Writes a piece; whether it was the last.
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

    /// Whether no piece after this one has been read, so that none may follow for long. A source that is in use is
    /// being read from, or has just been.
    fn is_idle(&self, index: u64) -> bool {
        self.front.try_lock().map_or(true, |front| front.next == index + 1)
    }

    /// Waits until the last piece was written, or nothing more will be.
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
                // What is left of other workers still finds that it is over.
                back.end = Some(End::Done(Ok(())));
                let written = back.sink.as_ref().map_or(0, |sink| sink.writer.written());
                result.map(|()| Moved { read: P::bytes_read(&held(&self.front).source), written })
            }
            Some(End::Panic) | None => panic!("a worker panicked"),
        }
    }
}

/// Tells the others when a worker panics: they would wait for it for ever.
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

/// The lock, also after a panic: [`Alarm`] sees to that.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
