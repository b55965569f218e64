//! Reads `/proc/PID/fd`: what the descriptors of a process lead to.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};

use crate::unix_sockets::{self, Connection};

/// A descriptor of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fd {
    /// Its number.
    pub number: i32,
    /// Whether it can be read from.
    pub reads: bool,
    /// Whether it can be written to.
    pub writes: bool,
    /// What it leads to.
    pub target: Target,
}

/// What a descriptor leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An anonymous pipe, by its inode.
    Pipe(u64),
    /// A named FIFO.
    Fifo {
        /// Device of its file system.
        device: u64,
        /// Its inode.
        inode: u64,
        /// Its path.
        path: PathBuf,
    },
    /// A socket to a process of this machine: a Unix socket, a socket pair.
    LocalSocket,
    /// One side of a socket pair whose other side the same process has: its threads, or its signal handlers, wake it by that.
    OwnSocket,
    /// One side of a socket pair through which data flows one way only, by the inode of the side at which it arrives.
    OneWay(u64),
    /// A socket to a network, or of a kind that is not known, by its inode.
    Socket(u64),
    /// A terminal.
    Terminal,
    /// An epoll instance.
    Epoll,
    /// A timer: timerfd.
    Timer,
    /// A process: pidfd.
    Process,
    /// A source of events: changes of files (inotify, fanotify), signals (signalfd), eventfd.
    Events,
    /// Another kernel object outside any file system.
    Anonymous,
    /// A device other than a terminal.
    Device,
    /// A file or folder.
    File,
}

/// Lists the descriptors in the folder `/proc/PID/fd`.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<Fd>> {
    let entries = std::fs::read_dir(folder)?;
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    // Leave out descriptors that were closed meanwhile.
    Ok(numbers.filter_map(|number| look_up(folder, number).ok()).collect())
}

/// Lists the descriptors in the folder `/proc/PID/fd` that lead to pipes and FIFOs.
pub(crate) fn list_pipes(folder: &Path) -> io::Result<Vec<Fd>> {
    let entries = std::fs::read_dir(folder)?;
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_pipe = |fd: &Fd| matches!(fd.target, Target::Pipe(_) | Target::Fifo { .. });
    let pipes = numbers.filter_map(|number: i32| {
        let path = std::fs::read_link(folder.join(number.to_string())).ok()?;
        let text = path.as_os_str().as_bytes();
        let others: [&[u8]; 5] =
            [b"socket:", b"anon_inode:", b"pidfd:", b"/dev/null", b"/dev/pts/"];
        if others.iter().any(|other| text.starts_with(other)) {
            return None;
        }
        look_up(folder, number).ok().filter(is_pipe)
    });
    Ok(pipes.collect())
}

/// How often a descriptor is read anew that led elsewhere before it was read: a shell puts one in its place once or twice.
const READINGS_MAX: u32 = 8;

/// Reads one descriptor.
///
/// # Errors
///
/// Those of Linux, and [`io::ErrorKind::Interrupted`] if it never stayed the same for as long as the reading takes.
pub(crate) fn look_up(folder: &Path, number: i32) -> io::Result<Fd> {
    let link = folder.join(number.to_string());
    settled(|| std::fs::read_link(&link), |path| look_up_once(folder, number, &link, path))
}

/// What a descriptor is takes several calls to read, between which its process may close it and open another by its
/// number: one that leads to a pipe is read anew until its link is the same before and after.
fn settled(
    mut read_link: impl FnMut() -> io::Result<PathBuf>,
    mut read: impl FnMut(&Path) -> io::Result<Fd>,
) -> io::Result<Fd> {
    let mut path = read_link()?;
    for _ in 0..READINGS_MAX {
        let fd = read(&path)?;
        if !matches!(fd.target, Target::Pipe(_) | Target::Fifo { .. }) {
            return Ok(fd);
        }
        let now = read_link()?;
        if now == path {
            return Ok(fd);
        }
        path = now;
    }
    Err(io::ErrorKind::Interrupted.into())
}

