//! What fio 3.0 and later write with `--output-format=json` or `json+`: jobs with their numbers, to the last digit.

mod jobs;
mod output;
mod text;

use serde_json::Value;

pub use self::output::{FioDirection, FioJob, FioLatency, Output, Unreadable};

/// Reads an output, whatever else fio wrote into the same file.
///
/// # Errors
/// Why it cannot be read.
pub fn read(text: &str) -> Result<Output, Unreadable> {
    let found = text::find(text)?;
    let value = &found.value;
    let version = value.get("fio version").and_then(Value::as_str).unwrap_or("fio").to_owned();
    if is_too_old(&version) {
        return Err(Unreadable::TooOld { version });
    }
    let mut remarks = found.remarks;
    let jobs = jobs::all(value, &mut remarks);
    if jobs.is_empty() {
        return Err(Unreadable::NoJobs);
    }
    let unix_ms = value.get("timestamp_ms").and_then(Value::as_u64);
    let unix_s = value.get("timestamp").and_then(Value::as_u64);
    Ok(Output { version, unix_ms: unix_ms.or(unix_s.map(|s| s * 1000)), jobs, remarks })
}

fn is_too_old(version: &str) -> bool {
    let number = version.strip_prefix("fio-").and_then(|rest| rest.split(['.', '-']).next());
    number.and_then(|major| major.parse::<u32>().ok()).is_some_and(|major| major < 3)
}

#[cfg(test)]
mod tests;
