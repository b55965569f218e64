//! Reads every record in a folder and its subfolders, on all CPUs.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use fullbore_gather::{Files, Run, Unread, read};

use crate::messages::plain;

/// A larger file is no record: one of 2,000 stages has 100 MiB.
const LARGEST_BYTES: u64 = 1 << 30;

/// Files that are named for each reason.
const EXAMPLES: usize = 3;

/// Threads; more do not read faster from one disk.
const THREADS: usize = 16;

/// The records of a folder, and what is no record.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// In the order of their files.
    pub(crate) runs: Vec<Run>,
    pub(crate) files: Files,
}

/// What became of one file.
struct Outcome {
    /// Device and inode.
    identity: Option<(u64, u64)>,
    run: Result<Run, String>,
}

impl Records {
    /// Reads them.
    ///
    /// # Errors
    /// When the folder itself cannot be listed. Whatever is wrong below it is counted.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let mut found = Found::default();
        found.list(folder)?;
        found.paths.sort();
        let outcomes = outcomes(folder, &found.paths);
        let mut records = Self::default();
        let mut reasons: BTreeMap<String, Unread> = BTreeMap::new();
        records.files.seen = found.paths.len() as u64;
        records.files.others = found.others;
        let (mut files, mut runs) = (HashSet::new(), HashSet::new());
        for (path, outcome) in found.paths.iter().zip(outcomes) {
            if outcome.identity.is_some_and(|identity| !files.insert(identity)) {
                records.files.copies += 1;
                continue;
            }
            match outcome.run {
                // Nobody starts two runs of one line on one host in the same nanosecond.
                Ok(run) if run.started_unix_ns > 0 && !runs.insert(Same::of(&run)) => {
                    records.files.copies += 1;
                }
                Ok(run) => records.runs.push(run),
                Err(why) => note(&mut reasons, why, shown(folder, path)),
            }
        }
        for (path, why) in found.unlisted {
            records.files.seen += 1;
            note(
                &mut reasons,
                format!("unreadable folder: {}", why.to_lowercase()),
                shown(folder, &path),
            );
        }
        records.files.records = records.runs.len() as u64;
        records.files.no_records = reasons.into_values().collect();
        records.files.no_records.sort_by_key(|unread| std::cmp::Reverse(unread.files));
        Ok(records)
    }
}

/// What two copies of a record have in common.
#[derive(PartialEq, Eq, Hash)]
struct Same {
    started_unix_ns: u64,
    elapsed_ns: Option<u64>,
    host: String,
    command: String,
}

impl Same {
    fn of(run: &Run) -> Self {
        Self {
            started_unix_ns: run.started_unix_ns,
            elapsed_ns: run.elapsed_ns,
            host: run.host.clone(),
            command: run.command.clone(),
        }
    }
}

fn note(reasons: &mut BTreeMap<String, Unread>, why: String, file: String) {
    let unread = reasons.entry(why.clone()).or_default();
    unread.why = why;
    unread.files += 1;
    if unread.examples.len() < EXAMPLES {
        unread.examples.push(file);
    }
}

/// A path as it is shown: from the folder, on any bytes.
fn shown(folder: &Path, path: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).to_string_lossy().into_owned()
}

/// What is in a folder.
#[derive(Default)]
struct Found {
    /// What could be a record by its name.
    paths: Vec<PathBuf>,
    others: u64,
    /// Folders that could not be listed.
    unlisted: Vec<(PathBuf, String)>,
    /// Folders that were listed, by device and inode: links may lead in a circle.
    listed: HashSet<(u64, u64)>,
}

impl Found {
    fn list(&mut self, root: &Path) -> io::Result<()> {
        let mut waiting = vec![root.to_owned()];
        while let Some(folder) = waiting.pop() {
            match self.list_one(&folder, &mut waiting) {
                Err(error) if folder == root => return Err(error),
                Err(error) => self.unlisted.push((folder, plain(&error))),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn list_one(&mut self, folder: &Path, waiting: &mut Vec<PathBuf>) -> io::Result<()> {
        let metadata = fs::metadata(folder)?;
        let entries = fs::read_dir(folder)?;
        if !self.listed.insert((metadata.dev(), metadata.ino())) {
            return Ok(());
        }
        for entry in entries {
            let entry = entry?;
            let path = entry.path();
            // A link that leads nowhere, or in a circle, is a file that cannot be read.
            let is_folder = match entry.file_type()? {
                kind if FileType::is_symlink(&kind) => path.is_dir(),
                kind => kind.is_dir(),
            };
            if is_folder {
                waiting.push(path);
            } else if is_json(&entry.file_name()) {
                self.paths.push(path);
            } else {
                self.others += 1;
            }
        }
        Ok(())
    }
}

/// Whether a name says JSON; names that begin with a dot are of files that are still being written.
fn is_json(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let end = name.len().saturating_sub(5);
    name[end..].eq_ignore_ascii_case(b".json") && end > 0 && name[0] != b'.'
}

/// Reads all files; the outcomes are in the order of the paths.
fn outcomes(folder: &Path, paths: &[PathBuf]) -> Vec<Outcome> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut done, mut bytes) = (Vec::new(), Vec::new());
        while let Some((place, path)) = {
            let place = next.fetch_add(1, Ordering::Relaxed);
            paths.get(place).map(|path| (place, path))
        } {
            done.push((place, outcome(folder, path, &mut bytes)));
        }
        done
    };
    let mut all: Vec<(usize, Outcome)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().flat_map(|worker| {
            worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        done.collect()
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

fn outcome(folder: &Path, path: &Path, bytes: &mut Vec<u8>) -> Outcome {
    match contents(path, bytes) {
        Ok(identity) => {
            let run = read(bytes, &shown(folder, path)).map_err(|why| why.to_string());
            Outcome { identity: Some(identity), run }
        }
        Err(error) => Outcome { identity: None, run: Err(plain(&error).to_lowercase()) },
    }
}

/// Reads a file; one that is no regular file is never opened for good, and never waited for.
fn contents(path: &Path, bytes: &mut Vec<u8>) -> io::Result<(u64, u64)> {
    let mut options = OpenOptions::new();
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("no regular file"));
    }
    let file: File = options.read(true).custom_flags(nonblocking).open(path)?;
    let metadata = file.metadata()?;
    if metadata.len() > LARGEST_BYTES {
        return Err(io::Error::other("larger than 1 GiB"));
    }
    bytes.clear();
    file.take(LARGEST_BYTES).read_to_end(bytes)?;
    Ok((metadata.dev(), metadata.ino()))
}
