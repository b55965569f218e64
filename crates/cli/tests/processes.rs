//! What /proc says about the processes of a test, read without the crates under test.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::sandbox::{MARK, Sandbox, eventually, fullbore, status_text, with_fixture};

/// A process, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(pub(crate) u32);

impl Process {
    /// Its command line, with spaces between the words.
    pub(crate) fn command_line(self) -> String {
        let bytes = fs::read(format!("/proc/{}/cmdline", self.0)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ").trim_end().to_owned()
    }

    /// The letter of its state; `None` when it is gone.
    pub(crate) fn state(self) -> Option<char> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        stat.rsplit_once(") ")?.1.chars().next()
    }

    /// Process that started it.
    pub(crate) fn parent(self) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok().map(Process)
    }

    /// Its open files: number and what the link says.
    pub(crate) fn open_files(self) -> Vec<(u32, String)> {
        let Ok(entries) = fs::read_dir(format!("/proc/{}/fd", self.0)) else {
            return Vec::new();
        };
        entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let target = fs::read_link(entry.path()).ok()?;
                Some((entry.file_name().to_str()?.parse().ok()?, target.to_str()?.to_owned()))
            })
            .collect()
    }

    /// Whether it was started, directly or not, by `ancestor`.
    pub(crate) fn descends_from(self, ancestor: Process) -> bool {
        let mut parent = self.parent();
        while let Some(process) = parent {
            if process == ancestor {
                return true;
            }
            parent = if process.0 > 1 { process.parent() } else { None };
        }
        false
    }

    /// The most memory it ever had, in KiB.
    pub(crate) fn peak_memory_kib(self) -> Option<u64> {
        self.memory_kib("VmHWM:")
    }

    /// The same with at most `most_kib` of what is mapped from files. How much that is depends on the page cache: Linux maps
    /// what surrounds a page, too, where it is in memory in large pieces.
    pub(crate) fn peak_memory_kib_with_files_up_to(self, most_kib: u64) -> Option<u64> {
        let beyond = self.memory_kib("RssFile:")?.saturating_sub(most_kib);
        Some(self.peak_memory_kib()?.saturating_sub(beyond))
    }

    fn memory_kib(self, field: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    }

    pub(crate) fn send(self, signal: Signal) {
        let pid = Pid::from_raw(self.0.cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub(crate) fn kill(self) {
        let pid = Pid::from_raw(self.0.cast_signed()).unwrap();
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// All processes that live (not those that only wait to be reaped) and carry the mark in their environment.
pub(crate) fn marked(mark: &str) -> Vec<Process> {
    let wanted = format!("{MARK}={mark}");
    let carries = |process: &Process| {
        let environment = fs::read(format!("/proc/{}/environ", process.0)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    all()
        .into_iter()
        .filter(carries)
        .filter(|process| process.state().is_some_and(|state| state != 'Z'))
        .collect()
}

/// The marked processes started, directly or not, by `ancestor`.
pub(crate) fn descendants(mark: &str, ancestor: Process) -> Vec<Process> {
    marked(mark).into_iter().filter(|process| process.descends_from(ancestor)).collect()
}

/// The marked process whose command line begins with these words.
pub(crate) fn running(mark: &str, command: &str) -> Option<Process> {
    marked(mark).into_iter().find(|process| process.command_line().starts_with(command))
}

fn all() -> Vec<Process> {
    fs::read_dir(Path::new("/proc"))
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok().map(Process))
        .collect()
}

/// Runs a line of bash, which must succeed; the peak memory, in KiB, of the processes of fullbore with these words.
pub(crate) fn peaks_of(place: &Sandbox, line: &str, words: &[&str]) -> Vec<u64> {
    most_of(place, line, words, Process::peak_memory_kib)
}

/// The same of anything that can be measured.
pub(crate) fn most_of(
    place: &Sandbox,
    line: &str,
    words: &[&str],
    measure: impl Fn(Process) -> Option<u64>,
) -> Vec<u64> {
    let mut child = place.command("bash").args(["-c", line]).spawn().unwrap();
    let mut peaks = vec![0; words.len()];
    let status = eventually(|| {
        for process in marked(place.mark()) {
            let command = process.command_line();
            for (peak, words) in peaks.iter_mut().zip(words) {
                if command.starts_with(fullbore().to_str().unwrap()) && command.contains(words) {
                    *peak = measure(process).unwrap_or(0).max(*peak);
                }
            }
        }
        child.try_wait().unwrap()
    });
    assert_eq!(status_text(status.unwrap()), "exit 0");
    peaks
}

/// A pipeline that somebody else has started, by a line of bash. It ends with this.
pub(crate) struct Running<'a> {
    place: &'a Sandbox,
    shell: Child,
}

impl<'a> Running<'a> {
    pub(crate) fn start(place: &'a Sandbox, line: &str) -> Self {
        let mut command = place.command("bash");
        command.args(["-c", &with_fixture(line)]).stdout(Stdio::null()).stderr(Stdio::null());
        Self { place, shell: command.spawn().unwrap() }
    }

    /// The process with these words in its command line, but for a shell that has the whole line; waits for it.
    pub(crate) fn process(&self, words: &str) -> Process {
        let within = format!(" {words}");
        let is_it = |process: &Process| {
            let line = process.command_line();
            !line.starts_with("bash -c") && (line.starts_with(words) || line.contains(&within))
        };
        eventually(|| marked(self.place.mark()).into_iter().find(is_it)).expect("it was started")
    }

    pub(crate) fn shell(&self) -> Process {
        Process(self.shell.id())
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        self.shell.try_wait().unwrap().is_none()
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // The shell first: it could start more.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
        marked(self.place.mark()).into_iter().for_each(Process::kill);
    }
}

/// Whether a process has a file open whose name begins so.
pub(crate) fn has_open(pid: u32, name: &str) -> Option<()> {
    let mut fds = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let is_it = |entry: std::io::Result<std::fs::DirEntry>| {
        let link = std::fs::read_link(entry.ok()?.path()).ok()?;
        link.to_str()?.starts_with(name).then_some(())
    };
    fds.find_map(is_it)
}

/// Whether a process holds another one by a descriptor (pidfd_open(2)), which tells how it ended even after it was waited for.
pub(crate) fn holds(pid: u32, other: u32) -> Option<()> {
    let mut infos = std::fs::read_dir(format!("/proc/{pid}/fdinfo")).ok()?;
    let is_it = |entry: std::io::Result<std::fs::DirEntry>| {
        let info = std::fs::read_to_string(entry.ok()?.path()).ok()?;
        info.lines().any(|line| line == format!("Pid:\t{other}")).then_some(())
    };
    infos.find_map(is_it)
}
