//! What the code of a process says about an address: its function, the call before it, where a call leads.

#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
#[cfg(any(target_arch = "x86_64", test))]
mod x86_64;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

#[cfg(target_arch = "aarch64")]
use aarch64 as isa;
#[cfg(target_arch = "x86_64")]
use x86_64 as isa;

use crate::binary::{Binaries, Binary};
use crate::space::Space;

/// The code of one process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Code<'a> {
    pub(crate) space: &'a Space,
    pub(crate) binaries: &'a Binaries,
}

/// The instruction before an address to which a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// It calls nothing: no function returns to that address.
    None,
    /// It calls the function at this address.
    Direct(u64),
    /// It calls what a register or memory has.
    Indirect,
    /// The code cannot be read.
    Unknown,
}

/// A jump out of a function, or within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Jump {
    /// To this address.
    To(u64),
    /// To this address, which is near: where instructions are as long as they like, many bytes look so that are none.
    Near(u64),
    /// To what a register or memory has.
    Anywhere,
}

/// Whether a function was called where it is supposed to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It was not: something else was called there, or nothing.
    Impossible,
    /// It may have been: what was called there is not known.
    Possible,
    /// What was called there leads to it by jumps.
    Likely,
    /// It was: that call leads there and nowhere else.
    Sure,
}

/// `mov $15, %rax; syscall`, as glibc and musl have it.
const RETURN_FROM_SIGNAL: &[u8] = &[0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05];

impl<'a> Code<'a> {
    /// The binary that is mapped there, and the difference between addresses in memory and those that the file counts.
    fn binary_at(&self, address: u64) -> Option<(&'a Binary, u64)> {
        let mapped = self.space.find(address)?;
        let binary = self.binaries.get(self.binaries.known(&mapped.path)?);
        let in_file = binary.address_of(mapped.offset + (address - mapped.start))?;
        Some((binary, address.wrapping_sub(in_file)))
    }

    /// So many bytes of code at this address.
    fn bytes(&self, address: u64, length: usize) -> Option<&'a [u8]> {
        let mapped = self.space.find(address)?;
        let binary = self.binaries.get(self.binaries.known(&mapped.path)?);
        binary.code(mapped.offset + (address - mapped.start), length)
    }

    /// The function that has this address, by the tables for unwinding.
    pub(crate) fn function(&self, address: u64) -> Option<Range<u64>> {
        let (binary, base) = self.binary_at(address)?;
        let function = binary.function_at(address.wrapping_sub(base))?;
        Some(function.start.wrapping_add(base)..function.end.wrapping_add(base))
    }

    /// Whether the code at this address asks Linux to return from a handler of a signal (rt_sigreturn(2)).
    pub(crate) fn returns_from_signal(&self, address: u64) -> bool {
        cfg!(target_arch = "x86_64")
            && self.bytes(address, RETURN_FROM_SIGNAL.len()) == Some(RETURN_FROM_SIGNAL)
    }

    /// What was called where a function returns to this address.
    pub(crate) fn call_before(&self, returns_to: u64) -> Call {
        let before = |bytes: usize| self.bytes(returns_to.checked_sub(bytes as u64)?, bytes);
        let found = (1..=isa::CALL_BYTES_MAX).rev().find_map(before);
        found.map_or(Call::Unknown, |code| isa::call(code, returns_to))
    }

    /// How far above the stack pointer the frame pointer of a function is, if it begins as most do that have one. While memory is
    /// taken from the stack, for instance by alloca(3), it is further.
    pub(crate) fn frame_bytes(&self, function: &Range<u64>) -> Option<u64> {
        isa::frame_bytes(self.text_of(function)?)
    }

    /// The code of a function, unless it is long.
    fn text_of(&self, function: &Range<u64>) -> Option<&'a [u8]> {
        let length = usize::try_from(function.end.checked_sub(function.start)?).ok()?;
        self.bytes(function.start, length).filter(|_| length <= SEARCHED_BYTES_MAX)
    }
}

/// Longer functions are not searched for jumps.
const SEARCHED_BYTES_MAX: usize = 64 << 10;

