//! Too little memory.

use std::alloc::{Layout, handle_alloc_error};
use std::fmt;

/// There is no memory for more keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

impl NoMemory {
    /// Ends the process as an allocation does that cannot fail.
    #[cold]
    pub(super) fn abort(self) -> ! {
        handle_alloc_error(Layout::new::<[u8; 64]>())
    }
}

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is not enough memory")
    }
}

impl std::error::Error for NoMemory {}
