//! One function that was being executed, as an address until it gets its name.

/// A program or a library, as [`crate::Callers`] numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BinaryId(pub(crate) u32);

/// An address in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Frame {
    /// In a program or a library.
    Code {
        /// Which one.
        binary: BinaryId,
        /// Where in its file, in bytes.
        offset: u64,
    },
    /// In the kernel.
    Kernel(u64),
    /// In memory without a file: code that a process made itself.
    Made {
        /// The process.
        pid: i32,
        /// The address.
        address: u64,
    },
    /// The callers above are not known: the stack could not be followed further.
    Cut,
}
