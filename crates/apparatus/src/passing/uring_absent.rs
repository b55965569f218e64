//! Stands for `uring` on CPUs for which nobody has described io_uring to Rust.

use std::io;
use std::os::fd::AsFd;

/// An io_uring instance; cannot be had on this CPU.
#[derive(Debug)]
pub enum Uring {}

impl Uring {
    /// Refuses.
    ///
    /// # Errors
    /// Always [`io::ErrorKind::Unsupported`].
    pub fn new() -> io::Result<Self> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "io_uring: fullbore cannot use that of this CPU",
        ))
    }

    /// Is never called.
    ///
    /// # Errors
    /// None.
    pub fn read(&mut self, _: impl AsFd, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    /// Is never called.
    ///
    /// # Errors
    /// None.
    pub fn write(&mut self, _: impl AsFd, _: &[u8]) -> io::Result<usize> {
        match *self {}
    }
}
