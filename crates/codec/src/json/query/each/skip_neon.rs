//! Finds the end of an array or object with NEON.
#![allow(unsafe_code)]

use super::inside::{Inside, Text};
use super::skip_blocks::skip_blocks;
use crate::neon::{Block, prefix_xor};
use crate::tier::Neon;

skip_blocks!(Neon, "neon");
