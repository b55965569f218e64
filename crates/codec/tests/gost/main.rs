//! The ciphers of GOST R 34.12-2015 against the standards, against each other and against other implementations.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]

mod bare;
mod blocks;
mod given;
mod openssl;
mod stream;
mod vectors;
