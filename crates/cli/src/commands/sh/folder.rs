//! The folder for records: one file for each job, whole or not there.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fullbore_proc::Root;
use fullbore_record::RunRecord;
use rustix::fs::{Access, access};

use crate::messages::{complain, plain};

/// More processes above this one than any workflow has.
const ANCESTORS_MAX: usize = 64;

/// A folder that records can be written to.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Opens the folder. One that is missing is created if its path is absolute, because jobs run in different folders.
    ///
    /// # Errors
    /// Linux's error when it is no folder, cannot be created or takes no files.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if path.is_absolute() && !path.exists() {
            match fs::create_dir(path) {
                // Another job was faster.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                created => created?,
            }
        }
        if !fs::metadata(path)?.is_dir() {
            return Err(rustix::io::Errno::NOTDIR.into());
        }
        access(path, Access::WRITE_OK | Access::EXEC_OK)?;
        Ok(Self { path: path.to_owned() })
    }

    /// Writes a record of a job under a name of its own: first beside its place, where no reader of records looks.
    ///
    /// # Errors
    /// Linux's error, such as a full disk; nothing is left behind then.
    pub(super) fn write(&self, record: &RunRecord) -> io::Result<()> {
        let name = name(record, std::process::id());
        let (beside, place) = (self.path.join(format!(".{name}.part")), self.path.join(&name));
        let text = serde_json::to_vec(record)?;
        let file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        let done = fill(file, &text).and_then(|()| fs::rename(&beside, &place));
        if done.is_err() {
            // It is incomplete; if it cannot be removed, its name still keeps it from being read.
            let _ = fs::remove_file(&beside);
        }
        done
    }
}

fn fill(mut file: File, text: &[u8]) -> io::Result<()> {
    file.write_all(text)?;
    file.write_all(b"\n")
}

/// `sh-TIME-PID-HOST.json`, with the start of the job in UTC, so that names sort by time.
fn name(record: &RunRecord, pid: u32) -> String {
    let since = Duration::from_nanos(record.started_unix_ns);
    let days = since.as_secs() / 86_400;
    let (year, month, day) = date(days);
    let second = since.as_secs() % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = since.subsec_nanos();
    let host: String = record.host.name.chars().map(safe).collect();
    format!(
        "sh-{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}.{fraction:09}Z-{pid}-{host}.json"
    )
}

fn safe(letter: char) -> char {
    if letter.is_ascii_alphanumeric() || letter == '.' || letter == '_' { letter } else { '-' }
}

/// Year, month and day of the Gregorian calendar, from days since 1970-01-01.
///
/// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March, so that the leap day is the last of its year; eras have 400 years.
    let since_0000_03_01 = days + 719_468;
    let (era, day) = (since_0000_03_01 / 146_097, since_0000_03_01 % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day_of_month)
}

/// Says that there will be no record, once for each program that starts jobs and for each folder: make with a thousand
/// recipes says it once.
pub(super) fn complain_once(path: &Path, error: &io::Error) {
    if !was_said(path) {
        let hint = match error.kind() {
            ErrorKind::NotFound => {
                "the job ran without a record; give the absolute path of a folder in FULLBORE_RECORDS"
            }
            _ => "the job ran without a record; give another folder in FULLBORE_RECORDS",
        };
        complain(&format!("sh: records: {}: {}", path.display(), plain(error)), hint);
    }
}

/// How the name of a mark begins; then come the folder, and the number and start of the process that was told.
const MARK: &str = "fullbore-unrecorded-";

/// Whether a process above this one is known to have been told; from now on the parent of this one is.
fn was_said(path: &Path) -> bool {
    let of_user = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let place = of_user.filter(|place| place.is_dir()).unwrap_or_else(std::env::temp_dir);
    let hash = hash(path.as_os_str());
    let marks: Vec<PathBuf> = ancestors()
        .into_iter()
        .map(|(pid, start)| place.join(format!("{MARK}{hash:016x}-{pid}-{start}")))
        .collect();
    let Some(of_parent) = marks.first() else { return false };
    if marks.iter().any(|mark| mark.symlink_metadata().is_ok()) {
        return true;
    }
    remove_old(&place);
    let made = OpenOptions::new().write(true).create_new(true).open(of_parent);
    made.is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
}

/// Removes the marks of processes that have ended; those of other users stay.
fn remove_old(place: &Path) {
    let root = Root::system();
    let has_ended = |mark: &str| {
        let mut parts = mark.strip_prefix(MARK)?.split('-').skip(1);
        let (pid, start) = (parts.next()?.parse().ok()?, parts.next()?.parse::<u64>().ok()?);
        Some(root.stat(pid).is_none_or(|stat| stat.start_ticks != start))
    };
    for file in std::fs::read_dir(place).into_iter().flatten().flatten() {
        if file.file_name().to_str().and_then(has_ended) == Some(true) {
            // Whoever owns it may be faster, or somebody else.
            let _ = std::fs::remove_file(file.path());
        }
    }
}

/// Numbers and start times of the processes above this one, the parent first.
fn ancestors() -> Vec<(i32, u64)> {
    let root = Root::system();
    let parent = |pid: i32| root.stat(pid).map(|stat| stat.parent).filter(|pid| *pid > 1);
    let pids = std::iter::successors(parent(std::process::id().cast_signed()), |pid| parent(*pid));
    let known = pids.take(ANCESTORS_MAX).filter_map(|pid| Some((pid, root.stat(pid)?.start_ticks)));
    known.collect()
}

/// FNV-1a: enough to tell the folders of one workflow apart.
fn hash(text: &OsStr) -> u64 {
    let bytes = text.as_bytes().iter();
    bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_time_and_fit_any_file_system() {
        let mut record = RunRecord::default();
        record.host.name = "a/b:c ü.example".to_owned();
        record.started_unix_ns = 1_709_210_096_000_000_789;
        assert_eq!(name(&record, 17), "sh-20240229T123456.000000789Z-17-a-b-c--.example.json");
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (11_016, (2000, 2, 29)),
            (19_782, (2024, 2, 29)),
            (19_783, (2024, 3, 1)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), expected, "{days}");
        }
    }
}
