//! The tables shared by the tests and by `make bench`.

pub(crate) mod hints;
pub(crate) mod mixes;
pub(crate) mod pipelines;
pub(crate) mod split;
pub(crate) mod verdicts;
