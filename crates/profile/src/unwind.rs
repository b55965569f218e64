//! Follows a stack from a function to its caller, by the tables of the binary or by frame pointers.

use std::cell::Cell;

use framehop::{
    CacheNative, FrameAddress, MayAllocateDuringUnwind, Module, UnwindRegsNative, Unwinder,
    UnwinderNative,
};

use crate::binary::{Binaries, Section};
use crate::space::Space;
use crate::stack::{By, FRAMES_MAX, Followed, Stack, Step};

/// What is known of the binaries of one process.
pub(crate) type Native = UnwinderNative<Section, MayAllocateDuringUnwind>;
/// Rules that were found before.
pub(crate) type Cache = CacheNative<MayAllocateDuringUnwind>;

/// Takes in the binaries that a process has mapped.
pub(crate) fn unwinder(space: &Space, binaries: &Binaries) -> Native {
    let mut unwinder = Native::new();
    for mapped in space.all() {
        let Some(id) = binaries.known(&mapped.path) else { continue };
        let binary = binaries.get(id);
        let Some(base) = binary.base_of(mapped.start, mapped.offset, mapped.end) else { continue };
        let range = mapped.start..mapped.end;
        let module = Module::new(mapped.path.clone(), range, base, binary.unwind_info());
        unwinder.add_module(module);
    }
    unwinder
}

/// The frame pointer of a thread of which it is not known: no such address can be read, and 0 would stand for the beginning
/// of a stack.
const UNKNOWN: u64 = 1;

/// Returns the functions that were being executed; `frame` is the frame pointer, if it is known, and `returns_from_signal`
/// tells of an address whether the code there is what a handler of a signal returns to.
pub(crate) fn follow(
    unwinder: &Native,
    cache: &mut Cache,
    stack: &Stack<'_>,
    frame: Option<u64>,
    returns_from_signal: impl Fn(u64) -> bool,
) -> Followed {
    let missing = Cell::new(None);
    let has_read = Cell::new(false);
    let mut read = |address: u64| {
        has_read.set(true);
        missing.set(Some(address));
        let from =
            usize::try_from(address.checked_sub(stack.pointer).ok_or(())?).map_err(|_| ())?;
        let word = stack.bytes.get(from..from.checked_add(8).ok_or(())?).ok_or(())?;
        missing.set(None);
        word.try_into().map(u64::from_ne_bytes).map_err(|_| ())
    };
    let mut registers = registers(stack, frame.unwrap_or(UNKNOWN));
    let mut at = FrameAddress::from_instruction_pointer(stack.instruction);
    let mut followed =
        Followed { steps: Vec::new(), is_whole: false, is_sure: false, missing: None };
    loop {
        // Nothing has called what a handler returns to: it is the address itself that says where that is.
        let is_signal = at.is_return_address() && returns_from_signal(at.address());
        let (address, by) = match (is_signal, at.is_return_address()) {
            (true, _) => (at.address(), By::Signal),
            (_, true) => (at.address_for_lookup(), By::Call),
            (_, false) => (at.address(), By::Running),
        };
        followed.steps.push(Step {
            address,
            by,
            frame: frame_pointer(&registers),
            pointer: registers.sp(),
        });
        if followed.steps.len() == FRAMES_MAX {
            break;
        }
        let mut before = registers;
        has_read.set(false);
        let next = if is_signal {
            interrupted(&mut registers, &mut read)
        } else {
            let next = unwinder.unwind_frame(at, &mut registers, cache, &mut read);
            next.map(|next| next.and_then(FrameAddress::from_return_address)).map_err(|_| ())
        };
        match next {
            Ok(Some(next)) => at = next,
            Ok(None) => {
                followed.is_whole = true;
                forget_frame_pointer(&mut before);
                let again = unwinder.unwind_frame(at, &mut before, cache, &mut read);
                followed.is_sure = matches!(again, Ok(None)) && !has_read.get();
                break;
            }
            Err(()) => break,
        }
    }
    followed.missing = missing.get();
    followed
}

/// Bytes from the stack pointer of code that returns from a handler of a signal to the registers of what was interrupted
/// (`struct ucontext` and `struct sigcontext`, arch/x86/include/uapi/asm).
#[cfg(target_arch = "x86_64")]
mod saved {
    pub(super) const FRAME: u64 = 40 + 10 * 8;
    pub(super) const POINTER: u64 = 40 + 15 * 8;
    pub(super) const INSTRUCTION: u64 = 40 + 16 * 8;
}

/// Goes on from the handler of a signal to what it interrupted. The tables of glibc have it as an expression, which the unwinder
/// does not evaluate; other libraries have no tables for it.
#[cfg(target_arch = "x86_64")]
fn interrupted(
    registers: &mut UnwindRegsNative,
    read: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Result<Option<FrameAddress>, ()> {
    let context = registers.sp();
    let mut of = |place: u64| read(context.checked_add(place).ok_or(())?);
    let (instruction, pointer) = (of(saved::INSTRUCTION)?, of(saved::POINTER)?);
    *registers = UnwindRegsNative::new(instruction, pointer, of(saved::FRAME)?);
    Ok(Some(FrameAddress::from_instruction_pointer(instruction)))
}

#[cfg(target_arch = "aarch64")]
fn interrupted(
    _: &mut UnwindRegsNative,
    _: &mut impl FnMut(u64) -> Result<u64, ()>,
) -> Result<Option<FrameAddress>, ()> {
    Err(())
}

/// As if it was not known: tables that say where a thread begins do not need it.
#[cfg(target_arch = "x86_64")]
fn forget_frame_pointer(registers: &mut UnwindRegsNative) {
    registers.set_bp(UNKNOWN);
}

#[cfg(target_arch = "aarch64")]
fn forget_frame_pointer(registers: &mut UnwindRegsNative) {
    registers.set_fp(UNKNOWN);
}

#[cfg(target_arch = "x86_64")]
fn frame_pointer(registers: &UnwindRegsNative) -> u64 {
    registers.bp()
}

#[cfg(target_arch = "aarch64")]
fn frame_pointer(registers: &UnwindRegsNative) -> u64 {
    registers.fp()
}

#[cfg(target_arch = "x86_64")]
fn registers(stack: &Stack<'_>, frame: u64) -> UnwindRegsNative {
    UnwindRegsNative::new(stack.instruction, stack.pointer, frame)
}

#[cfg(target_arch = "aarch64")]
fn registers(stack: &Stack<'_>, frame: u64) -> UnwindRegsNative {
    UnwindRegsNative::new(stack.link, stack.pointer, frame)
}