fn look_up_once(folder: &Path, number: i32, link: &Path, path: &Path) -> io::Result<Fd> {
    // Linux shows the mode in which a descriptor was opened as the permissions of the link.
    let mode = std::fs::symlink_metadata(link)?.permissions().mode();
    let (reads, writes) = (mode & 0o400 != 0, mode & 0o200 != 0);
    let target = target(link, path);
    let inode = inode_of_socket(path).filter(|_| target == Target::LocalSocket);
    match inode.and_then(unix_sockets::connection) {
        Some(Connection { one_way: Some(one_way), .. }) => {
            let target = Target::OneWay(one_way.receiver);
            Ok(Fd { number, reads: one_way.reads, writes: !one_way.reads, target })
        }
        Some(Connection { peer: Some(peer), .. }) if has_socket(folder, peer) => {
            Ok(Fd { number, reads, writes, target: Target::OwnSocket })
        }
        _ => Ok(Fd { number, reads, writes, target }),
    }
}

/// Whether a descriptor in this folder leads to the socket with this inode.
fn has_socket(folder: &Path, inode: u64) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    let mut links = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    links.any(|link| inode_of_socket(&link) == Some(inode))
}

fn inode_of_socket(path: &Path) -> Option<u64> {
    path.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

fn target(link: &Path, path: &Path) -> Target {
    let text = path.as_os_str().as_bytes();
    if let Some(inode) = text.strip_prefix(b"pipe:[").and_then(|rest| rest.strip_suffix(b"]")) {
        return match std::str::from_utf8(inode).ok().and_then(|digits| digits.parse().ok()) {
            Some(inode) => Target::Pipe(inode),
            None => Target::Anonymous,
        };
    }
    if text.starts_with(b"socket:") {
        return socket(link, path);
    }
    if let Some(kind) = text.strip_prefix(b"anon_inode:") {
        return anonymous(kind);
    }
    if text.starts_with(b"pidfd:") {
        return Target::Process;
    }
    if text.starts_with(b"/dev/pts/") || text.starts_with(b"/dev/tty") || text == b"/dev/console" {
        return Target::Terminal;
    }
    file_type(link, path)
}

/// Sources: the names in Linux's fs/eventpoll.c, fs/timerfd.c, fs/eventfd.c, fs/signalfd.c, fs/notify, kernel/pid.c.
fn anonymous(kind: &[u8]) -> Target {
    let name = kind.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).unwrap_or(kind);
    match name {
        b"eventpoll" => Target::Epoll,
        b"timerfd" => Target::Timer,
        b"pidfd" => Target::Process,
        b"inotify" | b"fanotify" | b"signalfd" | b"eventfd" => Target::Events,
        _ => Target::Anonymous,
    }
}

/// Linux names the protocol of a socket in an extended attribute (net/socket.c, since 2.6.30).
fn socket(link: &Path, path: &Path) -> Target {
    let mut name = [0; 32];
    match rustix::fs::getxattr(link, "system.sockprotoname", &mut name) {
        Ok(length) if name[..length].starts_with(b"UNIX") => Target::LocalSocket,
        _ => Target::Socket(inode_of_socket(path).unwrap_or(0)),
    }
}

