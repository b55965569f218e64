//! What tells all processes of a machine apart cheaply: who began last, who holds pipes, whose they are.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use crate::{Fd, Root, Unavailable};

/// A regular file that a process has open for reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The descriptor.
    pub fd: i32,
    /// Device and inode.
    pub id: (u64, u64),
    /// Its size, in bytes.
    pub size_bytes: u64,
    /// Where the next read(2) begins, in bytes from its start. Reading by mmap(2) and pread(2) does not move it.
    pub position_bytes: u64,
}

impl Root {
    /// The process or thread number given out last; every process that began since has a later one, until numbers begin anew.
    ///
    /// Source: proc_loadavg(5).
    #[must_use]
    pub fn last_number(&self) -> Option<i32> {
        let text = std::fs::read_to_string(self.path().join("loadavg")).ok()?;
        text.split_ascii_whitespace().last()?.parse().ok()
    }

    /// Effective user of a process; of one that may not be dumped, often root.
    #[must_use]
    pub fn owner(&self, pid: i32) -> Option<u32> {
        Some(std::fs::metadata(self.path().join(pid.to_string())).ok()?.uid())
    }

    /// Lists the descriptors of a process that lead to pipes and FIFOs; cheaper than [`Root::try_fds`], which looks at every
    /// descriptor.
    ///
    /// # Errors
    ///
    /// The reason when they are not available.
    pub fn try_pipes(&self, pid: i32) -> Result<Vec<Fd>, Unavailable> {
        let folder = self.file(pid, "fd");
        crate::fds::list_pipes(&folder).map_err(|error| self.why_missing(pid, &folder, &error))
    }

    /// The control group of a process in the one hierarchy of version 2, or in that of systemd: a path such as
    /// `/system.slice/backup.service`.
    ///
    /// Source: cgroups(7).
    #[must_use]
    pub fn control_group(&self, pid: i32) -> Option<String> {
        let text = self.bytes(pid, "cgroup").ok()?;
        let text = String::from_utf8_lossy(&text);
        let path = |prefix: &str| {
            text.lines().find_map(|line| line.split_once(':')?.1.strip_prefix(prefix))
        };
        path(":").or_else(|| path("name=systemd:")).map(str::to_owned)
    }

    /// Lists the regular files that a process has open for reading, with the position of each. Nothing is opened but files of
    /// `/proc`.
    #[must_use]
    pub fn open_files(&self, pid: i32) -> Vec<OpenFile> {
        let Ok(entries) = std::fs::read_dir(self.file(pid, "fd")) else { return Vec::new() };
        let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        numbers.filter_map(|fd| self.open_file(pid, fd)).collect()
    }

    fn open_file(&self, pid: i32, fd: i32) -> Option<OpenFile> {
        let link = self.file(pid, &format!("fd/{fd}"));
        let (id, size_bytes) = regular(&link)?;
        let info = String::from_utf8(self.bytes(pid, &format!("fdinfo/{fd}")).ok()?).ok()?;
        let value =
            |name: &str| info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let flags = u32::from_str_radix(value("flags:")?, 8).ok()?;
        // O_RDONLY or O_RDWR (open(2)).
        let reads = matches!(flags & 3, 0 | 2);
        let position_bytes = value("pos:")?.parse().ok()?;
        reads.then_some(OpenFile { fd, id, size_bytes, position_bytes })
    }

    /// Device, inode and size of a regular file as a process sees its path.
    #[must_use]
    pub fn file_named_by(&self, pid: i32, path: &Path) -> Option<((u64, u64), u64)> {
        let from: PathBuf = if path.is_absolute() {
            self.file(pid, "root").join(path.strip_prefix("/").ok()?)
        } else {
            self.file(pid, "cwd").join(path)
        };
        regular(&from)
    }
}

/// Device, inode and size, without making a network file system ask its server.
fn regular(path: &Path) -> Option<((u64, u64), u64)> {
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::SIZE;
    let stat = statx(CWD, path, AtFlags::STATX_DONT_SYNC, wanted).ok()?;
    let kind = FileType::from_raw_mode(u32::from(stat.stx_mode));
    let device = rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor);
    (kind == FileType::RegularFile).then_some(((device, stat.stx_ino), stat.stx_size))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_file_tells_its_position_while_it_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("input");
        std::fs::write(&path, [0; 10_000]).unwrap();
        let mut file = std::fs::File::open(&path).unwrap();
        file.read_exact(&mut [0; 2500]).unwrap();
        let _writes = std::fs::File::create(folder.path().join("output")).unwrap();
        let (root, me) = (Root::system(), std::process::id().cast_signed());
        let files = root.open_files(me);
        let found = files.iter().find(|open| open.fd == file.as_raw_fd()).unwrap();
        assert_eq!((found.position_bytes, found.size_bytes), (2500, 10_000));
        assert_eq!(root.file_named_by(me, &path), Some((found.id, 10_000)));
        assert!(files.iter().all(|open| open.fd != _writes.as_raw_fd()), "it is only written");
    }

    #[test]
    fn only_pipes_are_listed() {
        let (reader, writer) = std::io::pipe().unwrap();
        let me = std::process::id().cast_signed();
        let pipes = Root::system().try_pipes(me).unwrap();
        let all = Root::system().try_fds(me).unwrap();
        for end in [reader.as_raw_fd(), writer.as_raw_fd()] {
            let of = |list: &[Fd]| list.iter().find(|fd| fd.number == end).cloned();
            assert!(of(&pipes).is_some());
            assert_eq!(of(&pipes), of(&all));
        }
    }

    #[test]
    fn groups_of_both_versions_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::at(folder.path());
        std::fs::create_dir(folder.path().join("7")).unwrap();
        for (text, group) in [
            ("0::/system.slice/backup.service\n", Some("/system.slice/backup.service")),
            ("4:cpu:/x\n1:name=systemd:/user.slice/a:b.scope\n", Some("/user.slice/a:b.scope")),
            ("4:cpu:/x\n", None),
        ] {
            std::fs::write(folder.path().join("7/cgroup"), text).unwrap();
            assert_eq!(root.control_group(7).as_deref(), group);
        }
    }

    #[test]
    fn a_process_that_begins_has_a_later_number() {
        let root = Root::system();
        let before = root.last_number().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id().cast_signed();
        child.wait().unwrap();
        // Numbers begin anew after the last one.
        assert!(pid > before || root.last_number().unwrap() < before);
        assert_eq!(
            root.owner(std::process::id().cast_signed()),
            Some(rustix::process::getuid().as_raw())
        );
    }
}
