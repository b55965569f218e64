//! A terminal for programs that want one: a pseudo-terminal, what it shows, and keys to press.

use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

use crate::sandbox::{Sandbox, eventually};

/// A pseudo-terminal with one program in a session of its own.
pub(crate) struct Terminal {
    ours: OwnedFd,
    theirs: OwnedFd,
    child: Child,
    shown: Vec<u8>,
    before: String,
}

impl Terminal {
    /// Starts the program with the terminal as its stdin, stdout, stderr and controlling terminal.
    pub(crate) fn start(
        place: &Sandbox,
        columns: u16,
        rows: u16,
        words: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let theirs = rustix::fs::open(&name, flags, Mode::empty()).unwrap();
        tcsetwinsize(&ours, Winsize { ws_col: columns, ws_row: rows, ws_xpixel: 0, ws_ypixel: 0 })
            .unwrap();
        let before = settings(&theirs);
        let mut command: Command = place.command_in_our_group("setsid");
        command.arg("--ctty").args(words).env("TERM", "xterm-256color");
        command.envs(environment.iter().copied());
        command.stdin(end(&theirs)).stdout(end(&theirs)).stderr(end(&theirs));
        let child = command.spawn().unwrap();
        Self { ours, theirs, child, shown: Vec::new(), before }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Types these keys.
    pub(crate) fn press(&self, keys: &str) {
        rustix::io::write(&self.ours, keys.as_bytes()).unwrap();
    }

    /// Everything shown so far.
    pub(crate) fn shown(&mut self) -> String {
        while self.has_more() {
            let mut buffer = [0; 4096];
            match rustix::io::read(&self.ours, &mut buffer) {
                Ok(count) if count > 0 => self.shown.extend_from_slice(&buffer[..count]),
                _ => break,
            }
        }
        String::from_utf8_lossy(&self.shown).into_owned()
    }

    /// Waits until this text was shown.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let seen = eventually(|| self.shown().contains(text).then_some(()));
        assert!(seen.is_some(), "'{text}' was not shown, but: {}", self.shown());
    }

    /// Waits for the end of the program; returns its status and all it showed.
    pub(crate) fn wait_for_end(&mut self) -> (ExitStatus, String) {
        let status = eventually(|| {
            self.shown(); // a terminal nobody reads fills up and blocks the program
            self.child.try_wait().unwrap()
        });
        let status = status.unwrap_or_else(|| panic!("hung; shown: {}", self.shown()));
        (status, self.shown())
    }

    /// Fails when the settings of the terminal are not what they were at the start.
    pub(crate) fn assert_settings_unchanged(&self) {
        assert_eq!(settings(&self.theirs), self.before);
    }

    fn has_more(&self) -> bool {
        let mut fds = [PollFd::from_borrowed_fd(self.ours.as_fd(), PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)).unwrap() > 0 && fds[0].revents().contains(PollFlags::IN)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// How long the state of a terminal test may take to come about.
pub(crate) const SOON: Duration = Duration::from_secs(20);

fn end(terminal: &OwnedFd) -> Stdio {
    Stdio::from(terminal.try_clone().unwrap())
}

fn settings(terminal: &OwnedFd) -> String {
    let settings: Termios = tcgetattr(terminal).unwrap();
    format!("{settings:?}")
}