/// Finds out what a path leads to, without making a network file system ask its server.
fn file_type(link: &Path, path: &Path) -> Target {
    let Ok(stat) = statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::TYPE | StatxFlags::INO)
    else {
        return Target::File;
    };
    match FileType::from_raw_mode(u32::from(stat.stx_mode)) {
        FileType::Fifo => {
            let device = rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor);
            Target::Fifo { device, inode: stat.stx_ino, path: path.to_owned() }
        }
        FileType::Socket => Target::Socket(0),
        FileType::CharacterDevice => Target::Device,
        _ => Target::File,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsFd, AsRawFd};

    fn own(fd: &impl AsRawFd) -> Fd {
        look_up(Path::new("/proc/self/fd"), fd.as_raw_fd()).unwrap()
    }

    #[test]
    fn both_ends_of_a_pipe_are_told_apart() {
        let (reader, writer) = std::io::pipe().unwrap();
        let (reading, writing) = (own(&reader), own(&writer));
        assert!(reading.reads && !reading.writes);
        assert!(writing.writes && !writing.reads);
        assert!(
            matches!(reading.target, Target::Pipe(inode) if writing.target == Target::Pipe(inode))
        );
    }

    fn open_fifo(folder: &Path) -> (std::fs::File, PathBuf) {
        let (path, mode) = (folder.join("fifo"), rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR);
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, mode, 0).unwrap();
        (std::fs::File::options().read(true).write(true).open(&path).unwrap(), path)
    }

    #[test]
    fn a_fifo_keeps_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = open_fifo(folder.path());
        let fd = own(&file);
        assert!(fd.reads && fd.writes);
        assert!(matches!(fd.target, Target::Fifo { path: found, .. } if found == path));
    }

    /// Reads a descriptor that leads to one file first and to the other when it is read.
    fn while_it_changes(first: &impl AsFd, then: &impl AsFd) -> io::Result<Fd> {
        let mut place = first.as_fd().try_clone_to_owned().unwrap();
        let (folder, number) = (Path::new("/proc/self/fd"), place.as_raw_fd());
        let link = folder.join(number.to_string());
        let read = |path: &Path| {
            rustix::io::dup2(then, &mut place).unwrap();
            look_up_once(folder, number, &link, path)
        };
        settled(|| std::fs::read_link(&link), read)
    }

    #[test]
    fn a_descriptor_that_changes_while_it_is_read_is_not_half_of_each() {
        let null = std::fs::File::options().read(true).write(true).open("/dev/null").unwrap();
        let (other, _writer) = std::io::pipe().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (fifo, path) = open_fifo(folder.path());
        let fd = while_it_changes(&null, &fifo).unwrap();
        assert!(matches!(fd.target, Target::Fifo { path: found, .. } if found == path));
        assert_eq!(while_it_changes(&fifo, &null).unwrap().target, Target::Device);
        let (_reader, writer) = std::io::pipe().unwrap();
        let fd = while_it_changes(&other, &writer).unwrap();
        assert!(!fd.reads && fd.writes && fd.target == own(&writer).target, "{fd:?}");
    }

    #[test]
    fn a_descriptor_that_never_stays_the_same_is_left_out() {
        let (fd, mut time) = (own(&std::io::pipe().unwrap().0), 0);
        let changing = || {
            time += 1;
            Ok(PathBuf::from(format!("pipe:[{time}]")))
        };
        let error = settled(changing, |_| Ok(fd.clone())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    }

    #[test]
    fn files_devices_and_sockets_are_told_apart() {
        assert_eq!(own(&std::fs::File::open("/dev/null").unwrap()).target, Target::Device);
        assert_eq!(own(&tempfile::tempfile().unwrap()).target, Target::File);
        let (socket, peer) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(own(&socket).target, Target::OwnSocket);
        let abroad = rustix::net::socketpair(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
            rustix::net::SocketFlags::CLOEXEC,
            None,
        );
        let (ours, theirs) = abroad.unwrap();
        let mut command = std::process::Command::new("cat");
        command.stdin(theirs).stdout(std::process::Stdio::null());
        let mut child = command.spawn().unwrap();
        drop(command);
        assert_eq!(own(&ours).target, Target::LocalSocket, "the other side is a child's");
        drop(ours);
        child.wait().unwrap();
        socket.shutdown(std::net::Shutdown::Read).unwrap();
        let inode = rustix::fs::fstat(&peer).unwrap().st_ino;
        let writing = own(&socket);
        assert_eq!(writing.target, Target::OneWay(inode));
        assert!(writing.writes && !writing.reads);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(matches!(own(&listener).target, Target::Socket(inode) if inode > 0));
    }

    #[test]
    fn kernel_objects_are_told_apart() {
        let events = rustix::event::eventfd(0, rustix::event::EventfdFlags::CLOEXEC).unwrap();
        assert_eq!(own(&events).target, Target::Events);
        let epoll = rustix::event::epoll::create(rustix::event::epoll::CreateFlags::CLOEXEC);
        assert_eq!(own(&epoll.unwrap()).target, Target::Epoll);
        let watch = rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC).unwrap();
        assert_eq!(own(&watch).target, Target::Events);
        let clock = rustix::time::TimerfdClockId::Monotonic;
        let timer = rustix::time::timerfd_create(clock, rustix::time::TimerfdFlags::CLOEXEC);
        assert_eq!(own(&timer.unwrap()).target, Target::Timer);
        let me = rustix::process::getpid();
        let process = rustix::process::pidfd_open(me, rustix::process::PidfdFlags::empty());
        assert_eq!(own(&process.unwrap()).target, Target::Process);
    }

    #[test]
    fn a_process_that_is_gone_has_no_list() {
        assert!(list(Path::new("/proc/2147483647/fd")).is_err());
    }
}
