//! Reads the logs that fio wrote.

use std::fs;
use std::path::{Path, PathBuf};

use super::fio::Output;
use super::log::{Lines, Logs};

/// The most that is read of one log.
const MOST_BYTES: u64 = 256 << 20;

/// Of a pass that ran in this folder with this base name.
pub(super) fn in_folder(folder: &Path, base: &str) -> Logs {
    let read = |kind: &str| {
        let mut lines = Lines::default();
        files(folder, base, kind)
            .iter()
            .filter_map(|path| text(path))
            .for_each(|text| lines.add(&text));
        lines
    };
    Logs { iops: read("iops"), bandwidth: read("bw"), latency: read("clat") }
}

/// Of a result that was imported: where its options say, or beside the file.
pub(super) fn beside(result: &Path, output: &Output) -> Logs {
    let option = |name: &str| output.jobs.iter().find_map(|job| job.options.get(name));
    let here = result.parent().unwrap_or(Path::new("."));
    let read = |options: &[&str], kind: &str| {
        let Some(base) = options.iter().find_map(|name| option(name)) else {
            return Lines::default();
        };
        let named = Path::new(base);
        let Some(name) = named.file_name().and_then(|name| name.to_str()) else {
            return Lines::default();
        };
        let there = named.parent().map_or_else(|| here.to_owned(), |folder| here.join(folder));
        let mut found = files(&there, name, kind);
        if found.is_empty() {
            found = files(here, name, kind);
        }
        let mut lines = Lines::default();
        found.iter().filter_map(|path| text(path)).for_each(|text| lines.add(&text));
        lines
    };
    Logs {
        iops: read(&["write_iops_log"], "iops"),
        bandwidth: read(&["write_bw_log"], "bw"),
        latency: read(&["write_lat_log"], "clat"),
    }
}

fn text(path: &Path) -> Option<String> {
    let size = fs::metadata(path).ok()?.len();
    if size > MOST_BYTES {
        return None;
    }
    fs::read_to_string(path).ok()
}

/// `log_iops.log` of all jobs together, `log_iops.1.log` of each.
fn files(folder: &Path, base: &str, kind: &str) -> Vec<PathBuf> {
    let start = format!("{base}_{kind}.");
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_log = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        name.strip_prefix(&start).is_some_and(|rest| {
            rest == "log"
                || rest.strip_suffix(".log").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        })
    };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_log).collect();
    found.sort();
    found
}
