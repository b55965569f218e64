//! Where to measure: a directory or a device, looked at before anything is written.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use fullbore_measure::Bytes;
use rustix::fs::{OFlags, major, minor, statvfs};

use super::record::Target;
use super::{facts, mounts};

/// File systems that are memory, or that lie on another one: what is measured there is not a disk.
const NO_DISK: &[(&str, &str)] = &[
    ("tmpfs", "it is memory"),
    ("ramfs", "it is memory"),
    ("overlay", "it lies on another file system, and copies a file when it is first written"),
];

/// Room that a file system keeps.
const SPARE_BYTES: u64 = 16 << 20;

/// The least that is worth measuring: 1 MiB for each of 8 jobs.
const LEAST_BYTES: u64 = 8 << 20;

/// A place that may be measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// What is known about it.
    pub target: Target,
    /// The file that will be made, or the device.
    pub filename: PathBuf,
}

/// Why a place is not measured: what is wrong and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceError {
    /// What happened, to which place, why.
    pub what: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for PlaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for PlaceError {}

pub(super) fn refused(what: String, hint: &str) -> PlaceError {
    PlaceError { what, hint: hint.to_owned() }
}

/// The words of an error without its number.
pub(super) fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// Looks at a directory in which a file of this size will be made.
///
/// # Errors
/// Why it is not measured.
pub fn directory(path: &Path, size_bytes: u64, anyway: bool) -> Result<Place, PlaceError> {
    let name = path.display();
    let folder = path.canonicalize().map_err(|error| {
        refused(
            format!("{name}: {}", plain(&error)),
            "give a directory on the disk that you want to measure",
        )
    })?;
    if !folder.is_dir() {
        return Err(refused(
            format!("{name}: it is not a directory"),
            "a device is measured with --device",
        ));
    }
    let info = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let mounts = mounts::mounts(&info);
    let mount = mounts::of_path(&mounts, &folder);
    let no_disk =
        mount.and_then(|mount| NO_DISK.iter().find(|(kind, _)| *kind == mount.file_system));
    if let Some((kind, why)) = no_disk.filter(|_| !anyway) {
        return Err(refused(
            format!("{name}: its file system is {kind}: {why}"),
            "give a directory on a disk, or measure it with --anyway",
        ));
    }
    let space = statvfs(&folder).ok();
    let free = space.as_ref().map(|space| space.f_bavail * space.f_frsize);
    enough(size_bytes, path)?;
    if let Some(free) = free.filter(|free| *free < size_bytes.saturating_add(SPARE_BYTES)) {
        return Err(refused(
            format!("{name}: not enough room: {} free, {} needed", Bytes(free), Bytes(size_bytes)),
            "give a smaller --size",
        ));
    }
    let file =
        tempfile::Builder::new().prefix("fullbore-disk-").suffix(".data").tempfile_in(&folder);
    let filename = file.map(|file| file.path().to_owned()).map_err(|error| {
        refused(
            format!("{name}: making a file: {}", plain(&error)),
            "give a directory that you can write to",
        )
    })?;
    let target = Target {
        path: name.to_string(),
        is_device: false,
        size_bytes: Some(size_bytes),
        is_direct: true,
        file_system: mount.map(|mount| mount.file_system.clone()),
        mount_point: mount.map(|mount| mount.point.display().to_string()),
        mount_options: mount.map(|mount| mount.options.clone()),
        total_bytes: space.as_ref().map(|space| space.f_blocks * space.f_frsize),
        free_bytes: free,
        devices: devices(&folder, mount),
    };
    Ok(Place { target, filename })
}

/// The devices that a folder lies on.
fn devices(folder: &Path, mount: Option<&mounts::Mount>) -> Vec<super::record::Device> {
    let number = fs::metadata(folder).map_or(0, |meta| meta.dev());
    let number = mount.map_or_else(
        || format!("{}:{}", major(number), minor(number)),
        |mount| mount.device.clone(),
    );
    let devices = facts::devices(&number);
    let source =
        mount.map(|mount| Path::new(&mount.source)).filter(|path| path.starts_with("/dev"));
    match source.and_then(|source| fs::metadata(source).ok()) {
        // btrfs shows a number that is no device's.
        Some(meta) if devices.is_empty() => {
            facts::devices(&format!("{}:{}", major(meta.rdev()), minor(meta.rdev())))
        }
        _ => devices,
    }
}

fn enough(size_bytes: u64, path: &Path) -> Result<(), PlaceError> {
    if size_bytes >= LEAST_BYTES {
        return Ok(());
    }
    Err(refused(
        format!("{}: {} is too little for 8 jobs", path.display(), Bytes(size_bytes)),
        "give a --size of 8M or more; 1G and more measure the disk rather than its cache",
    ))
}

