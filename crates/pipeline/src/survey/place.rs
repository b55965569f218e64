//! Where a pipeline belongs: unit, terminal, session, user.

use std::collections::BTreeMap;

use fullbore_proc::Root;
use fullbore_record::Place;

use crate::survey::residents::Origin;

/// The places of pipelines, read once, and the names of users.
#[derive(Debug, Default)]
pub(super) struct Places {
    known: BTreeMap<i32, Place>,
    users: Option<BTreeMap<u32, String>>,
}

impl Places {
    pub(super) fn of(&mut self, root: &Root, pid: i32, origin: Origin) -> Place {
        if let Some(place) = self.known.get(&pid).filter(|place| place.session == origin.session) {
            return place.clone();
        }
        let users = self.users.get_or_insert_with(|| {
            users(&std::fs::read_to_string("/etc/passwd").unwrap_or_default())
        });
        let mut place = Place::default();
        place.unit = root.control_group(pid).as_deref().and_then(unit);
        place.terminal = terminal(origin.terminal);
        place.session = origin.session;
        place.uid = root.owner(pid).unwrap_or(0);
        place.user = users.get(&place.uid).cloned();
        self.known.insert(pid, place.clone());
        place
    }

    /// Forgets all but these.
    pub(super) fn keep<T>(&mut self, pids: &BTreeMap<i32, T>) {
        self.known.retain(|pid, _| pids.contains_key(pid));
    }
}

/// The unit of systemd or the container in a control group: the last part that names one.
fn unit(group: &str) -> Option<String> {
    let parts = group.split('/').filter(|part| !part.is_empty() && *part != "init.scope");
    let parts: Vec<&str> = parts.collect();
    let names_unit = |part: &&&str| part.ends_with(".service") || part.ends_with(".scope");
    let part = parts.iter().rev().find(names_unit).or_else(|| {
        let is_long =
            |part: &&&str| part.len() >= 12 && part.chars().all(|c| c.is_ascii_hexdigit());
        parts.iter().rev().find(is_long)
    })?;
    // docker-0123456789abcdef….scope: twelve digits, as docker shows them.
    let bare = part.strip_suffix(".scope").unwrap_or(part);
    let (before, id) = bare.rsplit_once('-').unwrap_or(("", bare));
    let is_id = id.len() >= 32 && id.chars().all(|c| c.is_ascii_hexdigit());
    Some(match (is_id, before) {
        (false, _) => (*part).to_owned(),
        (true, "") => format!("container {}", &id[..12]),
        (true, engine) => format!("{engine} {}", &id[..12]),
    })
}

/// The name of a terminal by its device number.
///
/// Source: Documentation/admin-guide/devices.txt (136 to 143: Unix98 pseudo-terminals; 4: virtual consoles and serial lines).
fn terminal(device: i32) -> Option<String> {
    let device = device.cast_unsigned();
    let (major, minor) = (device >> 8 & 0xfff, device & 0xff | device >> 12 & 0xfff00);
    match major {
        136..=143 => Some(format!("pts/{}", (major - 136) * 256 + minor)),
        4 if minor < 64 => Some(format!("tty{minor}")),
        4 => Some(format!("ttyS{}", minor - 64)),
        _ => None,
    }
}

fn users(passwd: &str) -> BTreeMap<u32, String> {
    let user = |line: &str| {
        let mut fields = line.split(':');
        let name = fields.next()?.to_owned();
        Some((fields.nth(1)?.parse().ok()?, name))
    };
    passwd.lines().rev().filter_map(user).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_containers_are_named() {
        let id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
        for (group, expected) in [
            ("/system.slice/backup.service", Some("backup.service")),
            ("/user.slice/user-1000.slice/session-3.scope", Some("session-3.scope")),
            (
                "/user.slice/user-1000.slice/user@1000.service/app.slice/vte-1.scope",
                Some("vte-1.scope"),
            ),
            (&format!("/system.slice/docker-{id}.scope"), Some("docker 0123456789ab")),
            (&format!("/docker/{id}"), Some("container 0123456789ab")),
            ("/", None),
            ("/init.scope", None),
            ("/system.slice", None),
        ] {
            assert_eq!(unit(group).as_deref(), expected, "{group}");
        }
    }

    #[test]
    fn terminals_are_named_by_their_device() {
        for (device, expected) in [
            (0, None),
            (136 << 8 | 3, Some("pts/3")),
            (137 << 8 | 1, Some("pts/257")),
            (136 << 8 | 0x2c | 1 << 20, Some("pts/300")),
            (4 << 8 | 1, Some("tty1")),
            (4 << 8 | 64, Some("ttyS0")),
        ] {
            assert_eq!(terminal(device).as_deref(), expected, "{device}");
        }
    }

    #[test]
    fn the_first_name_of_a_user_counts() {
        let users = users("root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/:/bin/sh\nbroken\n");
        assert_eq!(users.get(&0).map(String::as_str), Some("root"));
    }
}
