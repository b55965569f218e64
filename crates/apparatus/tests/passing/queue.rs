//! Tests message queues.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use fullbore_apparatus::passing::MessageQueue;
use nix::errno::Errno;
use nix::mqueue::{MQ_OFlag, mq_open};
use nix::sys::stat::Mode;

use crate::skip::skipped;

/// Makes a queue; returns `None` where Linux has none.
fn queue(name: &str) -> Option<MessageQueue> {
    match MessageQueue::create(name, 2, 64) {
        Ok(queue) => Some(queue),
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            skipped(&format!("message queues: {error}"));
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
    let near = OwnedFd::from(near);
    let copy = near.try_clone().unwrap();
    let near = MessageQueue::from(near);
    let far = MessageQueue::from(copy);
    near.send(&[7; 64]).unwrap();
    near.send(b"second").unwrap();
    // The queue exists as long as anyone has a descriptor.
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
fn a_queue_with_impossible_sizes_is_refused() {
    for (most, message) in [(0, 64), (1, usize::MAX)] {
        let error = MessageQueue::create(&name("none"), most, message).unwrap_err();
        let wanted = [Errno::EINVAL, Errno::ENOSYS].map(|errno| Some(errno as i32));
        assert!(wanted.contains(&error.raw_os_error()), "{error}");
    }
}

#[test]
fn a_descriptor_that_is_no_queue_is_refused_and_closed_once() {
    let null = OwnedFd::from(File::open("/dev/null").unwrap());
    let number = null.as_raw_fd();
    let queue = MessageQueue::from(null);
    assert_eq!(queue.send(b"x").unwrap_err().raw_os_error(), Some(Errno::EBADF as i32));
    let descriptor = OwnedFd::from(queue);
    assert_eq!(descriptor.as_raw_fd(), number);
    rustix::io::fcntl_getfd(&descriptor).unwrap();
}
