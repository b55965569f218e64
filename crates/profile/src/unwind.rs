//! Follows a stack from a function to its caller, by the tables of the binary or by frame pointers.

use framehop::{
    CacheNative, MayAllocateDuringUnwind, Module, UnwindRegsNative, Unwinder, UnwinderNative,
};

use crate::binary::{Binaries, Section};
use crate::space::Space;
use crate::stack::{FRAMES_MAX, Followed, Stack};

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

/// Returns the addresses that were being executed, innermost first; `frame` is the frame pointer.
pub(crate) fn follow(
    unwinder: &Native,
    cache: &mut Cache,
    stack: &Stack<'_>,
    frame: u64,
) -> Followed {
    let mut read = |address: u64| {
        let from =
            usize::try_from(address.checked_sub(stack.pointer).ok_or(())?).map_err(|_| ())?;
        let word = stack.bytes.get(from..from.checked_add(8).ok_or(())?).ok_or(())?;
        word.try_into().map(u64::from_ne_bytes).map_err(|_| ())
    };
    let registers = registers(stack, frame);
    let mut frames = unwinder.iter_frames(stack.instruction, registers, cache, &mut read);
    let mut followed = Followed { addresses: Vec::new(), is_whole: false };
    while followed.addresses.len() < FRAMES_MAX {
        match frames.next() {
            Ok(Some(address)) => followed.addresses.push(address.address_for_lookup()),
            Ok(None) => {
                followed.is_whole = true;
                break;
            }
            Err(_) => break,
        }
    }
    followed
}

#[cfg(target_arch = "x86_64")]
fn registers(stack: &Stack<'_>, frame: u64) -> UnwindRegsNative {
    UnwindRegsNative::new(stack.instruction, stack.pointer, frame)
}

#[cfg(target_arch = "aarch64")]
fn registers(stack: &Stack<'_>, frame: u64) -> UnwindRegsNative {
    UnwindRegsNative::new(stack.link, stack.pointer, frame)
}
