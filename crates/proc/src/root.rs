//! Reads facts about processes, cheaply and many times.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, test_kill_process};

use crate::environment::is_installed;
use crate::{
    Activity, CpuTimes, Environment, Fact, Fd, Io, SchedStat, Stat, Status, Unavailable, children,
    has_cpu_quota,
};

/// A process file system: `/proc`, or a captured copy of one in tests.
#[derive(Clone, Debug)]
pub struct Root {
    path: PathBuf,
    /// Whether this shows the processes of this machine, so that kill(2) can tell whether one lives.
    is_system: bool,
}

/// A file of `/proc` that is read again and again.
///
/// It stays open, unless it comes from [`Root::cold_file`], so it belongs to the process it was opened for. When that process is gone, reading returns [`Unavailable::Gone`], even
/// if another process has its number by then.
#[derive(Debug)]
pub struct HotFile {
    file: Result<Kept, Unavailable>,
}

/// What is kept between two readings.
#[derive(Debug)]
enum Kept {
    File(File),
    Path { root: Root, pid: i32, path: PathBuf },
}

/// Longer than most files of a process.
const TEXT_BYTES: usize = 4096;

/// Reads what one call gives of a file whose first lines say all that is wanted. Files of `/proc` tell no size, so
/// [`std::fs::read_to_string`] begins with 32 bytes and takes eight calls.
pub(crate) fn beginning(path: &Path) -> io::Result<String> {
    let mut bytes = [0; TEXT_BYTES];
    let file = File::open(path)?;
    let length = retry_on_intr(|| rustix::io::read(&file, &mut bytes))?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

impl HotFile {
    /// Reads as much of the file as fits into `buffer`, from the start.
    ///
    /// Bytes that are not UTF-8 (in a program's name) become question marks.
    ///
    /// # Errors
    ///
    /// The reason when the text is not available, including a failure to open the file.
    pub fn try_read<'b>(&self, buffer: &'b mut [u8]) -> Result<&'b str, Unavailable> {
        let file = self.file.as_ref().map_err(|why| *why)?;
        let read = |file: &File, buffer: &mut [u8]| {
            file.read_at(buffer, 0).map_err(|error| Unavailable::from_error(&error))
        };
        let length = match file {
            Kept::File(file) => read(file, buffer)?,
            Kept::Path { root, pid, path } => {
                let opened = File::open(path);
                let file = opened.map_err(|error| root.why_missing(*pid, path, &error))?;
                read(&file, buffer)?
            }
        };
        let bytes = &mut buffer[..length];
        while let Err(error) = std::str::from_utf8(bytes) {
            bytes[error.valid_up_to()] = b'?';
        }
        std::str::from_utf8(bytes).map_err(|_| Unavailable::NotUnderstood)
    }

    /// Calls [`Self::try_read`] for callers who treat every reason alike.
    pub fn read<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b str> {
        self.try_read(buffer).ok()
    }

    /// Returns what stands for a file of a process that is known to have ended: reading returns [`Unavailable::Gone`].
    #[must_use]
    pub fn gone() -> Self {
        Self { file: Err(Unavailable::Gone) }
    }

    /// Tells whether the process or the thread had ended when its file was to be opened; never true for one of
    /// [`Root::cold_file`].
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self.file, Err(Unavailable::Gone))
    }

    /// Tells whether the file was opened; always true for one of [`Root::cold_file`].
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.file.is_ok()
    }
}

impl Root {
    /// Uses this machine's `/proc`.
    #[must_use]
    pub fn system() -> Self {
        Self { path: PathBuf::from("/proc"), is_system: true }
    }

