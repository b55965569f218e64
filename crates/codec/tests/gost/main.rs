//! The ciphers of GOST R 34.12-2015 against the standards, against each other and against other implementations.

mod bare;
mod blocks;
mod given;
mod openssl;
mod stream;
mod vectors;
