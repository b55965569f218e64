//! Lets go of what it inherited and checks what is left: a process of its own for `tests/inherited.rs`.
//! Started with descriptor 9 open; its exit status is the number of the promise that was broken, or 0.

use std::os::fd::AsRawFd;
use std::process::ExitCode;

fn main() -> ExitCode {
    let is_open = |fd: i32| std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok();
    let leads_to_null = |fd: i32| {
        std::fs::read_link(format!("/proc/self/fd/{fd}"))
            .is_ok_and(|path| path.as_os_str() == "/dev/null")
    };
    if !is_open(9) {
        return ExitCode::from(1);
    }
    let Ok(own) = std::fs::File::open("/proc/self/status") else { return ExitCode::from(2) };
    if fullbore_pipe::let_go_of_inherited().is_err() {
        return ExitCode::from(3);
    }
    let promises =
        [!is_open(9), is_open(own.as_raw_fd()), leads_to_null(0), leads_to_null(1), is_open(2)];
    let broken = promises.iter().position(|kept| !kept).map_or(0, |place| place + 4);
    ExitCode::from(u8::try_from(broken).unwrap_or(u8::MAX))
}
