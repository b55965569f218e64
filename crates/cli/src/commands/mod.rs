//! One file for each command.

pub(crate) mod documents;
pub(crate) mod run;
