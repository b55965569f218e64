//! The text stages: every kernel against its oracle, the tables against their sources, the stream against its cuts.

mod conformance;
mod decode;
mod encode;
mod fizzbuzz;
mod generate;
mod peer;
mod support;
mod utf8;
