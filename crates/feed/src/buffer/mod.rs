//! An elastic place between a producer and a consumer: takes what comes, up to a limit, and hands it on in order.
//!
//! Two threads and a queue. The *reader* takes from the input, the *writer* hands to the output; both block, so
//! this works for pipes, files, sockets and terminals alike and never changes how they are opened. What waits
//! is spliced into pipes of our own, as long as both ends are pipes and nobody must look at the bytes; otherwise it
//! is read into memory; beyond the limit it goes to an unlinked file, or the reader waits. While nothing waits,
//! the reader hands on what comes itself, without waking the writer.

mod digest;
mod ends;
mod error;
mod exchange;
mod look;
mod pacer;
mod queue;
mod reader;
mod spill;
mod waits;
mod writer;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use fullbore_measure::Bytes;
use fullbore_pipe::{Limits, Reservoir, Widened, pipe_budget, widen};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

pub use digest::Hash;
use digest::Hasher;
pub use ends::Copy;
use ends::{Sink, Source};
pub use error::Error;
use exchange::Exchange;
pub use exchange::Watermarks;
pub use look::{Look, Verdict, WaitShares, Waits};
use pacer::Pacer;
use reader::Reader;
use spill::Spill;
use waits::Clock;
use writer::Writer;

/// Capacity that the pipes on both sides and our own get, where Linux allows it.
const PIPE_BYTES: u64 = 1 << 20;

/// Size of a block of memory: four fit into such a pipe, and into the cache of a CPU beside other things.
const BLOCK_BYTES: u64 = 256 << 10;

/// The least limit: below it, no pieces of a sensible size are left.
pub const LEAST_LIMIT: Bytes = Bytes(64 << 10);

/// How a buffer is to work.
#[derive(Debug)]
pub struct Options {
    /// Memory that may wait, at least [`LEAST_LIMIT`].
    pub limit: Bytes,
    /// When the writer begins and pauses.
    pub watermarks: Watermarks,
    /// The most that may be handed on per second.
    pub rate: Option<Bytes>,
    /// Digest to be made of the stream.
    pub hash: Option<Hash>,
    /// Files that get the stream as well.
    pub copies: Vec<Copy>,
    /// Folder for a file that takes what is over the limit.
    pub spill: Option<PathBuf>,
    /// What Linux allows with pipes.
    pub pipe_limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limit: Bytes(64 << 20),
            watermarks: Watermarks::default(),
            rate: None,
            hash: None,
            copies: Vec::new(),
            spill: None,
            pipe_limits: Limits::DEFAULT,
        }
    }
}

/// What a buffer reports from one of its threads.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// It has ended: everything was handed on, or this went wrong. The last event.
    Ended(Result<(), Error>),
    /// The spill file takes no more; the producer waits from now on. Nothing is lost.
    SpillRefused(io::Error),
}

/// A buffer at work.
#[derive(Debug)]
pub struct Buffer {
    shared: Arc<Shared>,
}

/// What the threads share.
struct Shared {
    source: Source,
    sink: Sink,
    exchange: Exchange,
    clock: Clock,
    spill: Option<Spill>,
    has_copies: bool,
    pipe_bytes: u64,
    block_bytes: usize,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    digest: Mutex<Option<String>>,
    widened: [Option<Widened>; 2],
    has_ended: AtomicBool,
    on_event: Box<dyn Fn(Event) + Send + Sync>,
}

