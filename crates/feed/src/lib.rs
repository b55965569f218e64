//! From a source to a sink: what moves the bytes of fullbore's own stages.
//!
//! Flow of [`buffer`]: input → reader → queue (pipes, memory, disk) → writer → output.
//! This crate shows nothing and decides no exit status.
#![forbid(unsafe_code)]

pub mod buffer;
