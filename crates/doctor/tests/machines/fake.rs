//! A machine as files and folders, with nothing wrong.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use fullbore_doctor::{Attempt, Attempts, Machine, Places};
use fullbore_measure::Bytes;
use fullbore_proc::Root;

/// `/proc/self/status` of a user without privileges on four CPUs.
pub(crate) const STATUS: &str = "Name:\tfullbore\nUid:\t1000\t1000\t1000\t1000\nGroups:\t1000 27\nCapEff:\t0000000000000000\nCpus_allowed_list:\t0-3\n";

const CALM: &str = "some avg10=0.00 avg60=0.50 avg300=0.00 total=7\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";

const FILES: &[(&str, &str)] = &[
    ("proc/sys/fs/pipe-max-size", "1048576\n"),
    ("proc/sys/fs/pipe-user-pages-soft", "16384\n"),
    ("proc/sys/fs/pipe-user-pages-hard", "0\n"),
    ("proc/sys/kernel/osrelease", "6.12.43-test\n"),
    ("proc/sys/kernel/perf_event_paranoid", "2\n"),
    ("proc/sys/kernel/yama/ptrace_scope", "0\n"),
    ("proc/version", "Linux version 6.12.43-test (a@b) #1 SMP\n"),
    (
        "proc/meminfo",
        "MemTotal: 8000000 kB\nMemAvailable: 6000000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
    ),
    ("proc/stat", "cpu  100 0 100 800 0 0 0 1 0 0\n"),
    ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu lm\n"),
    ("proc/pressure/cpu", CALM),
    ("proc/pressure/memory", CALM),
    ("proc/pressure/io", CALM),
    ("proc/self/status", STATUS),
    ("proc/self/stat", "42 (fullbore) R 1 42 42 0 -1 0\n"),
    ("proc/self/mounts", "proc /proc proc rw,nosuid 0 0\n"),
    ("proc/self/cgroup", "0::/job\n"),
    ("proc/42/task/42/schedstat", "1 2 3\n"),
    ("proc/42/task/42/syscall", "running\n"),
    ("proc/42/task/42/children", "\n"),
    (
        "proc/42/io",
        "rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: 0\nwrite_bytes: 0\ncancelled_write_bytes: 0\n",
    ),
    (
        "proc/42/stat",
        "42 (fullbore) R 1 42 42 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 300 1000 100 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
    ),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ("sys/devices/system/cpu/online", "0-3\n"),
    ("sys/devices/system/cpu/present", "0-3\n"),
    ("sys/devices/system/cpu/smt/active", "0\n"),
    ("sys/devices/system/cpu/smt/control", "notsupported\n"),
    ("sys/bus/event_source/devices/cpu/type", "4\n"),
    ("sys/bus/event_source/devices/software/type", "1\n"),
    ("sys/fs/cgroup/job/cpu.max", "max 100000\n"),
    ("sys/fs/cgroup/job/cpu.stat", "nr_periods 0\nnr_throttled 0\n"),
    ("sys/fs/cgroup/job/memory.max", "max\n"),
    ("sys/fs/cgroup/job/memory.high", "max\n"),
    ("sys/fs/cgroup/job/cpuset.cpus", "\n"),
];

/// A captured machine, and what came of trying there.
pub(crate) struct Fake {
    folder: tempfile::TempDir,
    pub(crate) attempts: Attempts,
}

impl Fake {
    pub(crate) fn new() -> Self {
        let attempts = Attempts {
            lend_page: Attempt::Works,
            count_switches: Attempt::Works,
            new_pipe: Some(Bytes(65_536)),
            enlarge_pipe: Attempt::Works,
            page_bytes: 4096,
        };
        let fake = Self { folder: tempfile::tempdir().unwrap(), attempts };
        for (path, text) in FILES {
            fake.write(path, text);
        }
        fs::create_dir_all(fake.path("proc/42/fd")).unwrap();
        fake
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The same machine with this text in a file.
    pub(crate) fn with(&self, name: &str, text: &str) -> Self {
        let copy = self.copy();
        copy.write(name, text);
        copy
    }

    /// The same machine without a file or folder.
    pub(crate) fn without(&self, name: &str) -> Self {
        let copy = self.copy();
        let path = copy.path(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        copy
    }

    /// Adds a link, as those of descriptors are.
    pub(crate) fn link(self, name: &str, target: &str) -> Self {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    pub(crate) fn machine(&self) -> Machine {
        let places = Places::at(Root::at(self.path("proc")), self.path("sys"));
        Machine::read(places, self.attempts.clone())
    }

    fn copy(&self) -> Self {
        let copy = Self { folder: tempfile::tempdir().unwrap(), attempts: self.attempts.clone() };
        copy_folder(self.folder.path(), copy.folder.path());
        copy
    }
}

fn copy_folder(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            fs::create_dir_all(&to).unwrap();
            copy_folder(&from, &to);
        } else if kind.is_symlink() {
            symlink(fs::read_link(&from).unwrap(), &to).unwrap();
        } else {
            fs::copy(&from, &to).unwrap();
        }
    }
}
