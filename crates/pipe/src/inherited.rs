#![expect(unsafe_code, reason = "closing descriptors that were inherited as bare numbers")]
//! Descriptors this process was started with.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::io::FdFlags;
use rustix::stdio::{dup2_stdin, dup2_stdout};

/// Lets go of everything this process inherited except standard error: standard input and output
/// become `/dev/null`, descriptors from 3 up are closed.
///
/// Called after the pipeline was started: it has its own copies, and ours would keep the end of file
/// from a reader and SIGPIPE from a writer outside. Descriptors that this process opened itself are
/// close-on-exec (the standard library and rustix make them so) and stay.
///
/// This assumes that nothing in the process owns a descriptor that is *not* close-on-exec: a program
/// that accepts descriptors by number (`--fd N`) must not call it.
///
/// # Errors
/// When `/dev/null` or `/proc/self/fd` cannot be opened.
pub fn let_go_of_inherited() -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(null.as_fd())?;
    dup2_stdout(null.as_fd())?;
    let mut inherited = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        let Some(fd) = name.to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if fd > 2 {
            inherited.push(fd);
        }
    }
    for fd in inherited {
        // SAFETY: the number was listed a moment ago; if it was closed since (the directory handle
        // was), fcntl answers EBADF and nothing is touched.
        let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
        let Ok(flags) = rustix::io::fcntl_getfd(borrowed) else {
            continue;
        };
        if !flags.contains(FdFlags::CLOEXEC) {
            // SAFETY: not close-on-exec, so inherited, and nothing in this process takes inherited descriptors (see above).
            unsafe { rustix::io::close(fd) };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;
    use std::process::{Command, Stdio};

    /// Runs in a process of its own (the test below starts it), because it gives up standard input and output.
    #[test]
    #[ignore = "started by inherited_ends_are_closed_and_our_own_stay"]
    fn child() {
        let own = std::fs::File::open("/dev/null").unwrap();
        let fd = own.as_raw_fd();
        super::let_go_of_inherited().unwrap();
        let is_open = |fd: i32| std::fs::symlink_metadata(format!("/proc/self/fd/{fd}")).is_ok();
        assert!(is_open(fd), "a descriptor of our own was closed");
        assert!(!is_open(9), "an inherited descriptor is still open");
        assert_eq!(std::fs::read_link("/proc/self/fd/0").unwrap().to_str(), Some("/dev/null"));
        std::fs::write(std::env::var("FULLBORE_TEST_MARK").unwrap(), "ok").unwrap();
    }

    #[test]
    fn inherited_ends_are_closed_and_our_own_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mark = folder.path().join("mark");
        let program = std::env::current_exe().unwrap();
        let status = Command::new("sh")
            .arg("-c")
            .arg("exec \"$0\" --ignored --exact inherited::tests::child 9</dev/null")
            .arg(program)
            .env("FULLBORE_TEST_MARK", &mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(status.success());
        assert_eq!(std::fs::read_to_string(mark).unwrap(), "ok");
    }
}