/// Looks at a device that will be written, after its name was given twice.
///
/// # Errors
/// Why it is not measured; nothing was written.
pub fn device(path: &Path, typed: &str, size_bytes: Option<u64>) -> Result<Place, PlaceError> {
    let shown = path.display();
    let real = path.canonicalize().map_err(|error| {
        refused(format!("{shown}: {}", plain(&error)), "lsblk lists the devices")
    })?;
    let meta = fs::metadata(&real).map_err(|error| {
        refused(format!("{shown}: {}", plain(&error)), "lsblk lists the devices")
    })?;
    if !meta.file_type().is_block_device() {
        return Err(refused(
            format!("{shown}: it is not a block device"),
            "lsblk lists the devices; a directory is measured with --dir",
        ));
    }
    let name =
        real.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if typed != name {
        return Err(refused(
            format!(
                "{shown}: its name is '{name}', but --erase-everything-on names '{typed}'; nothing was written"
            ),
            "everything on the device would be lost: look again which one you mean",
        ));
    }
    let number = format!("{}:{}", major(meta.rdev()), minor(meta.rdev()));
    in_use(&real, &number).map_or(Ok(()), |why| {
        Err(refused(
            format!("{shown}: it is in use: {why}; nothing was written"),
            "unmount it, or release it, if nobody needs what is on it",
        ))
    })?;
    let whole = open_alone(&real).and_then(|file| size_of(&file)).map_err(|error| {
        let cause = match error.raw_os_error() {
            Some(16) => "Linux or a program holds it".to_owned(), // EBUSY
            _ => plain(&error),
        };
        refused(
            format!("{shown}: {cause}; nothing was written"),
            "you need the rights to write to the device, and nobody else may use it",
        )
    })?;
    let size = size_bytes.unwrap_or(whole);
    enough(size.min(whole), path)?;
    if size > whole {
        return Err(refused(
            format!("{shown}: it has {}, less than {}", Bytes(whole), Bytes(size)),
            "give a smaller --size",
        ));
    }
    let target = Target {
        path: shown.to_string(),
        is_device: true,
        size_bytes: Some(size),
        is_direct: true,
        devices: facts::devices(&number),
        ..Target::default()
    };
    Ok(Place { target, filename: real })
}

/// Who uses a device or a part of it.
fn in_use(path: &Path, number: &str) -> Option<String> {
    let info = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let numbers = facts::numbers(number);
    let mounts = mounts::mounts(&info);
    let mounted = mounts.iter().find(|mount| {
        numbers.contains(&mount.device)
            || mount.source.starts_with("/dev/")
                && Path::new(&mount.source).canonicalize().is_ok_and(|source| source == path)
    });
    if let Some(mount) = mounted {
        return Some(format!("it is mounted at {}", mount.point.display()));
    }
    if let Some(holder) = facts::holders(number).first() {
        return Some(format!("{holder} is built on it"));
    }
    let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
    mounts::is_swap(&swaps, path).then(|| "it is swap space".to_owned())
}

/// Opens a device as its only user: Linux refuses that when it is mounted or held.
fn open_alone(path: &Path) -> io::Result<File> {
    let flags = OFlags::EXCL | OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)
}

fn size_of(mut file: &File) -> io::Result<u64> {
    io::Seek::seek(&mut file, io::SeekFrom::End(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_directory_is_told_in_one_line() {
        let missing = directory(Path::new("/no/such/place"), 1 << 30, false).unwrap_err();
        assert_eq!(missing.what, "/no/such/place: No such file or directory");
        let file = directory(Path::new("/proc/self/status"), 1 << 30, false).unwrap_err();
        assert!(file.what.ends_with("it is not a directory"), "{file}");
    }

    #[test]
    fn a_place_without_room_says_what_it_has_and_what_is_needed() {
        let folder = tempfile::tempdir().unwrap();
        let error = directory(folder.path(), 1 << 60, true).unwrap_err();
        assert!(
            error.what.contains("not enough room") && error.what.ends_with("1 EiB needed"),
            "{error}"
        );
        let error = directory(folder.path(), 1 << 20, true).unwrap_err();
        assert!(error.what.contains("too little"), "{error}");
    }

    #[test]
    fn looking_at_a_directory_leaves_nothing_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = directory(folder.path(), 8 << 20, true).unwrap();
        assert!(
            place.target.free_bytes > Some(0) && place.target.file_system.is_some(),
            "{place:?}"
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_device_is_refused() {
        for path in ["/dev/null", "/proc/self/status", "/no/such/device"] {
            assert!(device(Path::new(path), "null", None).is_err(), "{path}");
        }
    }
}
