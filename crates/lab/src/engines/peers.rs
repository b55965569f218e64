//! Two processes that do a trial together: started, given their descriptors, let go at the same moment, heard, and
//! never left behind.
//!
//! ```text
//! coordinator ── task + descriptors (SCM_RIGHTS) ─▶ side     over a socket that is the side's standard input
//!             ◀─────────────── ready ──────────────
//!             ───────────────── go ───────────────▶           both sides were ready
//!             ◀── report (times, CPU, answer) ─────
//! ```
//! A side is this same program, started again with [`SIDE`]. It dies with the coordinator (`PR_SET_PDEATHSIG`), and the
//! coordinator kills it when the trial fails or takes longer than its limit.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{IoSlice, IoSliceMut};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::clock::Usage;
use crate::{EngineError, Latency, Parameters};

/// The word after which this program must call [`side`](super::side()) instead of anything else.
pub const SIDE: &str = "lab-side";

/// Most descriptors that a task carries.
const MOST_DESCRIPTORS: usize = 8;
/// Longest message: a report with every bucket of a latency is far below.
const MOST_MESSAGE_BYTES: usize = 160 << 10;

/// What a side is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// Which part, by its name among [`ROLES`](super::ROLES).
    pub(super) role: String,
    /// All parameters of the engine.
    pub(super) parameters: Parameters,
}

/// What a side says.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Saying {
    /// It has all it needs and waits to be let go.
    Ready,
    /// It is done.
    Done(Box<Report>),
    /// It could not do it.
    Failed(EngineError),
}

/// What a side found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Report {
    /// Its times, CPU time, memory and switches.
    pub(super) usage: Usage,
    /// Bytes it moved.
    pub(super) bytes: Option<u64>,
    /// Messages or calls it made.
    pub(super) operations: Option<u64>,
    /// What it found in the bytes it got.
    pub(super) answer: Option<String>,
    /// Round trips it timed.
    pub(super) latency: Option<Latency>,
}

/// Two sides that are ready.
#[derive(Debug)]
pub(super) struct Peers {
    sides: [Side; 2],
    deadline: Instant,
    limit: Duration,
}

/// A process that is killed and reaped when this goes out of scope.
#[derive(Debug)]
struct Side {
    name: &'static str,
    child: Child,
    control: OwnedFd,
}

/// Name of a side, its role and the descriptors it gets.
pub(super) type Part = (&'static str, &'static str, Vec<OwnedFd>);

impl Peers {
    /// Starts both sides; they give up when the trial takes longer than `limit` seconds (the parameter of that name).
    ///
    /// # Errors
    /// What Linux says.
    pub(super) fn start(parts: [Part; 2], parameters: &Parameters) -> Result<Self, EngineError> {
        let program = std::env::current_exe().map_err(|e| failed("this program", &e))?;
        let limit = Duration::from_secs(parameters.number("limit")?);
        let names = [parts[0].0, parts[1].0];
        let start = |name| Side::start(name, Command::new(&program).arg(SIDE));
        let peers = Self {
            sides: [start(names[0])?, start(names[1])?],
            deadline: Instant::now() + limit,
            limit,
        };
        for (side, (_, role, descriptors)) in peers.sides.iter().zip(parts) {
            let task = Task { role: role.to_owned(), parameters: parameters.clone() };
            send(&side.control, &task, &descriptors).map_err(|e| failed(side.name, &e))?;
        }
        Ok(peers)
    }

    /// Waits until both are ready, lets them go, and waits for their reports.
    ///
    /// # Errors
    /// What a side says; that one ended early, or that the limit is over and what was waited for.
    pub(super) fn run(mut self) -> Result<[Report; 2], EngineError> {
        for saying in self.hear("to be ready")? {
            if !matches!(saying, Saying::Ready) {
                return Err(EngineError::Failed("a side was done before it began".to_owned()));
            }
        }
        for side in &self.sides {
            send(&side.control, &(), &[]).map_err(|e| failed(side.name, &e))?;
        }
        let reports = self.hear("to finish")?.map(|saying| match saying {
            Saying::Done(report) => Ok(*report),
            _ => Err(EngineError::Failed("a side was ready twice".to_owned())),
        });
        let [first, second] = reports;
        Ok([first?, second?])
    }

    /// One saying of each side, in whatever order they come.
    fn hear(&mut self, what: &str) -> Result<[Saying; 2], EngineError> {
        let mut heard = [None, None];
        while heard.iter().any(Option::is_none) {
            let silent: Vec<usize> = (0..2).filter(|&side| heard[side].is_none()).collect();
            let ready = self.wait_for(&silent, what)?;
            for side in ready {
                heard[side] = Some(self.sides[side].hear(what)?);
            }
        }
        let [first, second] = heard;
        first.zip(second).map(Into::into).ok_or_else(|| EngineError::Failed(what.to_owned()))
    }

    /// The sides among `of` that have something to say or ended.
    fn wait_for(&self, of: &[usize], what: &str) -> Result<Vec<usize>, EngineError> {
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let names: Vec<_> = of.iter().map(|&side| self.sides[side].name).collect();
                let names = names.join(" and the ");
                return Err(EngineError::Failed(format!(
                    "waited {} s for the {names} {what}",
                    self.limit.as_secs_f64()
                )));
            }
            let mut fds: Vec<_> = of
                .iter()
                .map(|&side| PollFd::new(&self.sides[side].control, PollFlags::IN))
                .collect();
            let timeout = Timespec::try_from(left).ok();
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => {
                    let ready = of.iter().zip(&fds).filter(|(_, fd)| !fd.revents().is_empty());
                    return Ok(ready.map(|(&side, _)| side).collect());
                }
                Err(errno) => return Err(failed("waiting", &errno.into())),
            }
        }
    }
}

