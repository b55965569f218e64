//! What all tasks of the lab need to tell: text, and when.

use std::io::{ErrorKind, Write, stdout};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, anyhow};

use crate::exit::Exit;

/// Prints text; a reader that leaves early is no failure.
pub(super) fn print(text: &str) -> Result<Exit> {
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(anyhow!("lab: writing standard output: {}", crate::messages::plain(&error)))
        }
        _ => Ok(Exit::Done),
    }
}

/// Now, since 1970-01-01 UTC.
pub(super) fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
