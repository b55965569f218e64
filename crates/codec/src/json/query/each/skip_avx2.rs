//! Finds the end of an array or object with AVX2.
#![allow(unsafe_code)]

use super::inside::{Inside, Text};
use super::skip_blocks::skip_blocks;
use crate::avx2::{Block, prefix_xor};
use crate::tier::Avx2;

skip_blocks!(Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt,pclmulqdq");
