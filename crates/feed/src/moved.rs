//! Counts what went through a stage.

/// How many bytes went through a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes read from the input.
    pub read: u64,
    /// Bytes that the output took.
    pub written: u64,
}
