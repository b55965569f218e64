//! An elastic buffer between a producer and a consumer: it takes input up to a limit and writes it out in order.
//!
//! Two threads share a queue. The *reader* reads the input and the *writer* writes the output. Both block, so the
//! buffer works for pipes, files, sockets and terminals alike and never changes how they are opened. While nothing
//! waits, the reader passes pages straight from pipe to pipe. Data that must wait is copied into memory. Beyond the
//! limit it goes to an unlinked file, or the reader waits.
//!
//! The buffer never keeps waiting pages uncopied. A lent page can keep a huge page of 2 MiB from being freed, an
//! unprivileged process cannot tell, and the limit would bound nothing.

mod digest;
mod ends;
mod error;
mod flow;
mod handoff;
mod options;
mod pacer;
mod patience;
mod queue;
mod reader;
mod shared;
mod spill;
pub(crate) mod status;
mod waits;
mod writer;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

pub use digest::Hash;
use digest::Hasher;
pub use error::Error;
pub use options::{Copy, LEAST_LIMIT, Options, Watermarks};
use pacer::Pacer;
use reader::Reader;
pub use shared::Event;
use shared::Shared;
#[cfg(feature = "count")]
pub(crate) use spill::PAGE_BYTES;
pub(crate) use spill::Spill;
pub use status::{Status, Verdict, WaitShares, Waits};
use writer::Writer;

/// A running buffer.
#[derive(Debug)]
pub struct Buffer {
    shared: Arc<Shared>,
}

impl Buffer {
    /// Starts moving `input` to `output`. The buffer's threads call `on_event`.
    ///
    /// Ignore SIGPIPE, as Rust programs do by default, so that a reader that left is an error instead of the process's
    /// end.
    ///
    /// # Errors
    /// [`Error::Spill`] when no spill file can be created, [`Error::Descriptor`] and [`Error::Thread`] when Linux
    /// refuses one.
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
        let shared = Shared::new(input, output, &options, spill, Box::new(on_event))?;
        let shared = Arc::new(shared);
        let reader = Reader::new(Arc::clone(&shared), passes_on, hasher);
        let writer = Writer::new(Arc::clone(&shared), pacer, copies);
        let start = |name: &str, work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.to_owned()).spawn(work).map_err(Error::Thread)
        };
        start("writer", Box::new(|| flow::hand_on(writer)))?;
        start("reader", Box::new(|| flow::take_in(reader)))?;
        Ok(Self { shared })
    }

    /// Returns the buffer's current state.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.status()
    }

    /// Stops reading the input, even while waiting for it. The buffer still writes everything it has read, then reports
    /// [`Event::Ended`].
    pub fn stop_reading(&self) {
        self.shared.stop_reading();
    }

    /// Returns the digest in hexadecimal digits after the end; `None` when the input did not reach its end.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        self.shared.digest()
    }
}
