//! What the code of a process says about an address: its function, the call before it, where a call leads.

#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
#[cfg(any(target_arch = "x86_64", test))]
mod x86_64;

use std::ops::Range;

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

/// Whether a function was called where it is supposed to return to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fit {
    /// It was not: something else was called there, or nothing.
    Impossible,
    /// It may have been.
    Possible,
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
        if self.space.find(returns_to.wrapping_sub(1)).is_none() {
            return Call::None;
        }
        let before = |bytes: usize| self.bytes(returns_to.checked_sub(bytes as u64)?, bytes);
        let found = (1..=isa::CALL_BYTES_MAX).rev().find_map(before);
        found.map_or(Call::Unknown, |code| isa::call(code, returns_to))
    }

    /// Whether the code at `callee` may return to `returns_to`.
    pub(crate) fn fit(&self, callee: u64, returns_to: u64) -> Fit {
        let target = match self.call_before(returns_to) {
            Call::None => return Fit::Impossible,
            Call::Direct(target) => target,
            Call::Indirect | Call::Unknown => return Fit::Possible,
        };
        let Some(function) = self.function(callee) else {
            return if self.function(target).is_some_and(|called| self.stays_in(&called)) {
                Fit::Impossible
            } else {
                Fit::Possible
            };
        };
        if target == function.start {
            return Fit::Sure;
        }
        let Some(called) = self.function(target) else { return Fit::Possible };
        if called.start != target || self.may_jump_to(&called, &function) {
            Fit::Possible
        } else {
            Fit::Impossible
        }
    }

    /// Whether a function may leave itself by a jump into another (a tail call, or a part of it that the compiler moved
    /// away), or by a jump whose target only the registers know.
    fn may_jump_to(&self, from: &Range<u64>, to: &Range<u64>) -> bool {
        let Some(code) = self.text_of(from) else { return true };
        isa::jumps(code, from.start).any(|target| target.is_none_or(|target| to.contains(&target)))
    }

    /// Whether a function is known to call or return, and never to jump elsewhere.
    fn stays_in(&self, function: &Range<u64>) -> bool {
        self.text_of(function).is_some_and(|code| {
            isa::jumps(code, function.start)
                .all(|target| target.is_some_and(|target| function.contains(&target)))
        })
    }

    fn text_of(&self, function: &Range<u64>) -> Option<&'a [u8]> {
        let length = usize::try_from(function.end.checked_sub(function.start)?).ok()?;
        self.bytes(function.start, length)
    }
}

/// Nothing is followed elsewhere.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod isa {
    use super::Call;

    pub(super) const CALL_BYTES_MAX: usize = 4;

    pub(super) fn call(_: &[u8], _: u64) -> Call {
        Call::Unknown
    }

    pub(super) fn jumps(_: &[u8], _: u64) -> impl Iterator<Item = Option<u64>> {
        std::iter::once(None)
    }
}
