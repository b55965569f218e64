//! From a blocked system call to what a thread waits for.

use fullbore_measure::Bytes;
use fullbore_pipe::{End, Handle, fill, lend};
use fullbore_proc::{Fd, PollEntry, Root, State, Target, Unavailable, Wait};

use crate::sample::{Awaited, Doing};
use crate::sampler::ends::pipe_of;
use crate::sampler::files::ProcessFiles;
use crate::sampler::sockets::Sockets;
use crate::topology::pipes::Pipes;
use fullbore_record::Cause;

/// Where facts about waits come from.
pub(crate) struct Sight<'a> {
    pub(crate) root: &'a Root,
    pub(crate) pipes: &'a Pipes,
    pub(crate) sockets: &'a Sockets,
    /// Whether a pipe may be opened to ask how much is in it.
    pub(crate) may_ask: bool,
    pub(crate) buffer: &'a mut [u8],
}

impl Sight<'_> {
    /// What a blocked thread waits for; `None` when its process turns out to have ended.
    pub(crate) fn doing(&mut self, process: &mut ProcessFiles, wait: Wait) -> Option<Doing> {
        Some(match wait {
            Wait::Read(fd) => Doing::Reading(self.place(process, fd)),
            Wait::Write(fd) => Doing::Writing(self.place(process, fd)),
            Wait::Socket(fd) => match self.place(process, fd) {
                Awaited::Other(cause @ (Cause::LocalSocket | Cause::Peer)) => Doing::Waiting(cause),
                place @ Awaited::Pipe(_) if self.writes_to(process, fd) => Doing::Writing(place),
                place @ Awaited::Pipe(_) => Doing::Reading(place),
                Awaited::Other(_) => Doing::Waiting(Cause::Network),
            },
            Wait::Sleep => Doing::Waiting(Cause::Sleep),
            Wait::Lock => Doing::Waiting(Cause::Lock),
            Wait::Child => Doing::Waiting(Cause::Child),
            Wait::Open => Doing::Waiting(Cause::FifoPeer),
            Wait::Sync => Doing::Waiting(Cause::Disk),
            Wait::Move { from, to } => self.moving(process, from, to),
            Wait::Poll { .. } | Wait::Select { .. } | Wait::Epoll(_) => {
                match self.root.try_polled(process.pid, wait) {
                    Ok(entries) => self.polling(process, &entries),
                    Err(_) => Doing::Waiting(Cause::Unknown),
                }
            }
            _ => asleep(process, self.buffer)?,
        })
    }

    /// What a descriptor of a process leads to.
    fn place(&self, process: &mut ProcessFiles, number: i32) -> Awaited {
        // Not a pipe that is known: a shell may have led the descriptor elsewhere since.
        let is_stale = |fd: &Fd| pipe_of(&fd.target).is_none_or(|id| self.pipes.find(id).is_none());
        let pid = process.pid;
        match process.fd(self.root, number, is_stale) {
            Some(Fd { target: Target::Socket(inode), .. })
                if self.sockets.are_joined(pid, *inode) =>
            {
                Awaited::Other(Cause::Peer)
            }
            Some(fd) => awaited_of(&fd.target),
            None => Awaited::Other(Cause::Unknown),
        }
    }

    fn writes_to(&self, process: &mut ProcessFiles, number: i32) -> bool {
        process.fd(self.root, number, |_| false).is_some_and(|fd| fd.writes)
    }

    fn polling(&self, process: &mut ProcessFiles, entries: &[PollEntry]) -> Doing {
        // What wakes itself by a socket pair of its own (curl, which sleeps to keep to a rate) waits for nobody by that.
        let mut is_own = |entry: &PollEntry| {
            let fd = process.fd(self.root, entry.fd, |_| false);
            fd.is_some_and(|fd| fd.target == Target::OwnSocket)
        };
        let entries: Vec<&PollEntry> = entries.iter().filter(|entry| !is_own(entry)).collect();
        if entries.is_empty() {
            return Doing::Waiting(Cause::Sleep);
        }
        let mut places = |wanted: fn(&PollEntry) -> bool| {
            let wanted = entries.iter().filter(|entry| wanted(entry));
            wanted.map(|entry| self.place(process, entry.fd)).collect()
        };
        Doing::Polling { reads: places(|entry| entry.reads), writes: places(|entry| entry.writes) }
    }

    fn moving(&self, process: &mut ProcessFiles, from: i32, to: i32) -> Doing {
        let (source, target) = (self.place(process, from), self.place(process, to));
        let source_fill_bytes = match source {
            Awaited::Pipe(pipe) if self.may_ask => {
                let handle = Handle { pid: process.pid, fd: from, pipe, end: End::Read };
                match lend(handle, |fd| fill(fd)) {
                    Ok(Ok(Bytes(bytes))) => Some(bytes),
                    _ => None,
                }
            }
            _ => None,
        };
        Doing::Moving { from: source, to: target, source_fill_bytes }
    }
}

/// What a process does of which only the state letter is known; `None` when it has ended.
pub(crate) fn asleep(process: &ProcessFiles, buffer: &mut [u8]) -> Option<Doing> {
    let state = match process.read_stat(buffer) {
        Ok(stat) => stat.state,
        Err(Unavailable::Gone) => return None,
        Err(_) => State::Other,
    };
    Some(Doing::Waiting(match state {
        State::DiskSleep => Cause::Disk,
        State::Stopped => Cause::Stopped,
        _ => Cause::Unknown,
    }))
}

fn awaited_of(target: &Target) -> Awaited {
    if let Some(pipe) = pipe_of(target) {
        return Awaited::Pipe(pipe);
    }
    Awaited::Other(match target {
        Target::Socket(_) => Cause::Network,
        Target::LocalSocket => Cause::LocalSocket,
        Target::Timer | Target::OwnSocket => Cause::Sleep,
        Target::Process => Cause::Child,
        Target::Events => Cause::Event,
        Target::Terminal => Cause::Terminal,
        Target::File => Cause::Disk,
        Target::Anonymous | Target::Epoll => Cause::Lock,
        _ => Cause::Unknown,
    })
}
