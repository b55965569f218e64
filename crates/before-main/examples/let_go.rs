//! Closes what it inherited and checks what is left; `tests/inherited.rs` runs it as a separate process. It starts with
//! descriptors 8 and 9 open; its exit status is the number of the broken promise, or 0.

use std::os::fd::AsRawFd;
use std::process::ExitCode;

use fullbore_before_main as _;
use fullbore_process::{inherited, let_go_of_inherited, stdin_was_closed};

fn main() -> ExitCode {
    let is_open = |fd: i32| std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok();
    let leads_to_null = |fd: i32| {
        std::fs::read_link(format!("/proc/self/fd/{fd}"))
            .is_ok_and(|path| path.as_os_str() == "/dev/null")
    };
    if !is_open(8) || !is_open(9) || stdin_was_closed() {
        return ExitCode::from(1);
    }
    let Ok(own) = std::fs::File::open("/proc/self/status") else { return ExitCode::from(2) };
    let Ok(own_number) = u16::try_from(own.as_raw_fd()) else { return ExitCode::from(2) };
    // The number of our own file must not lead to another copy, and neither must one that is not open.
    if inherited(8).is_err() || inherited(own_number).is_ok() || inherited(999).is_ok() {
        return ExitCode::from(3);
    }
    if let_go_of_inherited().is_err() {
        return ExitCode::from(4);
    }
    let mut promises = vec![!is_open(8), !is_open(9), is_open(own.as_raw_fd())];
    promises.extend([leads_to_null(0), leads_to_null(1), is_open(2), inherited(8).is_err()]);
    // Files that are open across execve(2) now have the numbers of the closed ones, although they were not inherited.
    let taken: Vec<_> = (0..20).filter_map(|_| rustix::io::dup(&own).ok()).collect();
    promises.push(taken.iter().any(|file| file.as_raw_fd() == 8));
    promises.push(let_go_of_inherited().is_ok() && is_open(8));
    let broken = promises.iter().position(|kept| !kept).map_or(0, |place| place + 5);
    ExitCode::from(u8::try_from(broken).unwrap_or(u8::MAX))
}
