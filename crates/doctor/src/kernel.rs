//! Which Linux this is, and what is known to be wrong with it.

use crate::{Finding, Level, Places};

/// A pipe that is full when it is enlarged may leave its writer asleep: "pipe: wakeup wr_wait after setting max_usage",
/// CVE-2023-52672, since 5.8. These are the first releases of each series without it; 6.8 and later do not have it.
///
/// Source: the CVE's record, <https://github.com/CVEProject/cvelistV5>, and
/// <https://bugzilla.kernel.org/show_bug.cgi?id=212295>.
const WAKES_AGAIN: [[u32; 3]; 6] =
    [[5, 10, 210], [5, 15, 149], [6, 1, 76], [6, 6, 15], [6, 7, 3], [6, 8, 0]];
const BEGAN: [u32; 3] = [5, 8, 0];

/// Which Linux this is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// As `uname -r` prints it; empty where it cannot be read.
    pub release: String,
    /// The release of kernel.org that it is or was made from; `None` where the distribution counts by itself.
    pub version: Option<[u32; 3]>,
}

impl Kernel {
    pub(crate) fn read(from: &mut Places) -> Self {
        let Some(release) = from.proc("sys/kernel/osrelease") else { return Self::default() };
        let release = release.trim().to_owned();
        let whole = from.proc_if_there("version").unwrap_or_default();
        let version = upstream(&release, &whole);
        let kernel = Self { release, version };
        let numbers = from.understood("/proc/sys/kernel/osrelease", numbers(&kernel.release));
        if kernel.version.is_none() && numbers.is_some_and(may_stop_writers) {
            from.not_known(
                "whether enlarged pipes wake their writers (CVE-2023-52672)",
                format!("the number of Linux {} is the distribution's own", kernel.release),
            );
        }
        kernel
    }

    pub(crate) fn examine(&self, findings: &mut Vec<Finding>) {
        if !self.version.is_some_and(may_stop_writers) {
            return;
        }
        let what =
            format!("Linux {} may leave the writer of an enlarged pipe asleep", self.release);
        let so = "A pipe that is full when fullbore run enlarges it may stand still. Newer releases of each series do not have this \
                  fault; until then, do not let fullbore enlarge pipes.";
        let finding = Finding::new("kernel", Level::Costs, what).so(so).source("CVE-2023-52672");
        findings.push(finding.command("fullbore run --no-tune 'a | b'"));
    }
}

/// Whether a release has the fault, going by its number.
fn may_stop_writers(version: [u32; 3]) -> bool {
    if version < BEGAN || version >= WAKES_AGAIN[WAKES_AGAIN.len() - 1] {
        return false;
    }
    let fixed = WAKES_AGAIN.iter().find(|fixed| fixed[..2] == version[..2]);
    fixed.is_none_or(|fixed| version < *fixed)
}

/// The release of kernel.org, from `uname -r` and `/proc/version`.
fn upstream(release: &str, whole: &str) -> Option<[u32; 3]> {
    // "Linux version 6.1.0-18-amd64 (debian-kernel@…) … #1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)"
    let debian = whole.split(" Debian ").skip(1).find_map(numbers);
    if debian.is_some() {
        return debian;
    }
    let version = numbers(release)?;
    // Distributions that take over single changes stay at x.y.0 and count by themselves: 5.15.0-105-generic, 5.14.0-427.el9.
    let rest = release.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let counts_itself = version[2] == 0
        && rest
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    (!counts_itself).then_some(version)
}

/// The numbers at the beginning of a release; the third is 0 if it is missing.
fn numbers(release: &str) -> Option<[u32; 3]> {
    let end = release.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(release.len());
    let mut parts = release[..end].split('.').map(str::parse);
    let (major, minor) = (parts.next()?.ok()?, parts.next()?.ok()?);
    Some([major, minor, parts.next().and_then(Result::ok).unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_releases_with_the_fault_have_it() {
        for has in [[5, 8, 0], [5, 10, 209], [5, 19, 17], [6, 1, 75], [6, 5, 13], [6, 7, 0]] {
            assert!(may_stop_writers(has), "{has:?}");
        }
        for lacks in
            [[4, 19, 0], [5, 7, 19], [5, 10, 210], [6, 1, 76], [6, 6, 15], [6, 8, 0], [7, 2, 1]]
        {
            assert!(!may_stop_writers(lacks), "{lacks:?}");
        }
    }

    #[test]
    fn the_release_of_kernel_org_is_told_from_numbers_of_distributions() {
        let debian = "Linux version 6.1.0-18-amd64 (x@y) #1 SMP Debian 6.1.76-1 (2024-02-01)";
        for (release, whole, expected) in [
            ("6.1.0-18-amd64", debian, Some([6, 1, 76])),
            ("5.15.0-105-generic", "Linux version 5.15.0-105-generic (b@l) #115-Ubuntu", None),
            ("5.14.0-427.el9.x86_64", "", None),
            ("6.7.0-arch3-1", "", Some([6, 7, 0])),
            ("6.6.14-200.fc39.x86_64", "", Some([6, 6, 14])),
            ("6.8", "", Some([6, 8, 0])),
            ("nonsense", "", None),
        ] {
            assert_eq!(upstream(release, whole), expected, "{release}");
        }
    }
}
