//! Why there is no view.

use std::fmt;

use crate::TerminalSize;

/// Why the view refuses to start; the caller goes without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsuitable {
    /// `TERM` is unset, empty or `dumb`: nothing says that the terminal can move its cursor.
    DumbTerminal,
    /// The terminal is too small to show anything useful.
    TooSmall(TerminalSize),
}

impl fmt::Display for Unsuitable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DumbTerminal => write!(
                f,
                "live view: terminal: TERM does not name a terminal that can move its cursor"
            ),
            Self::TooSmall(size) => {
                write!(
                    f,
                    "live view: terminal: {} columns and {} rows are too few",
                    size.columns, size.rows
                )
            }
        }
    }
}

impl std::error::Error for Unsuitable {}
