//! What passes a message: one interface over calls that differ.

use std::io;
use std::os::fd::OwnedFd;

use rustix::io::{read, retry_on_intr, write};
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// A way there and a way back, for messages of one size.
pub(super) trait Channel {
    /// Passes a message on; waits until there is room.
    fn send(&mut self, message: &[u8]) -> io::Result<()>;
    /// Waits until the whole message is there.
    fn receive(&mut self, message: &mut [u8]) -> io::Result<()>;
}

/// Pipes and connections: bytes without borders.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
}

impl Channel for Stream {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let mut rest = message;
        while !rest.is_empty() {
            let count = retry_on_intr(|| write(&self.output, rest))?;
            rest = &rest[count..];
        }
        Ok(())
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        let mut filled = 0;
        while filled < message.len() {
            match retry_on_intr(|| read(&self.input, &mut message[filled..]))? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => filled += count,
            }
        }
        Ok(())
    }
}

/// Messages that arrive whole or not at all.
#[derive(Debug)]
pub(super) struct Datagrams {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
}

impl Channel for Datagrams {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        retry_on_intr(|| send(&self.output, message, SendFlags::NOSIGNAL))?;
        Ok(())
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        let (count, _) = retry_on_intr(|| recv(&self.input, &mut *message, RecvFlags::empty()))?;
        whole(count, message.len())
    }
}

/// A message was cut, or the other side left.
pub(super) fn whole(count: usize, wanted: usize) -> io::Result<()> {
    if count == wanted {
        return Ok(());
    }
    Err(io::Error::other(format!("a message of {count} bytes instead of {wanted}")))
}

/// Nothing but the fact that there is a message; its number stays behind.
#[derive(Debug)]
pub(super) struct Events {
    pub(super) input: OwnedFd,
    pub(super) output: OwnedFd,
}

impl Channel for Events {
    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        let _ = message;
        retry_on_intr(|| write(&self.output, &1_u64.to_ne_bytes()))?;
        Ok(())
    }

    fn receive(&mut self, message: &mut [u8]) -> io::Result<()> {
        let _ = message;
        let mut count = [0; 8];
        retry_on_intr(|| read(&self.input, &mut count))?;
        match u64::from_ne_bytes(count) {
            1 => Ok(()),
            count => Err(io::Error::other(format!("{count} events at once"))),
        }
    }
}
