//! Tests the text stages: kernels against naive versions, tables against sources, split streams against whole ones.

mod conformance;
mod decode;
mod encode;
mod fizzbuzz;
mod generate;
mod json;
mod peer;
mod round_trip;
mod support;
#[path = "../common/tiers.rs"]
mod tiers;
mod utf8;