impl Side {
    fn start(name: &'static str, command: &mut Command) -> Result<Self, EngineError> {
        let (control, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .map_err(|e| failed(name, &e.into()))?;
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::inherit());
        let child = command.spawn().map_err(|e| failed(name, &e))?;
        // The command still holds the other end of the socket: without it, an end of the side is seen.
        command.stdin(Stdio::null());
        Ok(Self { name, child, control })
    }

    fn hear(&mut self, what: &str) -> Result<Saying, EngineError> {
        match receive::<Saying>(&self.control) {
            Ok(Some((Saying::Failed(EngineError::Failed(why)), _))) => {
                Err(EngineError::Failed(format!("the {}: {why}", self.name)))
            }
            Ok(Some((Saying::Failed(error), _))) => Err(error),
            Ok(Some((saying, _))) => Ok(saying),
            Ok(None) => {
                let status = self.child.wait().map_err(|e| failed(self.name, &e))?;
                let name = self.name;
                Err(EngineError::Failed(format!(
                    "waited for the {name} {what}: it ended, {status}"
                )))
            }
            Err(error) => Err(failed(self.name, &error)),
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // Both fail when it is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A failure of Linux, with the thing it is about.
pub(super) fn failed(what: &str, error: &io::Error) -> EngineError {
    EngineError::Failed(format!("{what}: {error}"))
}

/// Sends one message, with descriptors.
pub(super) fn send(
    socket: impl AsFd,
    message: &impl Serialize,
    descriptors: &[OwnedFd],
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let borrowed: Vec<BorrowedFd<'_>> = descriptors.iter().map(AsFd::as_fd).collect();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut rights = SendAncillaryBuffer::new(&mut space);
    if !borrowed.is_empty() && !rights.push(SendAncillaryMessage::ScmRights(&borrowed)) {
        return Err(io::Error::other("too many descriptors"));
    }
    let flags = SendFlags::NOSIGNAL;
    let sent = sendmsg(socket, &[IoSlice::new(&text)], &mut rights, flags)?;
    if sent < text.len() {
        return Err(io::Error::other("a message was cut"));
    }
    Ok(())
}

/// The next message and its descriptors; `None` when the other side ended.
pub(super) fn receive<T: DeserializeOwned>(
    socket: impl AsFd,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut text = vec![0; MOST_MESSAGE_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let flags = RecvFlags::CMSG_CLOEXEC;
    let got = rustix::io::retry_on_intr(|| {
        recvmsg(&socket, &mut [IoSliceMut::new(&mut text)], &mut rights, flags)
    });
    let bytes = match got {
        Ok(got) => got.bytes,
        Err(rustix::io::Errno::CONNRESET) => 0,
        Err(errno) => return Err(errno.into()),
    };
    if bytes == 0 {
        return Ok(None);
    }
    let mut descriptors = Vec::new();
    for message in rights.drain() {
        if let RecvAncillaryMessage::ScmRights(fds) = message {
            descriptors.extend(fds);
        }
    }
    Ok(Some((serde_json::from_slice(&text[..bytes])?, descriptors)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peers(program: &str, arguments: &[&str], limit: Duration) -> Peers {
        let start = |name| Side::start(name, Command::new(program).args(arguments)).unwrap();
        Peers { sides: [start("writer"), start("reader")], deadline: Instant::now() + limit, limit }
    }

    fn is_alive(peers: &Peers) -> Vec<bool> {
        let exists =
            |side: &Side| std::path::Path::new(&format!("/proc/{}", side.child.id())).exists();
        peers.sides.iter().map(exists).collect()
    }

    #[test]
    fn a_side_that_says_nothing_is_killed_at_the_limit_and_named() {
        let peers = peers("sleep", &["1000"], Duration::from_millis(50));
        let pids: Vec<_> = peers.sides.iter().map(|side| side.child.id()).collect();
        assert_eq!(is_alive(&peers), [true, true]);
        let error = peers.run().unwrap_err();
        assert_eq!(error.to_string(), "waited 0.05 s for the writer and the reader to be ready");
        for pid in pids {
            assert!(
                !std::path::Path::new(&format!("/proc/{pid}")).exists(),
                "{pid} was left behind"
            );
        }
    }

    #[test]
    fn a_side_that_ends_early_is_named_with_its_status() {
        let error = peers("sh", &["-c", "exit 7"], Duration::from_secs(60)).run().unwrap_err();
        let error = error.to_string();
        assert!(error.ends_with("to be ready: it ended, exit status: 7"), "{error}");
    }

    #[test]
    fn descriptors_arrive_with_their_message() {
        let (near, far) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .unwrap();
        let (mut reader, writer) = io::pipe().unwrap();
        send(&near, &7, &[writer.into()]).unwrap();
        let (number, descriptors) = receive::<u32>(&far).unwrap().unwrap();
        assert_eq!((number, descriptors.len()), (7, 1));
        rustix::io::write(&descriptors[0], b"through").unwrap();
        drop(descriptors);
        let mut text = String::new();
        io::Read::read_to_string(&mut reader, &mut text).unwrap();
        assert_eq!(text, "through");
        drop(near);
        assert!(receive::<u32>(&far).unwrap().is_none());
    }
}
