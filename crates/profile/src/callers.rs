//! From registers and a copy of the stack to the functions that were being executed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::binary::{Binaries, Binary};
use crate::frame::{BinaryId, Frame};
use crate::space::{Mapped, Space};
use crate::stack::{Followed, Stack};
use crate::unwind::{Cache, Native, follow, unwinder};

/// So many places are tried as the frame pointer of a thread whose registers are not known.
const CANDIDATES_MAX: usize = 24;

/// A function rarely has more local variables than this.
const LARGE_FRAME_BYTES: u64 = 64 << 10;

/// `mov $15, %rax; syscall`, as glibc and musl have it.
const RETURN_FROM_SIGNAL: &[u8] = &[0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05];

/// One process.
#[derive(Default)]
struct Process {
    space: Space,
    /// Made when it is needed, and again when something was mapped.
    unwinder: Option<Native>,
}

/// Finds callers, for many processes.
#[derive(Default)]
pub struct Callers {
    processes: HashMap<i32, Process>,
    binaries: Binaries,
    cache: Cache,
}

impl std::fmt::Debug for Callers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Callers of {} processes", self.processes.len())
    }
}

impl Callers {
    /// A process maps code, in place of what was there. `read` gives the file when its path is met for the first time.
    pub fn map(&mut self, pid: i32, mapped: Mapped, read: impl FnOnce() -> Option<Vec<u8>>) {
        if !mapped.path.is_empty() {
            self.binaries.of(&mapped.path, read);
        }
        let process = self.processes.entry(pid).or_default();
        process.space.map(mapped);
        process.unwinder = None;
    }

    /// Whether it is known what a process has at this address.
    #[must_use]
    pub fn knows(&self, pid: i32, address: u64) -> bool {
        self.processes.get(&pid).is_some_and(|process| process.space.find(address).is_some())
    }

    /// A process called execve(2): nothing is mapped.
    pub fn clear(&mut self, pid: i32) {
        self.processes.remove(&pid);
    }

    /// A process was started by another, and has mapped what that has.
    pub fn fork(&mut self, parent: i32, child: i32) {
        if let Some(space) = self.processes.get(&parent).map(|parent| parent.space.clone()) {
            self.processes.insert(child, Process { space, unwinder: None });
        }
    }

    /// The functions that were being executed, innermost first. Where callers cannot be found, the last is [`Frame::Cut`].
    pub fn of(&mut self, pid: i32, stack: Stack<'_>) -> Vec<Frame> {
        let Some(process) = self.processes.get_mut(&pid) else { return vec![Frame::Cut] };
        let unwinder =
            process.unwinder.get_or_insert_with(|| unwinder(&process.space, &self.binaries));
        let cache = &mut self.cache;
        let (space, binaries) = (&process.space, &self.binaries);
        let from_signal = |address| returns_from_signal(address, space, binaries);
        let mut best = follow(unwinder, cache, &stack, stack.frame, from_signal);
        if stack.frame.is_none() && !best.is_whole {
            let end = stack.pointer.saturating_add(stack.bytes.len() as u64);
            let behind = end..end.saturating_add(LARGE_FRAME_BYTES);
            for candidate in candidates(&stack, space) {
                let other = follow(unwinder, cache, &stack, Some(candidate), from_signal);
                // What the tables of the binary call the beginning is one; a frame pointer of 0 may be anything.
                let last = other.addresses.last();
                let is_whole =
                    other.is_whole && last.is_some_and(|last| has_table(*last, space, binaries));
                if is_whole {
                    best = other;
                    break;
                }
                // What leads behind the part of the stack that is known may go on there.
                let goes_on = other.missing.is_some_and(|address| behind.contains(&address));
                if goes_on && other.addresses.len() > best.addresses.len() {
                    best = Followed { is_whole: false, ..other };
                }
            }
        }
        let mut frames: Vec<Frame> = Vec::with_capacity(best.addresses.len() + 1);
        for address in best.addresses {
            let Some(mapped) = process.space.find(address) else { continue };
            frames.push(frame(pid, address, mapped, &mut self.binaries));
        }
        if !best.is_whole {
            frames.push(Frame::Cut);
        }
        frames
    }

