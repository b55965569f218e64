//! Moving memory: copying it, writing it and reading it with the instructions that a processor has for that, so that they
//! can be compared.
//!
//! Flow: [`Method`] (what moves the bytes) × [`Task`] (what is done) → [`Method::kernel`] → [`Kernel`], a safe function.
//! It is no stage and not what stages copy with; they leave that to `copy_from_slice`.
//!
//! ```
//! use fullbore_codec::memory::{Kernel, Method, Task};
//! let Kernel::Copy(copy) = Method::Scalar.kernel(Task::Copy)? else { unreachable!() };
//! let mut to = [0; 5];
//! copy(&mut to, b"hello");
//! assert_eq!(&to, b"hello");
//! # Ok::<(), fullbore_codec::memory::MemoryError>(())
//! ```
//!
//! The loops contain what the compiler cannot see through, or it would call memcpy in all of them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod error;
pub mod naive;
#[cfg(target_arch = "x86_64")]
mod non_temporal;
mod scalar;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(target_arch = "x86_64")]
mod string;

use std::fmt;
use std::str::FromStr;

#[cfg(target_arch = "x86_64")]
use crate::Tier;
pub use error::MemoryError;

/// What moves the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// What the C library has: memcpy(3), memset(3).
    Libc,
    /// Vectors of 64 bytes. Needs AVX-512 F and BW.
    Avx512,
    /// Vectors of 32 bytes. Needs AVX2.
    Avx2,
    /// Vectors of 16 bytes, on every x86-64.
    Sse2,
    /// Words of 8 bytes, on every processor.
    Scalar,
    /// `rep movsb` and `rep stosb`, on every x86-64.
    RepMovsb,
    /// Vectors of 16 bytes that go past the cache, on every x86-64.
    NonTemporal,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// From one buffer to another.
    Copy,
    /// One value into a buffer.
    Write,
    /// The sum of a buffer's words.
    Read,
}

/// A method for one task, which this processor can run.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    /// From the second to the first. Panics when their lengths differ.
    Copy(fn(&mut [u8], &[u8])),
    /// This value into every byte.
    Write(fn(&mut [u8], u8)),
    /// The sum of all whole little-endian words of 8 bytes, wrapping; up to 7 bytes at the end are left out.
    Read(fn(&[u8]) -> u64),
}

impl Method {
    /// All of them, as [`NAMES`](Self::NAMES) has them.
    pub const ALL: [Self; 7] = [
        Self::Libc,
        Self::Avx512,
        Self::Avx2,
        Self::Sse2,
        Self::Scalar,
        Self::RepMovsb,
        Self::NonTemporal,
    ];

    /// The names of all methods.
    pub const NAMES: &[&str] =
        &["libc-memcpy", "avx512", "avx2", "sse2", "scalar", "rep-movsb", "non-temporal"];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// How it does `task`.
    ///
    /// # Errors
    /// [`MemoryError::CannotRead`]: there is no such way to read; [`MemoryError::Unsupported`]: not on this processor.
    pub fn kernel(self, task: Task) -> Result<Kernel, MemoryError> {
        match (self, task) {
            (Self::Libc | Self::RepMovsb | Self::NonTemporal, Task::Read) => {
                Err(MemoryError::CannotRead(self))
            }
            (Self::Libc, Task::Copy) => Ok(Kernel::Copy(|to, from| to.copy_from_slice(from))),
            (Self::Libc, Task::Write) => Ok(Kernel::Write(<[u8]>::fill)),
            (Self::Scalar, Task::Copy) => Ok(Kernel::Copy(scalar::copy)),
            (Self::Scalar, Task::Write) => Ok(Kernel::Write(scalar::write)),
            (Self::Scalar, Task::Read) => Ok(Kernel::Read(scalar::read)),
            _ => self.kernel_of_x86(task).ok_or(MemoryError::Unsupported(self)),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn kernel_of_x86(self, task: Task) -> Option<Kernel> {
        let is_here = match self {
            Self::Avx512 => Tier::Avx512.has_vectors(),
            Self::Avx2 => Tier::Avx2.has_vectors(),
            _ => true,
        };
        let kernel = match (self, task) {
            (Self::Avx512, Task::Copy) => Kernel::Copy(avx512::copy),
            (Self::Avx512, Task::Write) => Kernel::Write(avx512::write),
            (Self::Avx512, Task::Read) => Kernel::Read(avx512::read),
            (Self::Avx2, Task::Copy) => Kernel::Copy(avx2::copy),
            (Self::Avx2, Task::Write) => Kernel::Write(avx2::write),
            (Self::Avx2, Task::Read) => Kernel::Read(avx2::read),
            (Self::Sse2, Task::Copy) => Kernel::Copy(sse2::copy),
            (Self::Sse2, Task::Write) => Kernel::Write(sse2::write),
            (Self::Sse2, Task::Read) => Kernel::Read(sse2::read),
            (Self::RepMovsb, Task::Copy) => Kernel::Copy(string::copy),
            (Self::RepMovsb, Task::Write) => Kernel::Write(string::write),
            (Self::NonTemporal, Task::Copy) => Kernel::Copy(non_temporal::copy),
            (Self::NonTemporal, Task::Write) => Kernel::Write(non_temporal::write),
            _ => return None,
        };
        is_here.then_some(kernel)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn kernel_of_x86(self, _task: Task) -> Option<Kernel> {
        None
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = MemoryError;

    fn from_str(name: &str) -> Result<Self, MemoryError> {
        let method = Self::ALL.into_iter().find(|method| method.name() == name);
        method.ok_or_else(|| MemoryError::Unknown(name.to_owned()))
    }
}

impl Task {
    /// The names of all tasks.
    pub const NAMES: &[&str] = &["copy", "write", "read"];
}

impl FromStr for Task {
    type Err = MemoryError;

    fn from_str(name: &str) -> Result<Self, MemoryError> {
        match name {
            "copy" => Ok(Self::Copy),
            "write" => Ok(Self::Write),
            "read" => Ok(Self::Read),
            _ => Err(MemoryError::Unknown(name.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_that_of_its_method() {
        for (method, name) in Method::ALL.into_iter().zip(Method::NAMES) {
            assert_eq!(name.parse(), Ok(method));
            assert_eq!(method.to_string(), *name);
        }
        assert_eq!(Method::ALL.len(), Method::NAMES.len());
        assert!(Task::NAMES.iter().all(|name| name.parse::<Task>().is_ok()));
        assert_eq!("avx".parse::<Method>(), Err(MemoryError::Unknown("avx".to_owned())));
    }

    #[test]
    fn what_cannot_read_says_what_can() {
        for method in [Method::Libc, Method::RepMovsb, Method::NonTemporal] {
            let error = method.kernel(Task::Read).unwrap_err();
            assert_eq!(error, MemoryError::CannotRead(method));
            let expected = format!("{method} cannot read; use avx512, avx2, sse2 or scalar");
            assert_eq!(error.to_string(), expected);
        }
    }
}
