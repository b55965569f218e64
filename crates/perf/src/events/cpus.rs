//! The numbers of the CPUs that are online.

use std::{fs, io};

/// The CPUs on which a thread may run one day; a thread may be given other CPUs than it began with.
pub(crate) fn online() -> io::Result<Vec<usize>> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online")?;
    parse(&text).ok_or_else(|| io::Error::other("the list of online CPUs is not understood"))
}

/// A list such as `0-3,8`, as in cpuset(7).
fn parse(list: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(parse("0\n"), Some(vec![0]));
        assert_eq!(parse("0-3,8,10-11\n"), Some(vec![0, 1, 2, 3, 8, 10, 11]));
        assert_eq!(parse(""), None);
        assert_eq!(parse("0-"), None);
    }
}
