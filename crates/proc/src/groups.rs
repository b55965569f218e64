//! Finds the folders of the control groups that a process is in.

use std::path::{Path, PathBuf};

/// The folder of a control group that a process is in, or of one above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The folder; it need not exist.
    pub folder: PathBuf,
    /// Whether its files are those of version 2.
    pub is_v2: bool,
    /// Whether this is where the groups are mounted: the root of all groups, or that of a container.
    pub is_mount: bool,
}

/// Lists the groups that limit a process with this text of `/proc/PID/cgroup`: those of version 2, and those of version 1
/// for `controller`, each followed by the ones above it. `mount` is where all groups are mounted: `/sys/fs/cgroup`.
///
/// In a container, the path may be that of the host, whose groups are not mounted; its own group is then the mounted root,
/// which ends each list.
///
/// Source: cgroups(7).
#[must_use]
pub fn groups(cgroup: &str, controller: &str, mount: &Path) -> Vec<Group> {
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else {
            return Vec::new();
        };
        let is_v2 = controllers.is_empty();
        if !is_v2 && !controllers.split(',').any(|name| name == controller) {
            return Vec::new();
        }
        let places = if is_v2 { ["", "unified"] } else { [controller, controllers] };
        let distinct = if places[0] == places[1] { &places[..1] } else { &places[..] };
        distinct.iter().flat_map(|place| upwards(&mount.join(place), group, is_v2)).collect()
    };
    cgroup.lines().flat_map(of_line).collect()
}

/// A group and those above it, up to where they are mounted.
fn upwards(mount: &Path, group: &str, is_v2: bool) -> Vec<Group> {
    let folder = mount.join(group.trim_start_matches('/'));
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(mount));
    let group = |folder: &Path| Group {
        // Without the slash at the end that joining "" leaves.
        folder: folder.components().collect(),
        is_v2,
        is_mount: folder == mount,
    };
    folders.map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(cgroup: &str, controller: &str) -> Vec<String> {
        let groups = groups(cgroup, controller, Path::new("/g"));
        groups.iter().map(|group| group.folder.display().to_string()).collect()
    }

    #[test]
    fn every_group_is_followed_by_the_ones_above_it() {
        let expected = ["/g/a/b", "/g/a", "/g", "/g/unified/a/b", "/g/unified/a", "/g/unified"];
        assert_eq!(folders("0::/a/b\n", "cpu"), expected);
    }

    #[test]
    fn of_the_first_version_only_those_of_the_controller_count() {
        let cgroup = "4:memory:/m\n2:cpu,cpuacct:/c\n";
        assert_eq!(folders(cgroup, "memory"), ["/g/memory/m", "/g/memory"]);
        let cpu = ["/g/cpu/c", "/g/cpu", "/g/cpu,cpuacct/c", "/g/cpu,cpuacct"];
        assert_eq!(folders(cgroup, "cpu"), cpu);
        assert_eq!(folders("nonsense\n", "cpu"), Vec::<String>::new());
    }
}
