//! What /proc/self/mountinfo and /proc/swaps say: where a directory is mounted, and whether a device is in use.

use std::path::{Path, PathBuf};

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Number of the device that the file system shows, `major:minor`.
    pub(super) device: String,
    /// Where.
    pub(super) point: PathBuf,
    /// Of this mount and of the file system.
    pub(super) options: String,
    /// Such as `ext4`.
    pub(super) file_system: String,
    /// Such as `/dev/vda`.
    pub(super) source: String,
}

/// Reads /proc/self/mountinfo; a line that is none is left out.
///
/// Source: proc_pid_mountinfo(5).
pub(super) fn mounts(mountinfo: &str) -> Vec<Mount> {
    mountinfo.lines().filter_map(mount).collect()
}

fn mount(line: &str) -> Option<Mount> {
    let (own, of_system) = line.split_once(" - ")?;
    let own: Vec<&str> = own.split(' ').collect();
    let mut of_system = of_system.split(' ');
    let file_system = of_system.next()?.to_owned();
    let source = unescaped(of_system.next()?);
    let system_options = of_system.next().unwrap_or("");
    let mut options: Vec<&str> = own.get(5)?.split(',').collect();
    for option in system_options.split(',').filter(|option| !option.is_empty()) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    Some(Mount {
        device: (*own.get(2)?).to_owned(),
        point: PathBuf::from(unescaped(own.get(4)?)),
        options: options.join(","),
        file_system,
        source,
    })
}

/// The mount that a path lies on: the last of those with the longest point.
pub(super) fn of_path<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    above.max_by_key(|mount| mount.point.as_os_str().len())
}

/// Whether /proc/swaps names a device.
pub(super) fn is_swap(swaps: &str, device: &Path) -> bool {
    let names = swaps.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    names.map(unescaped).any(|name| Path::new(&name) == device)
}

/// `\040` is a space.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let octal = after
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match octal {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: &str = "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro\n\
        30 22 0:25 / /mnt/with\\040space rw,nosuid - tmpfs tmp\\040fs rw,size=100k\nnonsense\n\
        31 22 8:1 /sub /mnt/data ro - xfs /dev/sda1 rw\n";

    #[test]
    fn mounts_are_read_as_linux_writes_them() {
        let found = mounts(INFO);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].options, "rw,relatime,errors=remount-ro");
        assert_eq!(
            (found[1].point.as_path(), found[1].source.as_str()),
            (Path::new("/mnt/with space"), "tmp fs")
        );
    }

    #[test]
    fn the_nearest_mount_counts() {
        let found = mounts(INFO);
        let of =
            |path: &str| of_path(&found, Path::new(path)).map(|mount| mount.file_system.as_str());
        assert_eq!(
            (of("/mnt/data/x"), of("/mnt/database"), of("/mnt/with space")),
            (Some("xfs"), Some("ext4"), Some("tmpfs"))
        );
    }

    #[test]
    fn swap_is_found_by_name() {
        let swaps = "Filename\tType\tSize\n/dev/sda2 partition 1 0 -2\n";
        assert!(is_swap(swaps, Path::new("/dev/sda2")) && !is_swap(swaps, Path::new("/dev/sda")));
    }
}
