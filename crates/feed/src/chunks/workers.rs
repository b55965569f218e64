//! Workers that take turns at the input and at the output.

use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use fullbore_pipe::{Block, OutputError, PipeWriter};

use super::source::Source;
use super::{Chunk, Chunked};
use crate::{FeedError, Moved};

/// What all workers share: they stand in line for the input, and in the same order for the output.
pub(super) struct Line<T: Chunked, F: AsFd> {
    source: Mutex<Source>,
    sink: Mutex<Sink<T, F>>,
    /// The next chunk may be written, or all is over.
    turn: Condvar,
    stage: T,
}

/// The end of the line.
struct Sink<T: Chunked, F: AsFd> {
    writer: PipeWriter<F>,
    /// The chunk to be written next.
    next: u64,
    end: Option<End<T::Error>>,
}

/// Why no more is written.
enum End<E> {
    Done(Result<(), FeedError<E>>),
    /// A worker panicked.
    Panic,
}

/// What became of a chunk.
type Made<T> = Result<usize, FeedError<<T as Chunked>::Error>>;

impl<T: Chunked, F: AsFd + Send + 'static> Line<T, F> {
    pub(super) fn new(source: Source, stage: T, writer: PipeWriter<F>) -> Self {
        let sink = Mutex::new(Sink { writer, next: 0, end: None });
        Self { source: Mutex::new(source), sink, turn: Condvar::new(), stage }
    }

    /// Does all of it; the first chunk here, so that little input starts no thread.
    pub(super) fn run(
        self,
        workers: usize,
        buffer_bytes: usize,
    ) -> Result<Moved, FeedError<T::Error>> {
        let line = Arc::new(self);
        // On small pages: they are taken as they are touched.
        let mut first = Memory::First(vec![0; buffer_bytes]);
        if line.step(&mut first) {
            drop(first);
            if workers > 1 && line.start(workers, buffer_bytes).is_ok() {
                line.wait();
            } else {
                line.work(buffer_bytes);
            }
        }
        line.finish()
    }

    /// Starts the workers; as many as Linux allows will do.
    fn start(self: &Arc<Self>, workers: usize, buffer_bytes: usize) -> std::io::Result<()> {
        for number in 0..workers {
            let line = Arc::clone(self);
            let work = move || {
                let alarm = Alarm(line);
                alarm.0.work(buffer_bytes);
            };
            match thread::Builder::new().name("chunks".to_owned()).spawn(work) {
                Err(error) if number == 0 => return Err(error),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// One chunk after the other.
    fn work(&self, buffer_bytes: usize) {
        let mut memory = Memory::Block(Some(Block::new(buffer_bytes)));
        while self.step(&mut memory) {}
    }

    /// Reads the next chunk, changes it, and writes it when its turn comes; whether there is more to do.
    fn step(&self, memory: &mut Memory) -> bool {
        let buffer = memory.bytes();
        let (index, read) = {
            let mut source = held(&self.source);
            (source.next_index(), source.next(buffer))
        };
        let (made, is_last) = match read {
            Ok(None) => return false,
            Ok(Some(chunk)) => (self.process(chunk, buffer), chunk.is_last),
            Err(error) => (Err(error.into()), true),
        };
        self.write(index, made, memory, is_last)
    }

    fn process(&self, chunk: Chunk, buffer: &mut [u8]) -> Made<T> {
        self.stage.process(chunk, buffer).map_err(FeedError::Codec)
    }

    /// Whether there is more to do.
    fn write(&self, index: u64, made: Made<T>, memory: &mut Memory, is_last: bool) -> bool {
        let mut sink = held(&self.sink);
        while sink.next != index && sink.end.is_none() {
            sink = self.turn.wait(sink).unwrap_or_else(PoisonError::into_inner);
        }
        if sink.end.is_some() {
            return false;
        }
        let written = self.put(&mut sink, index, made, memory, is_last);
        sink.next += 1;
        if is_last || written.is_err() {
            sink.end = Some(End::Done(written));
        }
        self.turn.notify_all();
        sink.end.is_none()
    }

    fn put(
        &self,
        sink: &mut Sink<T, F>,
        index: u64,
        made: Made<T>,
        memory: &mut Memory,
        is_last: bool,
    ) -> Result<(), FeedError<T::Error>> {
        match made {
            Ok(bytes) => {
                memory.write(bytes, &mut sink.writer)?;
                if is_last || self.is_idle(index) {
                    sink.writer.flush_all()?;
                }
                Ok(())
            }
            Err(error) => {
                sink.writer.flush_all()?;
                Err(error)
            }
        }
    }

    /// Whether no chunk after this one has been read, so that none may follow for long. A source that is in use is
    /// being read from, or has just been.
    fn is_idle(&self, index: u64) -> bool {
        self.source.try_lock().map_or(true, |source| source.next_index() == index + 1)
    }

    /// Waits until the last chunk was written, or nothing more will be.
    fn wait(&self) {
        let mut sink = held(&self.sink);
        while sink.end.is_none() {
            sink = self.turn.wait(sink).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self) -> Result<Moved, FeedError<T::Error>> {
        let mut sink = held(&self.sink);
        match sink.end.take() {
            Some(End::Done(result)) => {
                // What is left of other workers still finds that it is over.
                sink.end = Some(End::Done(Ok(())));
                let written = sink.writer.written();
                result.map(|()| Moved { read: held(&self.source).bytes_read(), written })
            }
            Some(End::Panic) | None => panic!("a worker panicked"),
        }
    }
}

/// Where a chunk is worked on.
enum Memory {
    /// The first one, which may be small and the last.
    First(Vec<u8>),
    /// One that the writer may keep, and give another for; `None` after it failed.
    Block(Option<Block>),
}

impl Memory {
    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::First(bytes) => bytes,
            Self::Block(block) => block.as_mut().map_or(&mut [], Block::bytes),
        }
    }

    fn write<F: AsFd>(
        &mut self,
        bytes: usize,
        writer: &mut PipeWriter<F>,
    ) -> Result<(), OutputError> {
        match self {
            Self::First(memory) => writer.put(&memory[..bytes]),
            Self::Block(place) => {
                if let Some(block) = place.take() {
                    *place = Some(writer.exchange(block, bytes)?);
                }
                Ok(())
            }
        }
    }
}

/// Tells the others when a worker panics: they would wait for it for ever.
struct Alarm<T: Chunked, F: AsFd>(Arc<Line<T, F>>);

impl<T: Chunked, F: AsFd> Drop for Alarm<T, F> {
    fn drop(&mut self) {
        if thread::panicking() {
            held(&self.0.sink).end.get_or_insert(End::Panic);
            self.0.turn.notify_all();
        }
    }
}

/// The lock, also after a panic: [`Alarm`] sees to that.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}
