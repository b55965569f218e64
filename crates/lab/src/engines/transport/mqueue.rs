//! POSIX message queues, by descriptor: the name is gone before a message is sent.

use std::io;
use std::os::fd::OwnedFd;

use fullbore_apparatus::passing::MessageQueue;
use nix::errno::Errno;

use super::super::peers::failed;
use super::channel::{Channel, whole};
use crate::EngineError;

/// Messages that wait at most: Linux's default limit for unprivileged users.
const MOST_WAITING: usize = 10;

/// A new queue for messages of `message` bytes, without a name.
///
/// # Errors
/// [`EngineError::Unavailable`] when the kernel has no queues, or not for messages of this size.
pub(super) fn create(message: usize) -> Result<OwnedFd, EngineError> {
    let name = format!("/fullbore-lab-{}", std::process::id());
    let queue = MessageQueue::create(&name, MOST_WAITING, message);
    Ok(queue.map_err(|error| unavailable(&error, message))?.into())
}

fn unavailable(error: &io::Error, message: usize) -> EngineError {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or_default());
    let remedy = match errno {
        Errno::EINVAL => format!("sysctl fs.mqueue.msgsize_max={message}"),
        Errno::EMFILE | Errno::ENOMEM => "ulimit -q unlimited".to_owned(),
        Errno::ENOSPC => "sysctl fs.mqueue.queues_max".to_owned(),
        Errno::ENOSYS => "a kernel with CONFIG_POSIX_MQUEUE".to_owned(),
        _ => return failed("mq_open", error),
    };
    let what = format!("a message queue for messages of {message} bytes: {}", errno.desc());
    EngineError::Unavailable { what, remedy }
}

/// One queue for each direction.
#[derive(Debug)]
pub(super) struct Queues {
    input: MessageQueue,
    output: MessageQueue,
}

impl Queues {
    /// Over descriptors that [`create`] made, perhaps in another process.
    pub(super) fn open(input: OwnedFd, output: OwnedFd) -> Self {
        Self { input: input.into(), output: output.into() }
    }
}

impl Channel for Queues {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        self.output.send(message)
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        whole(self.input.receive(message)?, message.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_passes_through_a_queue() {
        let queue = create(64).unwrap();
        let mut queues = Queues::open(queue.try_clone().unwrap(), queue);
        queues.send(&[7; 64]).unwrap();
        let mut got = [0; 64];
        queues.receive(&mut got).unwrap();
        assert_eq!(got, [7; 64]);
        queues.send(&[7; 63]).unwrap();
        let error = queues.receive(&mut got).unwrap_err().to_string();
        assert_eq!(error, "a message of 63 bytes instead of 64");
    }

    #[test]
    fn a_message_beyond_the_limit_names_the_setting() {
        let because = |errno: Errno| unavailable(&errno.into(), 65_536);
        let error = because(Errno::EINVAL).to_string();
        assert!(error.ends_with("(sysctl fs.mqueue.msgsize_max=65536)"), "{error}");
        let expected = "a message queue for messages of 65536 bytes: Invalid argument";
        assert!(error.contains(expected), "{error}");
        assert!(matches!(because(Errno::ENOSYS), EngineError::Unavailable { .. }));
        assert!(matches!(because(Errno::EACCES), EngineError::Failed(_)));
    }
}
