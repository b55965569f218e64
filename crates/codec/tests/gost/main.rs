//! Compares the ciphers of GOST R 34.12-2015 with the standards, with each other and with other implementations.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]

mod bare;
mod blocks;
mod given;
mod openssl;
mod stream;
#[path = "../common/tiers.rs"]
mod tiers;
mod vectors;