/// A function calls another by so many jumps at most.
const JUMPS_MAX: usize = 3;

/// Calls in the code of one process. What was found is remembered.
#[derive(Debug)]
pub(crate) struct Calls<'a> {
    pub(crate) code: Code<'a>,
    /// Functions that each leaves to by a jump; `None` if it may be any.
    jumps: RefCell<HashMap<u64, Option<Rc<[u64]>>>>,
    fits: RefCell<HashMap<(u64, u64), Fit>>,
}

impl<'a> Calls<'a> {
    pub(crate) fn new(code: Code<'a>) -> Self {
        Self { code, jumps: RefCell::default(), fits: RefCell::default() }
    }

    /// Whether the code at `callee` may return to `returns_to`.
    pub(crate) fn fit(&self, callee: u64, returns_to: u64) -> Fit {
        if let Some(known) = self.fits.borrow().get(&(callee, returns_to)) {
            return *known;
        }
        let fit = self.find_fit(callee, returns_to);
        self.fits.borrow_mut().insert((callee, returns_to), fit);
        fit
    }

    fn find_fit(&self, callee: u64, returns_to: u64) -> Fit {
        // No call comes before what a handler of a signal returns to.
        if self.code.returns_from_signal(returns_to) {
            return Fit::Possible;
        }
        let target = match self.code.call_before(returns_to) {
            Call::None => return Fit::Impossible,
            Call::Direct(target) => target,
            Call::Indirect | Call::Unknown => return Fit::Possible,
        };
        let callee = self.code.function(callee);
        if callee.as_ref().is_some_and(|function| function.start == target) {
            return Fit::Sure;
        }
        let Some(called) = self.code.function(target) else { return Fit::Possible };
        self.fit_by_jumps(&called, callee.as_ref(), JUMPS_MAX)
    }

    /// Whether a function leaves itself by jumps into another (tail calls, parts that the compiler moved away), or may do so
    /// by a jump whose target only a register or memory knows, as those of the tables for dynamic linking are. `to` is
    /// `None` for code without tables: only what has none leads there.
    fn fit_by_jumps(&self, from: &Range<u64>, to: Option<&Range<u64>>, jumps: usize) -> Fit {
        let Some(targets) = self.jumps_of(from) else { return Fit::Possible };
        let fit = |target: &u64| {
            if to.is_some_and(|to| to.contains(target)) {
                return Fit::Likely;
            }
            match self.code.function(*target) {
                Some(next) if jumps > 0 => self.fit_by_jumps(&next, to, jumps - 1),
                _ => Fit::Possible,
            }
        };
        targets.iter().map(fit).max().unwrap_or(Fit::Impossible)
    }

    fn jumps_of(&self, function: &Range<u64>) -> Option<Rc<[u64]>> {
        if let Some(known) = self.jumps.borrow().get(&function.start) {
            return known.clone();
        }
        let found = self.code.text_of(function).and_then(|code| {
            let outside = |jump| match jump {
                Jump::Anywhere => Some(None),
                // To what is no code, the bytes only look like a jump.
                Jump::To(to) => {
                    let leaves = !function.contains(&to) && self.code.space.find(to).is_some();
                    leaves.then_some(Some(to))
                }
                Jump::Near(to) => {
                    let leaves = !function.contains(&to)
                        && self.code.function(to).is_some_and(|other| other.start == to);
                    leaves.then_some(Some(to))
                }
            };
            isa::jumps(code, function.start).filter_map(outside).collect::<Option<Rc<[u64]>>>()
        });
        self.jumps.borrow_mut().insert(function.start, found.clone());
        found
    }
}

/// Nothing is followed elsewhere.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod isa {
    use super::{Call, Jump};

    pub(super) const CALL_BYTES_MAX: usize = 4;

    pub(super) fn call(_: &[u8], _: u64) -> Call {
        Call::Unknown
    }

    pub(super) fn frame_bytes(_: &[u8]) -> Option<u64> {
        None
    }

    pub(super) fn jumps(_: &[u8], _: u64) -> impl Iterator<Item = Jump> {
        std::iter::once(Jump::Anywhere)
    }
}
