//! Prints what the process was started with, one word for each fact; `tests/inherited.rs` runs it as a separate
//! process.
#![allow(clippy::print_stderr, reason = "standard output may be closed")]

use fullbore_before_main as _;
use fullbore_process::{sigpipe_was_ignored, stdin_was_closed, stdout_was_closed};

fn main() {
    let facts = [
        ("stdin-closed", stdin_was_closed()),
        ("stdout-closed", stdout_was_closed()),
        ("sigpipe-ignored", sigpipe_was_ignored()),
    ];
    let found: Vec<_> = facts.iter().filter(|(_, holds)| *holds).map(|(fact, _)| *fact).collect();
    eprintln!("{}", found.join(" "));
}
