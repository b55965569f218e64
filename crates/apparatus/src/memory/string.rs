//! Moves memory with the string instructions of x86-64, which Linux itself uses for copies.
#![allow(unsafe_code)]

use std::arch::asm;

/// Copies all of `from` with `rep movsb`.
///
/// # Panics
/// When the lengths differ.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    assert_eq!(to.len(), from.len(), "length");
    // SAFETY: both ranges are as long as the count, do not overlap (one is borrowed mutably), and the direction flag is
    // clear, as the calling convention guarantees.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") from.len() => _,
            inout("rdi") to.as_mut_ptr() => _,
            inout("rsi") from.as_ptr() => _,
            options(nostack, preserves_flags)
        );
    }
}

/// Sets every byte to `value` with `rep stosb`.
pub(super) fn write(to: &mut [u8], value: u8) {
    // SAFETY: the range is as long as the count; the direction flag is clear.
    unsafe {
        asm!(
            "rep stosb",
            inout("rcx") to.len() => _,
            inout("rdi") to.as_mut_ptr() => _,
            in("al") value,
            options(nostack, preserves_flags)
        );
    }
}
