//! One process group from start to end: its time, its CPU time, and who was in it.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use wait4::Wait4;

use super::output::text_of;
use super::peaks::Peaks;
use crate::Side;

/// How often it is looked whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// How often the memory of processes is looked at while an answer is checked.
const PEAK_LOOK: Duration = Duration::from_millis(5);

/// What to watch while waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch {
    /// Only the end.
    End,
    /// The memory of every process too: that costs time.
    Peaks,
}

/// How a process group ended.
#[derive(Debug)]
pub(super) struct Ended {
    status: ExitStatus,
    was_given_up: Option<Duration>,
    /// From before its start to its end.
    pub(super) elapsed_ns: u64,
    /// CPU time of the first process and of all it waited for.
    pub(super) cpu_ns: u64,
    /// Faults and switches of the first process and of all it waited for.
    pub(super) counters: BTreeMap<String, Option<u64>>,
    peaks: Peaks,
}

impl Ended {
    pub(super) fn is_success(&self) -> bool {
        self.status.success() && self.was_given_up.is_none()
    }

    /// Why it is no success, with the last thing it said.
    pub(super) fn story(&self, last_words: &str) -> String {
        let story = match (self.was_given_up, self.status.code(), self.status.signal()) {
            (Some(limit), ..) => format!("given up after {} s", limit.as_secs()),
            (None, Some(0), _) => "it gave no result".to_owned(),
            (None, Some(code), _) => format!("exit status {code}"),
            (None, None, signal) => format!("killed by signal {}", signal.unwrap_or_default()),
        };
        if last_words.is_empty() { story } else { format!("{story}: {last_words}") }
    }

    /// The processes that were seen; all of them as one when they were not looked at.
    pub(super) fn sides(self) -> Vec<Side> {
        let mut sides = self.peaks.sides();
        if sides.is_empty() {
            let side =
                Side { name: "all".to_owned(), cpu_ns: self.cpu_ns, peak_memory_bytes: None };
            sides.push(side);
        }
        sides
    }
}

/// Starts the command, which must be in a process group of its own, and waits for its end.
///
/// # Errors
/// When it cannot be started or waited for.
pub(super) fn wait(
    command: &mut Command,
    limit: Duration,
    stop: &AtomicBool,
    watch: Watch,
) -> io::Result<Ended> {
    let before = children();
    let began = Instant::now();
    let mut child = command.spawn()?;
    let mut peaks = Peaks::default();
    let given_up = until_end(&child, began, limit, stop, watch, &mut peaks);
    let elapsed = began.elapsed();
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Whatever it left behind would disturb the next trial. The group lives as long as its first process is
        // not waited for, so that the number is still its own.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let used = child.wait4()?;
    let counters = children().into_iter().map(|(name, total)| {
        let then = before.get(name).copied().unwrap_or(0);
        (name.to_owned(), Some(total.saturating_sub(then)))
    });
    let cpu = used.rusage.utime + used.rusage.stime;
    Ok(Ended {
        status: used.status,
        was_given_up: given_up?.then_some(limit),
        elapsed_ns: nanoseconds(elapsed),
        cpu_ns: nanoseconds(cpu),
        counters: counters.collect(),
        peaks,
    })
}

/// What all children that were waited for have used so far; only one runs at a time.
fn children() -> BTreeMap<&'static str, u64> {
    let Ok(used) = getrusage(UsageWho::RUSAGE_CHILDREN) else {
        return BTreeMap::new();
    };
    let counts = [
        ("minor_faults", used.minor_page_faults()),
        ("major_faults", used.major_page_faults()),
        ("voluntary_switches", used.voluntary_context_switches()),
        ("involuntary_switches", used.involuntary_context_switches()),
    ];
    let known = |(name, count)| Some((name, u64::try_from(count).ok()?));
    counts.into_iter().filter_map(known).collect()
}

/// Waits for the end of the first process; whether it was given up.
fn until_end(
    child: &Child,
    began: Instant,
    limit: Duration,
    stop: &AtomicBool,
    watch: Watch,
    peaks: &mut Peaks,
) -> io::Result<bool> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("no process number"))?;
    let end = pidfd_open(pid, PidfdFlags::empty())?;
    let look = if watch == Watch::Peaks { PEAK_LOOK } else { LOOK };
    let pause = Timespec::try_from(look).map_err(io::Error::other)?;
    loop {
        let mut fds = [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&pause)) {
            Ok(ready) if ready > 0 => return Ok(false),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        if stop.load(Ordering::Relaxed) || began.elapsed() > limit {
            return Ok(true);
        }
        if watch == Watch::Peaks {
            peaks.look(pid.as_raw_nonzero().get());
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The words of an error without Rust's "(os error 2)".
pub(super) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// Whether a program can be found.
pub(crate) fn is_installed(name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_program = |path: &Path| {
        path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return is_program(Path::new(name));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| is_program(&folder.join(name)))
}

/// The first line that each program says about its version; programs that are not there are left out.
pub fn versions(names: impl IntoIterator<Item = String>) -> BTreeMap<String, String> {
    let installed = names.into_iter().filter(|name| is_installed(name));
    installed
        .map(|name| (name.clone(), version(&name).unwrap_or_else(|| "unknown".to_owned())))
        .collect()
}

fn version(name: &str) -> Option<String> {
    let is_openssl = Path::new(name).file_name().is_some_and(|name| name == "openssl");
    // To others, nothing that they could take for the name of a file.
    let arguments: &[&str] = if is_openssl { &["version"] } else { &["--version", "-V"] };
    arguments.iter().find_map(|argument| said_version(name, argument))
}

/// The first line with something like a version in it, of what a program says about itself.
pub(crate) fn said_version(name: &str, argument: &str) -> Option<String> {
    use std::os::unix::process::CommandExt;
    let (out, errors) = (tempfile::tempfile().ok()?, tempfile::tempfile().ok()?);
    let mut command = Command::new(name);
    command.arg(argument).stdin(Stdio::null()).process_group(0);
    command.stdout(out.try_clone().ok()?).stderr(errors.try_clone().ok()?);
    let ended =
        wait(&mut command, Duration::from_secs(5), &AtomicBool::new(false), Watch::End).ok()?;
    let said = format!("{}\n{}", text_of(&out), text_of(&errors));
    let line = said.lines().find(|line| has_version(line))?;
    ended.is_success().then(|| line.trim().chars().take(100).collect())
}

/// Whether a line has numbers with a point between them (`2.36`), or a date as mbuffer and parallel have (`R20230301`).
fn has_version(line: &str) -> bool {
    let bytes = line.as_bytes();
    let is_pointed =
        |three: &[u8]| three[0].is_ascii_digit() && three[1] == b'.' && three[2].is_ascii_digit();
    let is_date = |part: &[u8]| part.len() == 8;
    bytes.windows(3).any(is_pointed) || bytes.split(|byte| !byte.is_ascii_digit()).any(is_date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_has_a_point_or_is_a_date() {
        for line in ["iconv 2.36", "GNU parallel 20221122", "mbuffer version R20230301"] {
            assert!(has_version(line), "{line}");
        }
        for line in ["License: GPLv3", "Copyright 2001-2023", "unknown option -1", "123456789"] {
            assert!(!has_version(line), "{line}");
        }
    }
}
