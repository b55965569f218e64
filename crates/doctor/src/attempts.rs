//! What Linux lets this process do, tried on things of its own.

use std::error::Error;
use std::io::{self, ErrorKind};

use fullbore_measure::Bytes;
use fullbore_perf::Switches;
use fullbore_pipe::{Lender, capacity, set_capacity};

/// What came of trying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It works.
    Works,
    /// Linux refused; the text says why.
    Refused(String),
    /// It could not be tried; the text says why.
    NotTried(String),
}

/// What was tried. Everything happens to pipes and memory that are made for it, and is over when [`Attempts::make`] returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempts {
    /// Lending a page to a pipe: vmsplice(2).
    pub lend_page: Attempt,
    /// Counting switches of threads: perf_event_open(2).
    pub count_switches: Attempt,
    /// Capacity of a new pipe; `None` where it could not be made.
    pub new_pipe: Option<Bytes>,
    /// Enlarging a new pipe to 1 MiB.
    pub enlarge_pipe: Attempt,
    /// Size of a page, in bytes.
    pub page_bytes: u64,
}

/// What `fullbore run` enlarges pipes to.
const WIDE: Bytes = Bytes(1 << 20);

impl Attempts {
    /// Tries everything. That takes about a millisecond.
    #[must_use]
    pub fn make() -> Self {
        let (new_pipe, enlarge_pipe) = match std::io::pipe() {
            Err(error) => (None, Attempt::NotTried(error.to_string())),
            Ok((_reader, writer)) => (
                capacity(&writer).ok(),
                match set_capacity(&writer, WIDE) {
                    Ok(_) => Attempt::Works,
                    Err(refused) => Attempt::Refused(refused.to_string()),
                },
            ),
        };
        Self {
            lend_page: lend_page(),
            count_switches: count_switches(),
            new_pipe,
            enlarge_pipe,
            page_bytes: rustix::param::page_size() as u64,
        }
    }
}

fn count_switches() -> Attempt {
    let Some(refused) = Switches::of_descendants().err() else { return Attempt::Works };
    let error = refused.source().and_then(|source| source.downcast_ref::<io::Error>());
    let text = refused.to_string();
    match error.map(io::Error::kind) {
        Some(ErrorKind::PermissionDenied | ErrorKind::Unsupported) => Attempt::Refused(text),
        // Such as a machine whose CPUs are not known because /sys is not mounted.
        _ => Attempt::NotTried(text),
    }
}

fn lend_page() -> Attempt {
    const LENT: usize = 1;
    let made = std::io::pipe().and_then(|ends| Ok((ends, Lender::new(0).piece()?)));
    let ((_reader, writer), piece) = match made {
        Ok(made) => made,
        Err(error) => return Attempt::NotTried(error.to_string()),
    };
    match piece.freeze(LENT).lend(&writer, 0..LENT) {
        Ok(_) => Attempt::Works,
        Err(error) => Attempt::Refused(error.to_string()),
    }
}
