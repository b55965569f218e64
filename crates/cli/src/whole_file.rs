//! Replaces a file as a whole, so that nobody ever reads half of it.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Finds out whether [`replace`] may write to `path`, and leaves everything as it is.
pub(crate) fn check(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(rustix::io::Errno::ISDIR.into());
    }
    match access(path, Access::WRITE_OK) {
        Err(rustix::io::Errno::NOENT) => tempfile::tempfile_in(folder(path)).map(drop),
        answer => Ok(answer?),
    }
}

/// Writes `bytes` to a new file beside `path`, which then takes its place; on failure the file before stays.
///
/// A device, a FIFO or a symbolic link is written in place, and so is a file in a folder that takes no new one.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|file| !file.is_file()) {
        return write_in_place(path, bytes);
    }
    let beside = tempfile::Builder::new().permissions(permissions(path)).tempfile_in(folder(path));
    let mut file = match beside {
        Err(error) if error.kind() == ErrorKind::PermissionDenied && path.exists() => {
            return write_in_place(path, bytes);
        }
        beside => beside?,
    };
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn write_in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    File::create(path)?.write_all(bytes)
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether both paths name one file, which may not exist yet.
pub(crate) fn are_one(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| -> io::Result<PathBuf> {
        let in_folder =
            || Ok(folder(path).canonicalize()?.join(path.file_name().unwrap_or_default()));
        path.canonicalize().or_else(|_| in_folder())
    };
    matches!((place(one), place(other)), (Ok(one), Ok(other)) if one == other)
}

/// Those of the file before, or what the umask leaves of 0666.
fn permissions(path: &Path) -> Permissions {
    fs::metadata(path).map_or_else(|_| Permissions::from_mode(0o666), |file| file.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_many_names() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        let again = folder.path().join(".").join("file");
        assert!(are_one(&file, &again) && !are_one(&file, &link), "neither exists");
        fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(are_one(&file, &link) && !are_one(&file, &folder.path().join("other")));
        assert!(!are_one(Path::new("/none/x"), Path::new("/none/x")), "no such folder");
    }

    #[test]
    fn a_device_stays_a_device() {
        check(Path::new("/dev/null")).unwrap();
        replace(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::symlink_metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_link_stays_a_link_and_its_target_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "a longer text before").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        check(&link).unwrap();
        replace(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
    }

    #[test]
    fn who_reads_the_file_before_keeps_reading_it_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report");
        fs::write(&path, "before").unwrap();
        let before = File::open(&path).unwrap();
        replace(&path, b"after").unwrap();
        assert_eq!(io::read_to_string(before).unwrap(), "before");
        assert_eq!(fs::read_to_string(&path).unwrap(), "after");
    }

    #[test]
    fn nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        check(&folder.path().join("report")).unwrap();
        assert!(check(&folder.path().join("missing/report")).is_err());
        assert!(check(folder.path()).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        replace(&folder.path().join("report"), b"text").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
