#![expect(
    unsafe_code,
    reason = "a place in `.init_array`, and the promise that note_start asks for"
)]
//! Records what a program was started with, before `main` and before the language's runtime.
//!
//! The runtime opens `/dev/null` for closed standard descriptors and ignores SIGPIPE; afterwards nothing shows what the
//! user had. A program that must know depends on this crate and says in its `main.rs`:
//!
//! ```
//! use fullbore_before_main as _;
//! # fn main() {}
//! ```
//!
//! Nothing else is needed, and no other crate of fullbore runs code before `main`. [`fullbore_process`] gives the
//! answers. A macro cannot replace this crate, because it would put `unsafe` into programs that forbid it.

/// The function that the C library calls before `main`, and so before the runtime.
///
/// Source: ELF gABI, `.init_array`; glibc and musl both run it.
// SAFETY: this is a function pointer of the type that `.init_array` holds. The function uses only system calls and the
// allocator, both of which the C library has set up by then, and does not unwind.
#[used]
#[unsafe(link_section = ".init_array")]
static RECORD_START: extern "C" fn() = record_start;

extern "C" fn record_start() {
    // SAFETY: no code of the program has run, so none owns a descriptor. A program that hands inherited ones to others
    // by number must not depend on this crate.
    unsafe { fullbore_process::note_start() };
}
