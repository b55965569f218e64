//! Where a machine is read, and what could not be read there.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use fullbore_proc::Root;
use serde::Serialize;

/// Something about the machine that is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// The file or folder, or what else is not known.
    pub what: String,
    /// Why it is not known.
    pub why: String,
}

/// The file systems that describe a machine, real or captured.
#[derive(Debug)]
pub struct Places {
    pub(crate) proc: Root,
    pub(crate) sys: PathBuf,
    has_sys: bool,
    unread: Vec<Unread>,
}

impl Places {
    /// `/proc` and `/sys` of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self::at(Root::system(), "/sys")
    }

    /// Folders laid out like `/proc` and `/sys`.
    #[must_use]
    pub fn at(proc: Root, sys: impl Into<PathBuf>) -> Self {
        let sys = sys.into();
        let has_sys = std::fs::read_dir(&sys).is_ok_and(|mut folder| folder.next().is_some());
        let mut places = Self { proc, sys, has_sys, unread: Vec::new() };
        if !has_sys {
            places.not_known(
                "/sys",
                "it is not mounted, so huge pages, CPUs and control groups are not known",
            );
        }
        places
    }

    /// Whether `/sys` is mounted.
    pub(crate) fn has_sys(&self) -> bool {
        self.has_sys
    }

    /// Notes that something is not known.
    pub(crate) fn not_known(&mut self, what: impl Into<String>, why: impl Into<String>) {
        let unread = Unread { what: what.into(), why: why.into() };
        if !self.unread.contains(&unread) {
            self.unread.push(unread);
        }
    }

    /// All that is not known so far.
    pub(crate) fn into_unread(self) -> Vec<Unread> {
        self.unread
    }

    /// The text of a file of `/proc` that every Linux has.
    pub(crate) fn proc(&mut self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.proc.path().join(name));
        self.noted(text, &format!("/proc/{name}"), true)
    }

    /// The text of a file of `/proc` that not every Linux has.
    pub(crate) fn proc_if_there(&mut self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.proc.path().join(name));
        self.noted(text, &format!("/proc/{name}"), false)
    }

    /// The text of a file of `/sys` that not every machine has.
    pub(crate) fn sys(&mut self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.sys.join(name));
        self.noted(text, &format!("/sys/{name}"), false)
    }

    /// The text of a file of `/sys` that every Linux has where `/sys` is mounted, or nearly every one.
    pub(crate) fn sys_everywhere(&mut self, name: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.sys.join(name));
        self.noted(text, &format!("/sys/{name}"), true)
    }

    /// The text of a file of a control group.
    pub(crate) fn group(&mut self, folder: &Path, name: &str) -> Option<String> {
        let path = folder.join(name);
        let shown = self.shown(&path);
        self.noted(std::fs::read_to_string(path), &shown, false)
    }

    /// The path as it is on a machine, whose `/sys` is at `/sys`.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.sys).map(|rest| Path::new("/sys").join(rest));
        below.unwrap_or_else(|_| path.to_owned()).display().to_string()
    }

    /// The names in a folder of `/sys`; none where it is missing.
    pub(crate) fn names(&mut self, name: &str) -> Vec<String> {
        let folder = std::fs::read_dir(self.sys.join(name));
        let Some(folder) = self.noted(folder, &format!("/sys/{name}"), false) else {
            return Vec::new();
        };
        let mut names: Vec<String> =
            folder.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Where control groups are mounted.
    pub(crate) fn groups_mount(&self) -> PathBuf {
        self.sys.join("fs/cgroup")
    }

    /// The groups of this process, as `/proc/self/cgroup` lists them; empty on a Linux without.
    pub(crate) fn cgroup(&mut self) -> String {
        let text = self.proc_if_there("self/cgroup").unwrap_or_default();
        if !text.is_empty() && self.has_sys && !self.groups_mount().is_dir() {
            self.not_known(
                "/sys/fs/cgroup",
                "control groups are not mounted there, so their limits are not known",
            );
        }
        text
    }

    /// What a text says, or a note that it says nothing of that form.
    pub(crate) fn understood<T>(&mut self, what: &str, value: Option<T>) -> Option<T> {
        if value.is_none() {
            self.not_known(what, "its text is not understood");
        }
        value
    }

    /// The number in a file of `/proc`.
    pub(crate) fn number(&mut self, name: &str, is_everywhere: bool) -> Option<i64> {
        let text = if is_everywhere { self.proc(name) } else { self.proc_if_there(name) }?;
        self.understood(&format!("/proc/{name}"), text.trim().parse().ok())
    }

    fn noted<T>(&mut self, read: io::Result<T>, shown: &str, is_everywhere: bool) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(error) if error.kind() == ErrorKind::NotFound && !is_everywhere => None,
            // One line says that all of /sys is missing.
            Err(_) if shown.starts_with("/sys") && !self.has_sys => None,
            Err(error) => {
                let text = error.to_string();
                let why = text.split(" (os error").next().unwrap_or(&text);
                self.not_known(shown, why);
                None
            }
        }
    }
}

/// Parses a list such as `0-3,8`. `None` for any other text; an empty list is understood.
pub(crate) fn cpu_list(text: &str) -> Option<Vec<u32>> {
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // More CPUs than any Linux has.
        if last < first || last > 65_535 {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_understood_or_refused() {
        assert_eq!(cpu_list("0-2,7\n"), Some(vec![0, 1, 2, 7]));
        assert_eq!(cpu_list("\n"), Some(vec![]));
        for text in ["x", "3-1", "0-4294967295", "1--2"] {
            assert_eq!(cpu_list(text), None, "{text}");
        }
    }
}
