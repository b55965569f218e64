//! Errors of selecting a kernel.

use std::fmt;

use super::Method;

/// No kernel exists for a method and a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemoryError {
    /// This is not the name of a method or of a task.
    Unknown(String),
    /// No processor has such an instruction for reading.
    CannotRead(Method),
    /// This processor lacks the instructions.
    Unsupported(Method),
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "{name}: no method or task of this name"),
            Self::CannotRead(method) => {
                write!(f, "{method} cannot read; use avx512, avx2, sse2 or scalar")
            }
            Self::Unsupported(method) => write!(f, "this processor has no {method}"),
        }
    }
}

impl std::error::Error for MemoryError {}
