//! The ciphers of GOST R 34.12-2015 against the standards, against each other and against other implementations.

mod blocks;
mod given;