    pub(crate) fn binary(&self, id: BinaryId) -> &Arc<Binary> {
        self.binaries.get(id)
    }
}

/// Whether the tables for unwinding have the function at this address.
fn has_table(address: u64, space: &Space, binaries: &Binaries) -> bool {
    let found = space.find(address).and_then(|mapped| {
        let binary = binaries.get(binaries.known(&mapped.path)?);
        binary.function_at(binary.address_of(mapped.offset + (address - mapped.start))?)
    });
    found.is_some()
}

/// Whether the code at this address asks Linux to return from a handler of a signal (rt_sigreturn(2)).
fn returns_from_signal(address: u64, space: &Space, binaries: &Binaries) -> bool {
    let code = || {
        let mapped = space.find(address)?;
        let offset = mapped.offset + (address - mapped.start);
        binaries.get(binaries.known(&mapped.path)?).code(offset, RETURN_FROM_SIGNAL.len())
    };
    cfg!(target_arch = "x86_64") && code() == Some(RETURN_FROM_SIGNAL)
}

fn frame(pid: i32, address: u64, mapped: &Mapped, binaries: &mut Binaries) -> Frame {
    if mapped.path.is_empty() {
        return Frame::Made { pid, address };
    }
    let binary = binaries.of(&mapped.path, || None);
    Frame::Code { binary, offset: mapped.offset + (address - mapped.start) }
}

/// Places on the stack that may be what the frame pointer points to: the frame pointer of a caller further out, and above it
/// an address in code, to which the function returns.
///
/// The wrappers of system calls leave that register alone, so it belongs to one of their callers.
fn candidates(stack: &Stack<'_>, space: &Space) -> Vec<u64> {
    let (words, _) = stack.bytes.as_chunks::<8>();
    let end = stack.pointer.saturating_add(stack.bytes.len() as u64);
    let mut found = Vec::new();
    for (place, pair) in words.windows(2).enumerate() {
        let (saved, returns_to) = (u64::from_ne_bytes(pair[0]), u64::from_ne_bytes(pair[1]));
        let at = stack.pointer + place as u64 * 8;
        let is_frame = saved == 0 || saved > at && saved < end && saved.is_multiple_of(8);
        if is_frame && space.find(returns_to).is_some() {
            found.push(at);
            if found.len() == CANDIDATES_MAX {
                break;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::FRAMES_MAX;

    #[test]
    fn a_process_of_which_nothing_is_known_has_no_callers() {
        let stack = Stack { instruction: 1, pointer: 2, frame: None, link: 0, bytes: &[0; 64] };
        assert_eq!(Callers::default().of(7, stack), [Frame::Cut]);
    }

    #[test]
    fn any_stack_does_no_harm() {
        let mut callers = Callers::default();
        let path = std::env::current_exe().unwrap().to_string_lossy().into_owned();
        let file = std::fs::read(&path).unwrap();
        let mapped = Mapped { start: 0x40_0000, end: 0x4000_0000, offset: 0, path };
        callers.map(7, mapped, || Some(file));
        let bytes: Vec<u8> =
            (0..4096_u32).flat_map(|word| (0x40_0000 + word * 977).to_ne_bytes()).collect();
        for instruction in (0x40_0000..0x80_0000).step_by(4099) {
            for frame in [None, Some(u64::MAX), Some(0x7ff0_0100)] {
                let pointer = 0x7ff0_0000;
                let stack = Stack { instruction, pointer, frame, link: 0, bytes: &bytes };
                assert!(callers.of(7, stack).len() <= FRAMES_MAX + 1);
            }
        }
    }
}
