//! POSIX message queues behind a descriptor.
#![allow(unsafe_code)]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::mqueue::{MQ_OFlag, MqAttr, MqdT, mq_close, mq_open, mq_receive, mq_send, mq_unlink};
use nix::sys::stat::Mode;

/// A message queue without a name: whoever has the descriptor may use it.
///
/// Every call on a descriptor that is not a queue fails with EBADF.
#[derive(Debug)]
pub struct MessageQueue {
    /// On Linux a queue *is* a descriptor. This one belongs to `descriptor`, which closes it.
    queue: ManuallyDrop<MqdT>,
    descriptor: OwnedFd,
}

impl MessageQueue {
    /// Creates a queue for `most` messages of up to `message` bytes. For a moment it has the name `name` (`/` and up to
    /// 254 bytes without `/`), which must be new.
    ///
    /// # Errors
    /// EINVAL: `most` or `message` is 0 or above `/proc/sys/fs/mqueue/`; EEXIST; EMFILE or ENOMEM: above
    /// `RLIMIT_MSGQUEUE`; ENOSPC: above `queues_max`; ENOSYS: a kernel without queues.
    ///
    /// Source: mq_open(3), mq_overview(7).
    pub fn create(name: &str, most: usize, message: usize) -> io::Result<Self> {
        let number = |number: usize| number.try_into().map_err(|_| Errno::EINVAL);
        let attributes = MqAttr::new(0, number(most)?, number(message)?, 0);
        let flags = MQ_OFlag::O_RDWR | MQ_OFlag::O_CREAT | MQ_OFlag::O_EXCL | MQ_OFlag::O_CLOEXEC;
        let queue = mq_open(name, flags, Mode::S_IRUSR | Mode::S_IWUSR, Some(&attributes))?;
        let unlinked = mq_unlink(name);
        let descriptor = queue.as_fd().try_clone_to_owned();
        // Keep only the copy.
        mq_close(queue)?;
        unlinked.map_err(|errno| io::Error::other(format!("mq_unlink: {}", errno.desc())))?;
        Ok(descriptor?.into())
    }

    /// Sends a message; waits until there is room.
    ///
    /// # Errors
    /// EMSGSIZE: the message is longer than the queue takes.
    ///
    /// Source: mq_send(3).
    pub fn send(&self, message: &[u8]) -> io::Result<()> {
        loop {
            match mq_send(&self.queue, message, 0) {
                Err(Errno::EINTR) => {}
                done => return Ok(done?),
            }
        }
    }

    /// Receives the oldest message and returns its length; waits until there is one.
    ///
    /// # Errors
    /// EMSGSIZE: `message` is shorter than the queue's longest.
    ///
    /// Source: mq_receive(3).
    pub fn receive(&self, message: &mut [u8]) -> io::Result<usize> {
        loop {
            match mq_receive(&self.queue, message, &mut 0) {
                Err(Errno::EINTR) => {}
                count => return Ok(count?),
            }
        }
    }
}

impl From<OwnedFd> for MessageQueue {
    fn from(descriptor: OwnedFd) -> Self {
        // SAFETY: the descriptor stays open because it is kept beside, and nobody else closes it, because the queue is
        // never dropped. Safety does not require it to be a queue: the calls only pass on the number.
        let queue = unsafe { MqdT::from_raw_fd(descriptor.as_raw_fd()) };
        Self { queue: ManuallyDrop::new(queue), descriptor }
    }
}

impl From<MessageQueue> for OwnedFd {
    fn from(queue: MessageQueue) -> Self {
        queue.descriptor
    }
}
