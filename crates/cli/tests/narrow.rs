//! 32-bit programs for x86-64, written in assembly: they need no library, so no 32-bit library has to be installed.

use std::process::Stdio;

use crate::sandbox::{Sandbox, finish, status_text};

/// Makes the program `name` in the sandbox from a source for as(1), with these symbols defined.
pub(crate) fn assemble(place: &Sandbox, source: &str, name: &str, symbols: &[&str]) {
    std::fs::write(place.path("narrow.s"), source).unwrap();
    let defined: Vec<String> = symbols.iter().map(|symbol| format!("--defsym {symbol}")).collect();
    let defined = defined.join(" ");
    let mut shell = place.command("sh");
    shell.args([
        "-c",
        &format!("as --32 {defined} narrow.s -o narrow.o && ld -m elf_i386 narrow.o -o {name}"),
    ]);
    let ended = finish(shell);
    assert_eq!(status_text(ended.status), "exit 0", "{}", ended.stderr);
}

/// Whether this kernel runs such a program; it ends by itself where there is no input.
pub(crate) fn runs(place: &Sandbox, name: &str) -> bool {
    let mut program = place.command(name);
    program.stdin(Stdio::null()).stdout(Stdio::null());
    program.status().is_ok_and(|ended| ended.success())
}
