//! The callers of a thread that waits: Linux tells where it is and its stack pointer, and not its frame pointer.
//!
//! Functions whose frame has a fixed size need no frame pointer, and the wrappers of system calls leave that register alone.
//! So it is missed first by the innermost function whose frame has no fixed size (alloca(3), arrays of variable length), or
//! by any function of a program built without optimization. Its frame is looked for on the stack, by what is known of it:
//! it ends in an address to return to, and the call before that address leads to this function.

use crate::code::{Calls, Code, Fit};
use crate::stack::{By, Followed, Stack, Step};

/// So many places are tried.
const CANDIDATES_MAX: usize = 24;

/// A function rarely has more local variables than this.
const LARGE_FRAME_BYTES: u64 = 64 << 10;

/// What speaks for callers that were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Weight {
    /// The call into the function.
    fit: Fit,
    /// They lead to the beginning of the thread.
    is_whole: bool,
    /// The frame is where it is if the function has not taken more of the stack than at its beginning.
    is_expected: bool,
}

impl Weight {
    /// Whether these are believed, whatever speaks for the other ones.
    fn beats(self, other: Self) -> bool {
        let is_good = |weight: Self| weight.is_whole || weight.fit >= Fit::Likely;
        if is_good(self) && is_good(other) && self.is_expected != other.is_expected {
            return self.is_expected;
        }
        is_good(self) && !is_good(other)
            || self.fit >= other.fit && self.is_whole && !other.is_whole
    }
}

/// Callers that were found.
struct Found {
    weight: Weight,
    followed: Followed,
    /// The place where they begin, and all of them.
    place: u64,
    callers: Vec<Step>,
}

impl Found {
    /// Whether a place is a frame of one of the callers, or has what one of them returns to.
    fn has(&self, place: u64, returns_to: u64) -> bool {
        let is_further = place > self.place;
        self.callers.iter().any(|step| {
            step.frame == place
                || is_further && step.by == By::Call && step.address + 1 == returns_to
        })
    }
}

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
    let calls = Calls::new(code);
    let asked = first.steps[last];
    let frame_bytes = code.function(asked.address).and_then(|function| code.frame_bytes(&function));
    let expected = frame_bytes.and_then(|bytes| asked.pointer.checked_add(bytes));
    let mut chosen: Option<Found> = None;
    for (place, returns_to) in candidates(asked, stack, &calls) {
        if chosen.as_ref().is_some_and(|found| found.has(place, returns_to)) {
            continue;
        }
        let mut followed = follow(place);
        let Some(mut weight) = weigh(&mut followed, last, stack, &calls) else { continue };
        weight.is_expected = expected == Some(place);
        let callers = followed.steps[last..].to_vec();
        match &mut chosen {
            Some(found) if found.weight.beats(weight) => {}
            Some(found) if !weight.beats(found.weight) => {
                agree(&mut found.followed, &followed);
                found.callers.extend(callers);
            }
            _ => chosen = Some(Found { weight, followed, place, callers }),
        }
    }
    chosen.map_or(first, |found| found.followed)
}

/// Places on the stack that may be what the frame pointer of this function points to, the innermost first: the frame pointer
/// of a caller, and above it the address to which it returns, which comes second.
fn candidates(of: Step, stack: &Stack<'_>, calls: &Calls<'_>) -> impl Iterator<Item = (u64, u64)> {
    let (words, _) = stack.bytes.as_chunks::<8>();
    let end = stack.pointer.saturating_add(stack.bytes.len() as u64);
    let found = words.windows(2).enumerate().filter_map(move |(place, pair)| {
        let (saved, returns_to) = (u64::from_ne_bytes(pair[0]), u64::from_ne_bytes(pair[1]));
        let at = stack.pointer + place as u64 * 8;
        calls.code.space.find(returns_to)?;
        // Callers that need no frame pointer may have anything in that register.
        let is_chain = saved == 0 || saved > at && saved < end && saved.is_multiple_of(8);
        let is_handler = || calls.code.returns_from_signal(returns_to);
        let needed = if is_chain || is_handler() { Fit::Possible } else { Fit::Likely };
        (calls.fit(of.address, returns_to) >= needed).then_some((at, returns_to))
    });
    found.take(CANDIDATES_MAX)
}

/// What speaks for the callers found after the step `last`; `None` if they cannot be right. Callers that cannot be right are
/// cut off.
fn weigh(
    other: &mut Followed,
    last: usize,
    stack: &Stack<'_>,
    calls: &Calls<'_>,
) -> Option<Weight> {
    let fit = |pair: &[Step]| match pair[1].by {
        By::Call => calls.fit(pair[0].address, pair[1].address + 1),
        By::Running | By::Signal => Fit::Possible,
    };
    let first = fit(other.steps.get(last..last + 2)?);
    let wrong = other.steps[last..].windows(2).position(|pair| fit(pair) == Fit::Impossible);
    if let Some(wrong) = wrong {
        if first < Fit::Likely {
            return None;
        }
        other.steps.truncate(last + wrong + 1);
        other.is_whole = false;
        other.missing = None;
    }
    // What the tables of the binary call the beginning is one; a frame pointer of 0 may be anything.
    other.is_whole &= other.is_sure;
    // What leads behind the part of the stack that is known may go on there.
    let end = stack.pointer.saturating_add(stack.bytes.len() as u64);
    let goes_on = |missing: u64| missing >= end && missing - end < LARGE_FRAME_BYTES;
    let may_be = other.is_whole || first >= Fit::Likely || other.missing.is_some_and(goes_on);
    may_be.then_some(Weight { fit: first, is_whole: other.is_whole, is_expected: false })
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
