//! What the two threads of a buffer share.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use fullbore_measure::Bytes;
use fullbore_pipe::pipe_budget;

use super::ends::{Sink, Source};
use super::error::Error;
use super::handoff::Handoff;
use super::options::{LEAST_LIMIT, Options};
use super::spill::Spill;
use super::status::Status;
use super::waits::Clock;

/// Size of a block of memory: large compared with a system call, yet small enough to share a CPU's cache.
const BLOCK_BYTES: u64 = 256 << 10;

/// What a buffer reports from one of its threads.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// The buffer has ended: it wrote everything, or this error stopped it. This is the last event.
    Ended(Result<(), Error>),
    /// The spill file takes no more, so the producer waits from now on. Nothing is lost.
    SpillRefused(io::Error),
}

/// A callback from a thread of the buffer.
type OnEvent = Box<dyn Fn(Event) + Send + Sync>;

pub(super) struct Shared {
    pub(super) source: Source,
    pub(super) sink: Sink,
    pub(super) handoff: Handoff,
    pub(super) clock: Clock,
    pub(super) spill: Option<Spill>,
    pub(super) block_bytes: usize,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
    digest: Mutex<Option<String>>,
    has_ended: AtomicBool,
    pub(super) on_event: OnEvent,
}

impl Shared {
    pub(super) fn new(
        input: OwnedFd,
        output: OwnedFd,
        options: &Options,
        spill: Option<Spill>,
        on_event: OnEvent,
    ) -> Result<Self, Error> {
        let limit = options.limit.max(LEAST_LIMIT);
        let mut budget = pipe_budget(options.pipe_limits);
        Ok(Self {
            source: Source::new(input, &mut budget)?,
            sink: Sink::new(output, &mut budget),
            handoff: Handoff::new(limit.0, options.watermarks),
            clock: Clock::start(),
            spill,
            block_bytes: usize::try_from(BLOCK_BYTES.min(limit.0 / 4)).unwrap_or(usize::MAX),
            read_bytes: AtomicU64::new(0),
            written_bytes: AtomicU64::new(0),
            digest: Mutex::new(None),
            has_ended: AtomicBool::new(false),
            on_event,
        })
    }

    pub(super) fn count_read(&self, bytes: usize) {
        self.read_bytes.fetch_add(bytes as u64, Ordering::Release);
    }

    pub(super) fn count_written(&self, bytes: usize) {
        self.written_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn set_digest(&self, digest: String) {
        *self.digest.lock().unwrap_or_else(PoisonError::into_inner) = Some(digest);
    }

    pub(super) fn digest(&self) -> Option<String> {
        self.digest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn status(&self) -> Status {
        let (queued, memory, spilled, limit) = self.handoff.with_queue(|queue| {
            (
                Bytes(queue.queued_bytes()),
                Bytes(queue.memory_bytes()),
                Bytes(queue.spilled_bytes()),
                Bytes(queue.limit_bytes()),
            )
        });
        Status {
            elapsed: self.clock.elapsed(),
            read: Bytes(self.read_bytes.load(Ordering::Acquire)),
            written: Bytes(self.written_bytes.load(Ordering::Relaxed)),
            queued,
            memory,
            spilled,
            limit,
            waits: self.clock.waits(),
        }
    }

    /// Tells the reader to stop, wherever it waits.
    pub(super) fn stop_reading(&self) {
        self.handoff.stop();
        self.source.stop();
    }

    /// Reports the end of the stream, from the first of the two threads to end it.
    pub(super) fn end(&self, result: Result<(), Error>) {
        if self.has_ended.swap(true, Ordering::AcqRel) {
            return;
        }
        self.source.put_back();
        self.sink.put_back();
        (self.on_event)(Event::Ended(result));
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("handoff", &self.handoff).finish_non_exhaustive()
    }
}