impl Buffer {
    /// Starts to move `input` to `output`; `on_event` is called from the threads of the buffer.
    ///
    /// SIGPIPE must be ignored, as it is in Rust programs, so that a reader that left is an error and not the end.
    ///
    /// # Errors
    /// [`Error::Spill`] when no spill file can be made, [`Error::Thread`] when Linux gives no threads.
    pub fn start(
        input: OwnedFd,
        output: OwnedFd,
        mut options: Options,
        on_event: impl Fn(Event) + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let copies = std::mem::take(&mut options.copies);
        let spill = options
            .spill
            .take()
            .map(|folder| Spill::create(&folder).map_err(|source| Error::Spill { folder, source }));
        let spill = spill.transpose()?;
        let passes_on =
            options.rate.is_none() && options.watermarks.start_percent <= 0.0 && copies.is_empty();
        let pacer = options.rate.map(|rate| Pacer::new(rate.0, Instant::now()));
        let hasher = options.hash.map(Hasher::new);
        let shared = Shared::new(input, output, &options, spill, !copies.is_empty(), on_event);
        let shared = Arc::new(shared);
        let reader = Reader::new(Arc::clone(&shared), passes_on, hasher);
        let writer = Writer::new(Arc::clone(&shared), pacer, copies);
        let start = |name: &str, work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::Thread)
        };
        start("writer", Box::new(|| writer.run()))?;
        start("reader", Box::new(|| reader.run()))?;
        Ok(Self { shared })
    }

    /// How it stands now.
    #[must_use]
    pub fn look(&self) -> Look {
        let shared = &self.shared;
        let (queued, memory, spilled, limit) = shared.exchange.with_queue(|queue| {
            (
                Bytes(queue.queued_bytes()),
                Bytes(queue.memory_bytes()),
                Bytes(queue.spilled_bytes()),
                Bytes(queue.limit_bytes()),
            )
        });
        Look {
            elapsed: shared.clock.elapsed(),
            read: Bytes(shared.read_bytes.load(Ordering::Acquire)),
            written: Bytes(shared.written_bytes.load(Ordering::Relaxed)),
            queued,
            memory,
            spilled,
            limit,
            waits: shared.clock.waits(),
        }
    }

    /// Takes no more from the input; all that [`look`](Self::look) has shown as read is still handed on, then
    /// [`Event::Ended`] comes.
    ///
    /// A read that waits for input is not interrupted. What it takes after this is handed on, too, unless the end comes
    /// first.
    pub fn stop_reading(&self) {
        self.shared.exchange.stop();
    }

    /// The digest in hexadecimal digits, after the end; `None` when the input did not reach its end.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        self.shared.digest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Shared {
    fn new(
        input: OwnedFd,
        output: OwnedFd,
        options: &Options,
        spill: Option<Spill>,
        has_copies: bool,
        on_event: impl Fn(Event) + Send + Sync + 'static,
    ) -> Self {
        let limits = options.pipe_limits;
        let limit = options.limit.max(LEAST_LIMIT);
        let quarter = limit.0 / 4;
        let pipe_bytes = previous_power_of_two(quarter.min(PIPE_BYTES).min(limits.pipe_max.0));
        let budget = pipe_budget(limits);
        let mut left = budget.0;
        let widened = [&input, &output].map(|fd| {
            let widened = (left >= PIPE_BYTES).then(|| widen(fd, Bytes(PIPE_BYTES))).flatten();
            left -= widened.map_or(0, |widened| widened.gained().0.min(left));
            widened
        });
        allow_descriptors(limit.0 / pipe_bytes * 2);
        let pipes = Reservoir::new(Bytes(pipe_bytes), Bytes(left));
        Self {
            source: Source::new(input),
            sink: Sink::new(output),
            exchange: Exchange::new(limit.0, options.watermarks, pipes),
            clock: Clock::start(),
            spill,
            has_copies,
            pipe_bytes,
            block_bytes: usize::try_from(quarter.min(BLOCK_BYTES)).unwrap_or(usize::MAX),
            read_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            digest: Mutex::new(None),
            widened,
            has_ended: AtomicBool::new(false),
            on_event: Box::new(on_event),
        }
    }

    fn count_read(&self, bytes: usize) {
        self.read_bytes.fetch_add(bytes as u64, Ordering::Release);
    }

    fn count_written(&self, bytes: usize) {
        self.written_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn set_digest(&self, digest: String) {
        *self.digest.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest);
    }

    /// The first of the two threads to end the stream says so.
    fn end(&self, result: Result<(), Error>) {
        if self.has_ended.swap(true, Ordering::AcqRel) {
            return;
        }
        let [input, output] = self.widened;
        if let Some(widened) = input {
            widened.put_back(&self.source.fd);
        }
        if let Some(widened) = output {
            widened.put_back(&self.sink.fd);
        }
        (self.on_event)(Event::Ended(result));
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}

fn previous_power_of_two(number: u64) -> u64 {
    1 << number.max(1).ilog2()
}

/// Two descriptors for each pipe are more than the usual soft limit of 1024 leaves; the hard one is there to be used.
fn allow_descriptors(wanted: u64) {
    const OTHERS: u64 = 64;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(wanted + OTHERS, |maximum| maximum.min(wanted + OTHERS));
    if current.is_some_and(|current| current < wanted) {
        // Refused: memory is used instead of pipes.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum });
    }
}
