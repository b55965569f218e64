//! The stack of a thread, and what was found by following it.

/// Deeper callers are not looked for.
pub(crate) const FRAMES_MAX: usize = 512;

/// Where a thread is.
#[derive(Clone, Copy, Debug)]
pub struct Stack<'a> {
    /// The program counter.
    pub instruction: u64,
    /// The stack pointer.
    pub pointer: u64,
    /// The frame pointer; `None` when it is not known: Linux tells only the other two of a thread that waits.
    pub frame: Option<u64>,
    /// The link register, where there is one.
    pub link: u64,
    /// The stack from the pointer on, as much as is known.
    pub bytes: &'a [u8],
}

/// Addresses that were followed.
pub(crate) struct Followed {
    pub(crate) addresses: Vec<u64>,
    /// The outermost is where the thread began.
    pub(crate) is_whole: bool,
    /// The address that was to be read last, if it is not part of what is known of the stack.
    pub(crate) missing: Option<u64>,
}
