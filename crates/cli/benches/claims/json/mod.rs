//! `fullbore json` beside other programs and libraries that read JSON.

mod group;
mod kernels;
mod large;
mod records;

pub(crate) use group::{databases, files, filters};
pub(crate) use kernels::kernels;
pub(crate) use large::memory;
pub(crate) use records::{digits, passing};

use std::fs::File;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::sandbox::{Sandbox, fullbore};

/// Records of a made-up web service, one JSON object of some 270 bytes a line.
fn events(place: &Sandbox, rows: u64) -> PathBuf {
    let path = place.path(&format!("events-{rows}.jsonl"));
    let mut made = Command::new(fullbore());
    made.args(["gen", "jsonl", "--rows", &rows.to_string()]);
    made.stdout(Stdio::from(File::create(&path).unwrap()));
    assert!(made.status().unwrap().success());
    path
}

fn skipped(claim: &str, why: &str) {
    println!("   skipped: {claim}: {why}");
}
