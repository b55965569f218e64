//! Stands for `unwind` on CPUs whose stacks framehop cannot follow: only the innermost function is known.

use crate::binary::Binaries;
use crate::space::Space;
use crate::stack::{By, Followed, Stack, Step};

/// Nothing is needed of the binaries.
pub(crate) struct Native;
/// Nothing is kept.
#[derive(Default)]
pub(crate) struct Cache;

/// Takes in nothing.
pub(crate) fn unwinder(_: &Space, _: &Binaries) -> Native {
    Native
}

/// Returns the address that was being executed; its callers stay unknown.
pub(crate) fn follow(
    _: &Native,
    _: &mut Cache,
    stack: &Stack<'_>,
    _: Option<u64>,
    _: impl Fn(u64) -> bool,
) -> Followed {
    let step = Step { address: stack.instruction, by: By::Running, frame: 0, pointer: 0 };
    Followed { steps: vec![step], is_whole: false, is_sure: false, missing: None }
}
