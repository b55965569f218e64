//! Links `fullbore-process` and calls nothing before `main`; `tests/nothing_before_main.rs` runs it as a separate
//! process. It starts with standard input closed and descriptor 9 open; its exit status is the number of the broken
//! promise.

use std::process::ExitCode;

use fullbore_process::{inherited, let_go_of_inherited, sigpipe_was_ignored, stdin_was_closed};

fn main() -> ExitCode {
    let is_open = |fd: i32| std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok();
    let promises = [
        !stdin_was_closed() && !sigpipe_was_ignored(),
        inherited(9).is_err(),
        let_go_of_inherited().is_err() && is_open(9),
    ];
    let broken = promises.iter().position(|kept| !kept).map_or(0, |place| place + 1);
    ExitCode::from(u8::try_from(broken).unwrap_or(u8::MAX))
}
