//! POSIX message queues, by descriptor: the name is gone before a message is sent.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, FromRawFd, IntoRawFd, OwnedFd};

use nix::errno::Errno;
use nix::mqueue::{MQ_OFlag, MqAttr, MqdT, mq_open, mq_receive, mq_send, mq_unlink};
use nix::sys::stat::Mode;

use super::super::peers::failed;
use super::channel::{Channel, whole};
use crate::EngineError;

/// Messages that wait at most: Linux's default limit for unprivileged users.
const MOST_WAITING: i64 = 10;

/// A new queue for messages of `message` bytes, without a name.
///
/// # Errors
/// [`EngineError::Unavailable`] when the kernel has no queues, or not for messages of this size.
///
/// Source: mq_open(3), mq_overview(7).
pub(super) fn create(message: usize) -> Result<OwnedFd, EngineError> {
    let name = format!("/fullbore-lab-{}", std::process::id());
    let bytes = i64::try_from(message).map_err(|_| unavailable(Errno::EINVAL, message))?;
    let attributes = MqAttr::new(0, MOST_WAITING, bytes, 0);
    let flags = MQ_OFlag::O_RDWR | MQ_OFlag::O_CREAT | MQ_OFlag::O_EXCL | MQ_OFlag::O_CLOEXEC;
    let queue = mq_open(name.as_str(), flags, Mode::S_IRUSR | Mode::S_IWUSR, Some(&attributes))
        .map_err(|errno| unavailable(errno, message))?;
    let unlinked = mq_unlink(name.as_str());
    // SAFETY: the descriptor is that of the queue, owned by nobody else: `queue` is consumed.
    let queue = unsafe { OwnedFd::from_raw_fd(queue.into_raw_fd()) };
    unlinked.map_err(|errno| failed("mq_unlink", &errno.into()))?;
    Ok(queue)
}

fn unavailable(errno: Errno, message: usize) -> EngineError {
    let remedy = match errno {
        Errno::EINVAL => format!("sysctl fs.mqueue.msgsize_max={message}"),
        Errno::EMFILE | Errno::ENOMEM => "ulimit -q unlimited".to_owned(),
        Errno::ENOSPC => "sysctl fs.mqueue.queues_max".to_owned(),
        Errno::ENOSYS => "a kernel with CONFIG_POSIX_MQUEUE".to_owned(),
        _ => return failed("mq_open", &errno.into()),
    };
    let what = format!("a message queue for messages of {message} bytes: {}", errno.desc());
    EngineError::Unavailable { what, remedy }
}

/// One queue for each direction.
#[derive(Debug)]
pub(super) struct Queues {
    input: MqdT,
    output: MqdT,
}

impl Queues {
    /// Over descriptors that [`create`] made, perhaps in another process.
    pub(super) fn open(input: OwnedFd, output: OwnedFd) -> Self {
        debug_assert_ne!(std::os::fd::AsRawFd::as_raw_fd(&input.as_fd()), -1);
        // SAFETY: on Linux a queue is a descriptor; this one is owned here and given up.
        let input = unsafe { MqdT::from_raw_fd(input.into_raw_fd()) };
        // SAFETY: the same.
        let output = unsafe { MqdT::from_raw_fd(output.into_raw_fd()) };
        Self { input, output }
    }
}

impl Channel for Queues {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        loop {
            match mq_send(&self.output, message, 0) {
                Err(Errno::EINTR) => {}
                done => return Ok(done?),
            }
        }
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        loop {
            match mq_receive(&self.input, message, &mut 0) {
                Err(Errno::EINTR) => {}
                count => return whole(count?, message.len()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_passes_through_a_queue_without_a_name() {
        let queue = create(64).unwrap();
        let mut queues = Queues::open(queue.try_clone().unwrap(), queue);
        queues.send(&[7; 64]).unwrap();
        let mut got = [0; 64];
        queues.receive(&mut got).unwrap();
        assert_eq!(got, [7; 64]);
        let name = format!("/fullbore-lab-{}", std::process::id());
        let gone = mq_open(name.as_str(), MQ_OFlag::O_RDONLY, Mode::empty(), None);
        assert_eq!(gone.unwrap_err(), Errno::ENOENT);
    }

    #[test]
    fn a_message_beyond_the_limit_names_the_setting() {
        let error = unavailable(Errno::EINVAL, 65_536).to_string();
        assert!(error.ends_with("(sysctl fs.mqueue.msgsize_max=65536)"), "{error}");
        let error = unavailable(Errno::ENOSYS, 64);
        assert!(matches!(error, EngineError::Unavailable { .. }));
    }
}
