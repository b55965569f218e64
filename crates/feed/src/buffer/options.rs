//! Options of a buffer.

use std::fs::File;
use std::path::PathBuf;

use fullbore_measure::Bytes;
use fullbore_pipe::Limits;

use super::digest::Hash;

/// Smallest limit; below it, pieces become too small to be efficient.
pub const LEAST_LIMIT: Bytes = Bytes(64 << 10);

/// Options of a buffer.
#[derive(Debug)]
pub struct Options {
    /// How much memory may hold waiting data, at least [`LEAST_LIMIT`].
    pub limit: Bytes,
    /// When the writer starts and pauses.
    pub watermarks: Watermarks,
    /// Most bytes to write per second.
    pub rate: Option<Bytes>,
    /// Hash function for a digest of the stream.
    pub hash: Option<Hash>,
    /// Files that also receive the stream.
    pub copies: Vec<Copy>,
    /// Folder for a spill file that takes what exceeds the limit.
    pub spill: Option<PathBuf>,
    /// Linux's limits on pipes.
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

/// When the writer starts and pauses, in percent of the limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watermarks {
    /// The writer starts when the fill reaches this, the input ends, or no more fits; 0 means at once.
    pub start_percent: f64,
    /// The writer pauses when the fill falls to this, until it reaches the start again.
    pub stop_percent: f64,
}

impl Default for Watermarks {
    fn default() -> Self {
        Self { start_percent: 0.0, stop_percent: 0.0 }
    }
}

/// A file that also receives the stream.
#[derive(Debug)]
pub struct Copy {
    /// Its name, for messages.
    pub path: PathBuf,
    /// The file, open for writing.
    pub file: File,
}
