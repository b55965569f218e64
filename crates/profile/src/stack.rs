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

/// A function that was being executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// An address in it: what is executed next, or the last byte of the call that has not returned.
    pub(crate) address: u64,
    /// How it comes to be on the stack.
    pub(crate) by: By,
    /// The frame pointer while it runs, as far as it is known.
    pub(crate) frame: u64,
    /// The stack pointer while it runs.
    pub(crate) pointer: u64,
}

/// Why a function is on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// It is executed, or a signal interrupted it.
    Running,
    /// It called the one before.
    Call,
    /// A handler of a signal returns to it.
    Signal,
}

/// Functions that were followed, innermost first.
#[derive(Clone, Debug)]
pub(crate) struct Followed {
    pub(crate) steps: Vec<Step>,
    /// The outermost is where the thread began.
    pub(crate) is_whole: bool,
    /// … because tables say that nothing called it, and not because it returns to the address 0.
    pub(crate) is_sure: bool,
    /// The address that was to be read last, if it is not part of what is known of the stack.
    pub(crate) missing: Option<u64>,
}

impl Followed {
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.steps.iter().map(|step| step.address)
    }
}