    /// Uses a folder laid out like `/proc`.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_system: false }
    }

    /// Returns the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file of a process for frequent reading; `name` is relative to the process's folder, such as
    /// `task/7/syscall`.
    #[must_use]
    pub fn hot_file(&self, pid: i32, name: &str) -> HotFile {
        let path = self.file(pid, name);
        let opened = File::open(&path);
        let file = opened.map(Kept::File);
        HotFile { file: file.map_err(|error| self.why_missing(pid, &path, &error)) }
    }

    /// The same without a descriptor: the file is opened anew for each reading. If another process has that number by then,
    /// its file is read.
    #[must_use]
    pub fn cold_file(&self, pid: i32, name: &str) -> HotFile {
        let path = self.file(pid, name);
        HotFile { file: Ok(Kept::Path { root: self.clone(), pid, path }) }
    }

    /// Reads facts from `/proc/PID/stat`.
    ///
    /// # Errors
    ///
    /// The reason when they are not available.
    pub fn try_stat(&self, pid: i32) -> Result<Stat, Unavailable> {
        understood(Stat::parse(&self.text(pid, "stat")?))
    }

    /// Reads facts from `/proc/PID/stat`; `None` when they are not available.
    #[must_use]
    pub fn stat(&self, pid: i32) -> Option<Stat> {
        self.try_stat(pid).ok()
    }

    /// Reads facts from `/proc/PID/status`.
    ///
    /// # Errors
    ///
    /// The reason when they are not available.
    pub fn try_status(&self, pid: i32) -> Result<Status, Unavailable> {
        Ok(Status::parse(&self.text(pid, "status")?))
    }

    /// Reads facts from `/proc/PID/status`; `None` when they are not available.
    #[must_use]
    pub fn status(&self, pid: i32) -> Option<Status> {
        self.try_status(pid).ok()
    }

    /// Reads facts from `/proc/PID/io`.
    ///
    /// # Errors
    ///
    /// The reason when they are not available.
    pub fn try_io(&self, pid: i32) -> Result<Io, Unavailable> {
        understood(Io::parse(&self.text(pid, "io")?))
    }

    /// Reads facts from `/proc/PID/io`; `None` when they are not available.
    #[must_use]
    pub fn io(&self, pid: i32) -> Option<Io> {
        self.try_io(pid).ok()
    }

    /// Reads what the CPUs of the machine have done; `None` when that is not available.
    #[must_use]
    pub fn cpu_times(&self) -> Option<CpuTimes> {
        CpuTimes::parse(&beginning(&self.path.join("stat")).ok()?)
    }

    /// Tells whether a CPU quota limits this process ([`has_cpu_quota`]). One that cannot be seen counts as none.
    #[must_use]
    pub fn has_cpu_quota(&self) -> bool {
        let cgroup = std::fs::read_to_string(self.path.join("self/cgroup")).unwrap_or_default();
        has_cpu_quota(&cgroup, |path| std::fs::read_to_string(path).ok())
    }

    /// Reads a thread's scheduler times.
    ///
    /// A kernel that has the file but does not count shows zeros, as it does for a thread that has never run;
    /// [`Self::unavailable`] tells the two apart.
    ///
    /// # Errors
    ///
    /// The reason when they are not available.
    pub fn try_schedstat(&self, pid: i32, tid: i32) -> Result<SchedStat, Unavailable> {
        understood(SchedStat::parse(&self.text(pid, &format!("task/{tid}/schedstat"))?))
    }

    /// Reads a thread's scheduler times; `None` when they are not available.
    #[must_use]
    pub fn schedstat(&self, pid: i32, tid: i32) -> Option<SchedStat> {
        self.try_schedstat(pid, tid).ok()
    }

    /// Reads what a thread is doing now.
    ///
    /// # Errors
    ///
    /// The reason when that is not available.
    pub fn try_activity(&self, pid: i32, tid: i32) -> Result<Activity, Unavailable> {
        understood(Activity::parse(&self.text(pid, &format!("task/{tid}/syscall"))?))
    }

    /// Reads what a thread is doing now; `None` when that is not available.
    #[must_use]
    pub fn activity(&self, pid: i32, tid: i32) -> Option<Activity> {
        self.try_activity(pid, tid).ok()
    }

    /// Lists the processes that a thread started and that still live, or ended and were not waited for.
    ///
    /// # Errors
    ///
    /// The reason when the list is not available; [`Self::children_by_parent`] works without it.
    pub fn try_children(&self, pid: i32, tid: i32) -> Result<Vec<i32>, Unavailable> {
        Ok(children(&self.text(pid, &format!("task/{tid}/children"))?).collect())
    }

    /// Finds the children of a process by reading the `stat` of every process, for kernels without lists of children.
    #[must_use]
    pub fn children_by_parent(&self, pid: i32) -> Vec<i32> {
        let is_child = |child: &i32| self.stat(*child).is_some_and(|stat| stat.parent == pid);
        self.processes().into_iter().filter(is_child).collect()
    }

    /// Lists the facts that Linux withholds about a process which lives and has run (such as the caller), with the
    /// reasons.
    #[must_use]
    pub fn unavailable(&self, pid: i32) -> Vec<(Fact, Unavailable)> {
        let why = |fact| match fact {
            Fact::State => self.try_stat(pid).err(),
            Fact::Times => match self.try_schedstat(pid, pid) {
                Ok(times) if times == SchedStat::default() => Some(Unavailable::NotBuiltIn),
                times => times.err(),
            },
            Fact::Wait => self.try_activity(pid, pid).err(),
            Fact::Io => self.try_io(pid).err(),
            Fact::Children => self.try_children(pid, pid).err(),
            // Where the folder can be opened, its links can be read: both need the same permission (proc_pid_fd(5)).
            Fact::Descriptors => {
                let folder = self.file(pid, "fd");
                let opened = std::fs::read_dir(&folder);
                opened.err().map(|error| self.why_missing(pid, &folder, &error))
            }
        };
        Fact::ALL.into_iter().filter_map(|fact| Some((fact, why(fact)?))).collect()
    }

    /// Reads the arguments of the command line; empty for a process that has none (a zombie, a kernel thread).
    ///
    /// # Errors
    ///
    /// The reason when they are not available.
    pub fn try_command_line(&self, pid: i32) -> Result<Vec<String>, Unavailable> {
        let bytes = self.bytes(pid, "cmdline")?;
        let text = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let words = text.split(|byte| *byte == 0);
        Ok(words.map(|word| String::from_utf8_lossy(word).into_owned()).collect())
    }

    /// Reads the arguments of the command line; empty when they are not available or the process has none (a zombie, a
    /// kernel thread).
    #[must_use]
    pub fn command_line(&self, pid: i32) -> Vec<String> {
        self.try_command_line(pid).unwrap_or_default()
    }

    /// Reads what the environment that a program was started with says about text and buffers; empty when it is not
    /// available.
    ///
    /// Source: proc_pid_environ(5).
    #[must_use]
    pub fn environment(&self, pid: i32) -> Environment {
        Environment::parse(&self.bytes(pid, "environ").unwrap_or_default(), is_installed)
    }

    /// Lists the threads of a process; empty when it is gone.
    #[must_use]
    pub fn threads(&self, pid: i32) -> Vec<i32> {
        numbers_in(&self.file(pid, "task"))
    }

    /// Lists all visible processes.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        numbers_in(&self.path)
    }

    /// Lists the descriptors of a process.
    ///
    /// # Errors
    ///
    /// The reason when they are not available.
    pub fn try_fds(&self, pid: i32) -> Result<Vec<Fd>, Unavailable> {
        let folder = self.file(pid, "fd");
        crate::fds::list(&folder).map_err(|error| self.why_missing(pid, &folder, &error))
    }

    /// Lists the descriptors of a process; `None` when they are not available.
    #[must_use]
    pub fn fds(&self, pid: i32) -> Option<Vec<Fd>> {
        self.try_fds(pid).ok()
    }

    /// Reads one descriptor of a process; [`Unavailable::Gone`] when it is closed.
    ///
    /// # Errors
    ///
    /// The reason when it is not available.
    pub fn try_fd(&self, pid: i32, fd: i32) -> Result<Fd, Unavailable> {
        let found = crate::fds::look_up(&self.file(pid, "fd"), fd);
        found.map_err(|error| self.why_missing(pid, &self.file(pid, "fd"), &error))
    }

    /// Reads one descriptor of a process; `None` when it is closed or not available.
    #[must_use]
    pub fn fd(&self, pid: i32, fd: i32) -> Option<Fd> {
        self.try_fd(pid, fd).ok()
    }

    pub(crate) fn file(&self, pid: i32, name: &str) -> PathBuf {
        let mut path = self.path.join(pid.to_string());
        path.push(name);
        path
    }

    pub(crate) fn bytes(&self, pid: i32, name: &str) -> Result<Vec<u8>, Unavailable> {
        let path = self.file(pid, name);
        // Files of /proc tell no size: with room from the start, most need two calls instead of eight.
        let mut bytes = Vec::with_capacity(TEXT_BYTES);
        let read = File::open(&path).and_then(|file| file.take(u64::MAX).read_to_end(&mut bytes));
        read.map_err(|error| self.why_missing(pid, &path, &error))?;
        Ok(bytes)
    }

    fn text(&self, pid: i32, name: &str) -> Result<String, Unavailable> {
        Ok(String::from_utf8_lossy(&self.bytes(pid, name)?).into_owned())
    }

    /// Finds out why a file is missing, which Linux reports by one error for several causes.
    pub(crate) fn why_missing(&self, pid: i32, path: &Path, error: &io::Error) -> Unavailable {
        let why = Unavailable::from_error(error);
        if why != Unavailable::Gone || error.raw_os_error() != Some(Errno::NOENT.raw_os_error()) {
            return why;
        }
        // The folder of a live thread has all files that this kernel can show.
        if path.parent().is_some_and(Path::exists) && !path.exists() {
            return Unavailable::NotBuiltIn;
        }
        // With hidepid=2 the folder of another user's process seems to be missing.
        let lives = |pid| matches!(test_kill_process(pid), Ok(()) | Err(Errno::PERM));
        let is_hidden = self.is_system
            && !self.path.join(pid.to_string()).exists()
            && Pid::from_raw(pid).is_some_and(lives);
        if is_hidden { Unavailable::NotPermitted } else { Unavailable::Gone }
    }
}

fn understood<T>(parsed: Option<T>) -> Result<T, Unavailable> {
    parsed.ok_or(Unavailable::NotUnderstood)
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
