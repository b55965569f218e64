//! `fullbore replay`: makes a run record from recorded samples.

use std::fs::File;
use std::io::{BufReader, Write, stdout};
use std::path::Path;

use anyhow::{Context, Result};

use crate::exit::Exit;

/// Prints the record as JSON.
pub(crate) fn run(path: &Path) -> Result<Exit> {
    let name = || format!("replay: {}", path.display());
    let file = File::open(path).with_context(name)?;
    let record = fullbore_pipeline::replay(BufReader::new(file)).with_context(name)?;
    let text = serde_json::to_string_pretty(&record).with_context(name)?;
    writeln!(stdout(), "{text}")?;
    Ok(Exit::Done)
}
