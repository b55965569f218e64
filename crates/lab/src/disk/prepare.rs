//! Lays out what will be read: new bytes everywhere, so that neither a hole nor a device that compresses answers from nothing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use fullbore_measure::Bytes;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;

use super::place::{Place, PlaceError, plain, refused};

/// Bytes of one write.
const PIECE: usize = 4 << 20;

/// What was laid out; a file is removed when this is dropped.
#[derive(Debug)]
pub struct Laid {
    filename: PathBuf,
    is_ours: bool,
    /// Whether the page cache can be left out here.
    pub is_direct: bool,
}

impl Drop for Laid {
    fn drop(&mut self) {
        if self.is_ours {
            // It may be gone already; there is nobody to tell.
            let _ = fs::remove_file(&self.filename);
        }
    }
}

/// Writes the file or the part of the device that will be measured. `shown` is told what part is done.
///
/// # Errors
/// Why it failed, or that it was stopped; a file of ours is gone then.
pub fn lay_out(
    place: &Place,
    size_bytes: u64,
    stop: &AtomicBool,
    shown: &mut dyn FnMut(f64),
) -> Result<Laid, PlaceError> {
    let filename = place.filename.clone();
    let mut laid = Laid { filename, is_ours: !place.target.is_device, is_direct: false };
    let failed = |error: &io::Error| {
        let hint = match error.raw_os_error() {
            Some(28) => "give a smaller --size, or make room", // ENOSPC
            _ => "give a directory that you can write to",
        };
        let what =
            format!("{}: laying out {}: {}", place.target.path, Bytes(size_bytes), plain(error));
        refused(what, hint)
    };
    let written = fill(&place.filename, laid.is_ours, size_bytes, stop, shown);
    let is_whole = written.map_err(|error| failed(&error))?;
    if !is_whole {
        return Err(refused(format!("{}: stopped while laying out", place.target.path), ""));
    }
    laid.is_direct = is_direct(&place.filename);
    Ok(laid)
}

/// Whether all was written; `false` when it was stopped.
fn fill(
    path: &Path,
    is_new: bool,
    size: u64,
    stop: &AtomicBool,
    shown: &mut dyn FnMut(f64),
) -> io::Result<bool> {
    let mut file = OpenOptions::new().write(true).create_new(is_new).open(path)?;
    if is_new {
        // So that a full disk is noticed before anything is written; not every file system can do it.
        let room = fallocate(&file, FallocateFlags::empty(), 0, size);
        if let Err(error @ (Errno::NOSPC | Errno::FBIG | Errno::DQUOT)) = room {
            return Err(error.into());
        }
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(size);
    let mut piece = vec![0; PIECE];
    let mut done = 0;
    while done < size {
        if stop.load(Ordering::Relaxed) {
            return Ok(false);
        }
        random.fill_bytes(&mut piece);
        let length = usize::try_from(size - done).unwrap_or(PIECE).min(PIECE);
        file.write_all(&piece[..length])?;
        done += length as u64;
        if done % (64 << 20) == 0 {
            // Little by little, so that a stop does not wait for all of it at the end.
            file.sync_data()?;
        }
        shown(done as f64 / size as f64);
    }
    file.sync_all()?;
    Ok(true)
}

fn is_direct(path: &Path) -> bool {
    let flags = i32::try_from(OFlags::DIRECT.bits()).unwrap_or(0);
    OpenOptions::new().read(true).custom_flags(flags).open(path).is_ok()
}

/// Asks Linux to forget what it has cached of a file, and as root of all files.
pub(super) fn drop_cache(path: &Path) {
    if let Ok(file) = File::open(path) {
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    }
    // Only root may; without it the advice has to do.
    let _ = fs::write("/proc/sys/vm/drop_caches", "1");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::directory;

    #[test]
    fn a_file_is_full_of_bytes_that_do_not_compress_and_is_removed_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let place = directory(folder.path(), 8 << 20, true).unwrap();
        let mut parts = Vec::new();
        let laid = lay_out(&place, 8 << 20, &AtomicBool::new(false), &mut |part| parts.push(part))
            .unwrap();
        let bytes = fs::read(&place.filename).unwrap();
        assert_eq!((bytes.len(), parts.last()), (8 << 20, Some(&1.0)));
        let mut counts = [0_u32; 256];
        bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
        assert!(counts.iter().all(|count| (30_000..36_000).contains(count)), "{counts:?}");
        drop(laid);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_stop_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let place = directory(folder.path(), 8 << 20, true).unwrap();
        assert!(lay_out(&place, 8 << 20, &AtomicBool::new(true), &mut |_| {}).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
