//! The callers of a thread that waits: Linux tells where it is and its stack pointer, and not its frame pointer.
//!
//! Functions whose frame has a fixed size need no frame pointer, and the wrappers of system calls leave that register alone.
//! So it is missed first by the innermost function whose frame has no fixed size (alloca(3), arrays of variable length), or
//! by any function of a program built without optimization. Its frame is looked for on the stack, by what is known of it:
//! it ends in an address to return to, and the call before that address leads to this function.

use crate::code::{Code, Fit};
use crate::stack::{By, Followed, Stack, Step};

/// So many places are tried.
const CANDIDATES_MAX: usize = 24;

/// A function rarely has more local variables than this.
const LARGE_FRAME_BYTES: u64 = 64 << 10;

/// How much speaks for a frame: first the call into the function, then that its callers are known to the beginning.
type Weight = (Fit, bool);

/// Returns `first`, followed without a frame pointer, with the callers of its outermost function if they can be found.
/// `follow` does it again with a frame pointer.
///
/// Old frames may be left on the stack, in variables that were not set. Where two places are as likely and lead to other
/// callers, only those are returned that both have.
pub(crate) fn go_on(
    first: Followed,
    stack: &Stack<'_>,
    code: Code<'_>,
    mut follow: impl FnMut(u64) -> Followed,
) -> Followed {
    let Some(last) = first.steps.len().checked_sub(1) else { return first };
    let mut chosen: Option<(Weight, Followed)> = None;
    for candidate in candidates(first.steps[last], stack, code) {
        let is_its_caller = |(_, other): &(Weight, Followed)| {
            other.steps[last..].iter().any(|step| step.frame == candidate)
        };
        if chosen.as_ref().is_some_and(is_its_caller) {
            continue;
        }
        let other = follow(candidate);
        let Some(weight) = weight(&other, last, stack, code) else { continue };
        match &mut chosen {
            Some((known, _)) if weight < *known => {}
            Some((known, best)) if weight == *known => agree(best, &other),
            _ => chosen = Some((weight, other)),
        }
    }
    chosen.map_or(first, |(_, followed)| followed)
}

/// Places on the stack that may be what the frame pointer of this function points to, the innermost first: the frame pointer
/// of a caller, and above it the address to which it returns.
fn candidates(of: Step, stack: &Stack<'_>, code: Code<'_>) -> impl Iterator<Item = u64> {
    let (words, _) = stack.bytes.as_chunks::<8>();
    let end = stack.pointer.saturating_add(stack.bytes.len() as u64);
    let found = words.windows(2).enumerate().filter_map(move |(place, pair)| {
        let (saved, returns_to) = (u64::from_ne_bytes(pair[0]), u64::from_ne_bytes(pair[1]));
        let at = stack.pointer + place as u64 * 8;
        code.space.find(returns_to)?;
        // Callers that need no frame pointer may have anything in that register.
        let is_chain = saved == 0 || saved > at && saved < end && saved.is_multiple_of(8);
        let needed = if is_chain { Fit::Possible } else { Fit::Sure };
        (code.fit(of.address, returns_to) >= needed).then_some(at)
    });
    found.take(CANDIDATES_MAX)
}

/// What speaks for the callers found after the step `last`; `None` if they cannot be right.
fn weight(other: &Followed, last: usize, stack: &Stack<'_>, code: Code<'_>) -> Option<Weight> {
    let (callee, caller) = (other.steps.get(last)?, other.steps.get(last + 1)?);
    let is_impossible = |pair: &[Step]| {
        pair[1].by == By::Call && code.fit(pair[0].address, pair[1].address + 1) == Fit::Impossible
    };
    if other.steps[last..].windows(2).any(is_impossible) {
        return None;
    }
    let fit = code.fit(callee.address, caller.address + 1);
    // What the tables of the binary call the beginning is one; a frame pointer of 0 may be anything.
    let outermost = other.steps.last()?;
    let is_whole = other.is_whole && code.function(outermost.address).is_some();
    // What leads behind the part of the stack that is known may go on there.
    let end = stack.pointer.saturating_add(stack.bytes.len() as u64);
    let goes_on = |missing: u64| missing >= end && missing - end < LARGE_FRAME_BYTES;
    let may_be = is_whole || fit == Fit::Sure || other.missing.is_some_and(goes_on);
    may_be.then_some((fit, is_whole))
}

/// Leaves what both have.
fn agree(best: &mut Followed, other: &Followed) {
    let same = best.addresses().zip(other.addresses()).take_while(|(one, two)| one == two).count();
    if same < best.steps.len() || same < other.steps.len() {
        best.steps.truncate(same);
        best.is_whole = false;
        best.missing = None;
    }
}
