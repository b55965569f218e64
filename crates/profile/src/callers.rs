//! From registers and a copy of the stack to the functions that were being executed.

use std::collections::HashMap;
use std::sync::Arc;

use crate::binary::{Binaries, Binary};
use crate::code::Code;
use crate::frame::{BinaryId, Frame};
use crate::guess;
use crate::space::{Mapped, Space};
use crate::stack::Stack;
use crate::unwind::{Cache, Native, follow, unwinder};

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
        let code = Code { space: &process.space, binaries: &self.binaries };
        let is_signal = |address| code.returns_from_signal(address);
        let mut best = follow(unwinder, cache, &stack, stack.frame, is_signal);
        if stack.frame.is_none() && !best.is_whole {
            let again = |frame| follow(unwinder, cache, &stack, Some(frame), is_signal);
            best = guess::go_on(best, &stack, code, again);
        }
        let mut frames: Vec<Frame> = Vec::with_capacity(best.steps.len() + 1);
        for address in best.addresses() {
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

fn frame(pid: i32, address: u64, mapped: &Mapped, binaries: &mut Binaries) -> Frame {
    if mapped.path.is_empty() {
        return Frame::Made { pid, address };
    }
    let binary = binaries.of(&mapped.path, || None);
    Frame::Code { binary, offset: mapped.offset + (address - mapped.start) }
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
