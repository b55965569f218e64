//! Reads the JSON record of a run or of the lab from stdin and writes its page to stdout: `render < run.json > run.html`.

use std::io::{Read, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    if let Ok(record) = fullbore_report::lab::json::from_str(&text) {
        std::io::stdout().write_all(fullbore_report::lab::html::page(&record).as_bytes())?;
        return Ok(());
    }
    let record = fullbore_report::json::from_str(&text)?;
    std::io::stdout().write_all(fullbore_report::html::page(&record).as_bytes())?;
    Ok(())
}
