//! Where process facts come from, and reading them cheaply many times.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::{Activity, Fd, Io, SchedStat, Stat, Status};

/// A process file system: `/proc`, or a captured copy of one in tests.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
}

/// A file of `/proc` that is kept open and read again and again.
///
/// It belongs to the process it was opened for: when that process is gone, reading gives `None`,
/// even if its number was given to another process since.
#[derive(Debug)]
pub struct HotFile {
    file: Option<File>,
}

impl HotFile {
    /// Reads the file from its start into `buffer`; `None` when the process is gone or may not be seen.
    pub fn read<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b str> {
        let length = self.file.as_ref()?.read_at(buffer, 0).ok()?;
        std::str::from_utf8(&buffer[..length]).ok()
    }

    /// Whether the file could be opened.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.file.is_some()
    }
}

impl Root {
    /// The `/proc` of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self { path: PathBuf::from("/proc") }
    }

    /// A folder laid out as `/proc` is.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file of a process for reading it often; `name` is relative to its folder, such as `task/7/syscall`.
    #[must_use]
    pub fn hot_file(&self, pid: i32, name: &str) -> HotFile {
        HotFile { file: File::open(self.file(pid, name)).ok() }
    }

    /// Facts from `/proc/PID/stat`; `None` when the process is gone.
    #[must_use]
    pub fn stat(&self, pid: i32) -> Option<Stat> {
        Stat::parse(&String::from_utf8_lossy(&self.bytes(pid, "stat")?))
    }

    /// Facts from `/proc/PID/status`; `None` when the process is gone.
    #[must_use]
    pub fn status(&self, pid: i32) -> Option<Status> {
        Some(Status::parse(&String::from_utf8_lossy(&self.bytes(pid, "status")?)))
    }

    /// Facts from `/proc/PID/io`; `None` when the process is gone or may not be looked at.
    #[must_use]
    pub fn io(&self, pid: i32) -> Option<Io> {
        Io::parse(&String::from_utf8_lossy(&self.bytes(pid, "io")?))
    }

    /// Scheduler times of a thread; `None` when it is gone.
    #[must_use]
    pub fn schedstat(&self, pid: i32, tid: i32) -> Option<SchedStat> {
        let bytes = self.bytes(pid, &format!("task/{tid}/schedstat"))?;
        SchedStat::parse(&String::from_utf8_lossy(&bytes))
    }

    /// What a thread does now; `None` when it is gone or may not be looked at.
    #[must_use]
    pub fn activity(&self, pid: i32, tid: i32) -> Option<Activity> {
        let bytes = self.bytes(pid, &format!("task/{tid}/syscall"))?;
        Activity::parse(&String::from_utf8_lossy(&bytes))
    }

    /// The words of the command line; empty for a process that has none (a zombie, a kernel thread).
    #[must_use]
    pub fn command_line(&self, pid: i32) -> Vec<String> {
        let bytes = self.bytes(pid, "cmdline").unwrap_or_default();
        let text = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
        if text.is_empty() {
            return Vec::new();
        }
        text.split(|byte| *byte == 0)
            .map(|word| String::from_utf8_lossy(word).into_owned())
            .collect()
    }

    /// Threads of a process; empty when it is gone.
    #[must_use]
    pub fn threads(&self, pid: i32) -> Vec<i32> {
        numbers_in(&self.file(pid, "task"))
    }

    /// All processes that can be seen.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        numbers_in(&self.path)
    }

    /// Descriptors of a process; `None` when it is gone or may not be looked at.
    #[must_use]
    pub fn fds(&self, pid: i32) -> Option<Vec<Fd>> {
        crate::fds::list(&self.file(pid, "fd"))
    }

    /// One descriptor of a process; `None` when it is closed or may not be looked at.
    #[must_use]
    pub fn fd(&self, pid: i32, fd: i32) -> Option<Fd> {
        crate::fds::look_up(&self.file(pid, "fd"), fd)
    }

    pub(crate) fn file(&self, pid: i32, name: &str) -> PathBuf {
        let mut path = self.path.join(pid.to_string());
        path.push(name);
        path
    }

    pub(crate) fn bytes(&self, pid: i32, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.file(pid, name)).ok()
    }
}

fn numbers_in(folder: &Path) -> Vec<i32> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut numbers: Vec<i32> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}
