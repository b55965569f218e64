//! Facts about block devices, from /sys/dev/block.

use std::fs;
use std::path::{Path, PathBuf};

use super::record::Device;

/// Where Linux lists block devices by number.
const BY_NUMBER: &str = "/sys/dev/block";

/// The devices below one: itself, what it lies on (a partition's disk, the disks of a mapping, a loop device's own disk is unknown).
pub(super) fn devices(number: &str) -> Vec<Device> {
    let Ok(folder) = Path::new(BY_NUMBER).join(number).canonicalize() else { return Vec::new() };
    let mut found = Vec::new();
    add(&folder, &mut found);
    found
}

fn add(folder: &Path, found: &mut Vec<Device>) {
    let is_partition = folder.join("partition").exists();
    let disk = if is_partition { folder.parent().unwrap_or(folder) } else { folder };
    let device = device(disk);
    if found.iter().any(|known| known.name == device.name) || found.len() > 16 {
        return;
    }
    found.push(device);
    for below in fs::read_dir(disk.join("slaves")).into_iter().flatten().flatten() {
        if let Ok(folder) = below.path().canonicalize() {
            add(&folder, found);
        }
    }
}

/// Reads the facts of one disk; what cannot be read is unknown.
fn device(folder: &Path) -> Device {
    let name =
        folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let line = |file: &str| text(&folder.join(file));
    let number = |file: &str| line(file).and_then(|text| text.parse::<u64>().ok());
    let model =
        line("device/model").or_else(|| line("dm/name")).or_else(|| line("loop/backing_file"));
    Device {
        name,
        model: model.filter(|model| !model.is_empty()),
        size_bytes: number("size").map(|sectors| sectors * 512),
        is_rotational: number("queue/rotational").map(|is| is != 0),
        scheduler: line("queue/scheduler").map(|all| chosen(&all)),
        queue_requests: number("queue/nr_requests"),
        write_cache: line("queue/write_cache"),
        logical_block_bytes: number("queue/logical_block_size"),
        physical_block_bytes: number("queue/physical_block_size"),
        max_request_kib: number("queue/max_sectors_kb"),
    }
}

/// `[none] mq-deadline` is `none`.
fn chosen(all: &str) -> String {
    let inner = all.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inner.map_or_else(|| all.to_owned(), |(chosen, _)| chosen.to_owned())
}

fn text(path: &Path) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

/// Who uses a device or a part of it: devices on top of it (`holders`).
pub(super) fn holders(number: &str) -> Vec<String> {
    let Ok(folder) = Path::new(BY_NUMBER).join(number).canonicalize() else { return Vec::new() };
    let mut names = Vec::new();
    for folder in std::iter::once(folder.clone()).chain(partitions(&folder)) {
        let holders = fs::read_dir(folder.join("holders")).into_iter().flatten().flatten();
        names.extend(holders.map(|entry| entry.file_name().to_string_lossy().into_owned()));
    }
    names
}

/// Numbers of a device and of its partitions, `major:minor`.
pub(super) fn numbers(number: &str) -> Vec<String> {
    let Ok(folder) = Path::new(BY_NUMBER).join(number).canonicalize() else {
        return vec![number.to_owned()];
    };
    let parts = partitions(&folder).filter_map(|folder| text(&folder.join("dev")));
    std::iter::once(number.to_owned()).chain(parts).collect()
}

fn partitions(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.join("partition").exists())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_read_as_sysfs_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let disk = folder.path().join("sdx");
        for (file, content) in [
            ("device/model", "FAST DISK  \n"),
            ("size", "2048\n"),
            ("queue/rotational", "0\n"),
            ("queue/scheduler", "none [mq-deadline] kyber\n"),
            ("queue/nr_requests", "256\n"),
            ("queue/write_cache", "write back\n"),
        ] {
            let path = disk.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let found = device(&disk);
        assert_eq!((found.name.as_str(), found.model.as_deref()), ("sdx", Some("FAST DISK")));
        assert_eq!((found.size_bytes, found.is_rotational), (Some(1 << 20), Some(false)));
        assert_eq!(found.scheduler.as_deref(), Some("mq-deadline"));
        assert_eq!((found.queue_requests, found.max_request_kib), (Some(256), None));
    }
}
