//! Copies, writes and reads memory with each of a processor's instructions for it, so that they can be compared.
//!
//! Flow: [`Method`] (which instructions) × [`Operation`] (what to do) → [`Method::kernel`] → [`Kernel`], a safe function. No
//! stage uses these; stages copy with `copy_from_slice`.
//!
//! ```
//! use fullbore_apparatus::memory::{Kernel, Method, Operation};
//! let Kernel::Copy(copy) = Method::Scalar.kernel(Operation::Copy)? else { unreachable!() };
//! let mut to = [0; 5];
//! copy(&mut to, b"hello");
//! assert_eq!(&to, b"hello");
//! # Ok::<(), fullbore_apparatus::memory::MemoryError>(())
//! ```
//!
//! The loops contain empty assembly that the compiler cannot analyse; without it, the compiler would replace all of
//! them by memcpy.

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
mod vectors;

use std::fmt;
use std::str::FromStr;

pub use error::MemoryError;

/// Instructions that move the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// The C library's functions: memcpy(3), memset(3).
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
    /// Stores of 16 bytes that bypass the cache, on every x86-64.
    NonTemporal,
}

/// What to do with the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Copy one buffer to another.
    Copy,
    /// Fill a buffer with one value.
    Write,
    /// Add up a buffer's words.
    Read,
}

/// A method for one task that this processor can run.
#[derive(Clone, Copy, Debug)]
pub enum Kernel {
    /// Copies the second buffer to the first. Panics when their lengths differ.
    Copy(fn(&mut [u8], &[u8])),
    /// Sets every byte to this value.
    Write(fn(&mut [u8], u8)),
    /// Returns the wrapping sum of all whole little-endian words of 8 bytes; ignores up to 7 bytes at the end.
    Read(fn(&[u8]) -> u64),
}

impl Method {
    /// All methods, in the order of [`NAMES`](Self::NAMES).
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

    /// Returns the method's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Returns this method's kernel for `task`.
    ///
    /// # Errors
    /// [`MemoryError::CannotRead`] when no such instruction reads; [`MemoryError::Unsupported`] when this processor
    /// lacks it.
    pub fn kernel(self, task: Operation) -> Result<Kernel, MemoryError> {
        match (self, task) {
            (Self::Libc | Self::RepMovsb | Self::NonTemporal, Operation::Read) => {
                Err(MemoryError::CannotRead(self))
            }
            (Self::Libc, Operation::Copy) => Ok(Kernel::Copy(|to, from| to.copy_from_slice(from))),
            (Self::Libc, Operation::Write) => Ok(Kernel::Write(<[u8]>::fill)),
            (Self::Scalar, Operation::Copy) => Ok(Kernel::Copy(scalar::copy)),
            (Self::Scalar, Operation::Write) => Ok(Kernel::Write(scalar::write)),
            (Self::Scalar, Operation::Read) => Ok(Kernel::Read(scalar::read)),
            _ => self.kernel_of_x86(task).ok_or(MemoryError::Unsupported(self)),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn kernel_of_x86(self, task: Operation) -> Option<Kernel> {
        let is_here = match self {
            Self::Avx512 => vectors::has_avx512(),
            Self::Avx2 => vectors::has_avx2(),
            _ => true,
        };
        let kernel = match (self, task) {
            (Self::Avx512, Operation::Copy) => Kernel::Copy(avx512::copy),
            (Self::Avx512, Operation::Write) => Kernel::Write(avx512::write),
            (Self::Avx512, Operation::Read) => Kernel::Read(avx512::read),
            (Self::Avx2, Operation::Copy) => Kernel::Copy(avx2::copy),
            (Self::Avx2, Operation::Write) => Kernel::Write(avx2::write),
            (Self::Avx2, Operation::Read) => Kernel::Read(avx2::read),
            (Self::Sse2, Operation::Copy) => Kernel::Copy(sse2::copy),
            (Self::Sse2, Operation::Write) => Kernel::Write(sse2::write),
            (Self::Sse2, Operation::Read) => Kernel::Read(sse2::read),
            (Self::RepMovsb, Operation::Copy) => Kernel::Copy(string::copy),
            (Self::RepMovsb, Operation::Write) => Kernel::Write(string::write),
            (Self::NonTemporal, Operation::Copy) => Kernel::Copy(non_temporal::copy),
            (Self::NonTemporal, Operation::Write) => Kernel::Write(non_temporal::write),
            _ => return None,
        };
        is_here.then_some(kernel)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn kernel_of_x86(self, _task: Operation) -> Option<Kernel> {
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

impl Operation {
    /// The names of all tasks.
    pub const NAMES: &[&str] = &["copy", "write", "read"];
}

impl FromStr for Operation {
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
        assert!(Operation::NAMES.iter().all(|name| name.parse::<Operation>().is_ok()));
        assert_eq!("avx".parse::<Method>(), Err(MemoryError::Unknown("avx".to_owned())));
    }

    #[test]
    fn a_method_that_cannot_read_names_those_that_can() {
        for method in [Method::Libc, Method::RepMovsb, Method::NonTemporal] {
            let error = method.kernel(Operation::Read).unwrap_err();
            assert_eq!(error, MemoryError::CannotRead(method));
            let expected = format!("{method} cannot read; use avx512, avx2, sse2 or scalar");
            assert_eq!(error.to_string(), expected);
        }
    }
}
