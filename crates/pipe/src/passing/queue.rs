//! POSIX message queues, by descriptor.
#![allow(unsafe_code)]

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::mqueue::{MQ_OFlag, MqAttr, MqdT, mq_close, mq_open, mq_receive, mq_send, mq_unlink};
use nix::sys::stat::Mode;

/// A message queue without a name, which whoever has the descriptor may use.
///
/// Of a descriptor that is no queue, every call says EBADF.
#[derive(Debug)]
pub struct MessageQueue {
    /// On Linux a queue *is* a descriptor. This is that of `descriptor`, which closes it.
    queue: ManuallyDrop<MqdT>,
    descriptor: OwnedFd,
}

impl MessageQueue {
    /// A new queue for `most` messages of up to `message` bytes. For a moment it has the name `name` (`/` and up to 254
    /// bytes without `/`), which must be new.
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
        // Only the copy is kept.
        mq_close(queue)?;
        unlinked.map_err(|errno| io::Error::other(format!("mq_unlink: {}", errno.desc())))?;
        Ok(descriptor?.into())
    }

    /// Puts a message into the queue; waits until there is room.
    ///
    /// # Errors
    /// EMSGSIZE: longer than the queue takes.
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

    /// Takes the oldest message; waits until there is one. Returns its length.
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
        // SAFETY: the descriptor is open as long as it is kept beside, and is closed by nobody else: the queue is never
        // dropped. That it is a queue is not needed for safety: the calls only pass on the number.
        let queue = unsafe { MqdT::from_raw_fd(descriptor.as_raw_fd()) };
        Self { queue: ManuallyDrop::new(queue), descriptor }
    }
}

impl From<MessageQueue> for OwnedFd {
    fn from(queue: MessageQueue) -> Self {
        queue.descriptor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    /// A queue; `None` where Linux has none.
    fn queue(name: &str) -> Option<MessageQueue> {
        match MessageQueue::create(name, 2, 64) {
            Ok(queue) => Some(queue),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                eprintln!("skipped: {error}");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    fn name(of: &str) -> String {
        format!("/fullbore-test-{of}-{}", std::process::id())
    }

    #[test]
    fn messages_pass_in_order_through_a_queue_without_a_name() {
        let name = name("order");
        let Some(near) = queue(&name) else { return };
        let gone = mq_open(name.as_str(), MQ_OFlag::O_RDONLY, Mode::empty(), None);
        assert_eq!(gone.unwrap_err(), Errno::ENOENT);
        let far = MessageQueue::from(near.descriptor.try_clone().unwrap());
        near.send(&[7; 64]).unwrap();
        near.send(b"second").unwrap();
        // The queue is there as long as anyone has a descriptor.
        drop(near);
        let mut got = [0; 64];
        assert_eq!(far.receive(&mut got).unwrap(), 64);
        assert_eq!(got, [7; 64]);
        assert_eq!(far.receive(&mut got).unwrap(), 6);
        assert_eq!(&got[..6], b"second");
    }

    #[test]
    fn what_does_not_fit_is_refused_and_nothing_is_written() {
        let Some(queue) = queue(&name("fit")) else { return };
        assert_eq!(queue.send(&[0; 65]).unwrap_err().raw_os_error(), Some(Errno::EMSGSIZE as i32));
        queue.send(&[1; 64]).unwrap();
        let mut short = [0; 63];
        let error = queue.receive(&mut short).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(Errno::EMSGSIZE as i32));
        assert_eq!(short, [0; 63]);
    }

    #[test]
    fn a_queue_that_cannot_be_is_refused() {
        for (most, message) in [(0, 64), (1, usize::MAX)] {
            let error = MessageQueue::create(&name("none"), most, message).unwrap_err();
            let wanted = [Errno::EINVAL, Errno::ENOSYS].map(|errno| Some(errno as i32));
            assert!(wanted.contains(&error.raw_os_error()), "{error}");
        }
    }

    #[test]
    fn a_descriptor_that_is_no_queue_is_refused_and_closed_once() {
        let queue = MessageQueue::from(OwnedFd::from(File::open("/dev/null").unwrap()));
        let number = queue.descriptor.as_raw_fd();
        assert_eq!(queue.send(b"x").unwrap_err().raw_os_error(), Some(Errno::EBADF as i32));
        let descriptor = OwnedFd::from(queue);
        assert_eq!(descriptor.as_raw_fd(), number);
        rustix::io::fcntl_getfd(&descriptor).unwrap();
    }
}
