//! One file for each command.

pub(crate) mod buffer;
pub(crate) mod documents;
pub(crate) mod run;
