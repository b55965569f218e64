//! Why perf events cannot be had.

use std::{error, fmt, fs, io};

/// Linux refuses perf events, or has none.
#[derive(Debug)]
pub struct Refused {
    what: &'static str,
    source: io::Error,
    paranoid: Option<i32>,
}

impl Refused {
    pub(crate) fn new(what: &'static str, source: io::Error) -> Self {
        Self { what, source, paranoid: paranoid() }
    }

    /// Not Linux refuses: `why` says what fullbore lacks.
    pub(crate) fn by_fullbore(what: &'static str, why: &'static str) -> Self {
        Self::new(what, io::Error::new(io::ErrorKind::Unsupported, why))
    }

    /// Whether it is about a process that has ended, and not about the machine.
    #[must_use]
    pub fn is_about_a_process(&self) -> bool {
        is_errno(&self.source, rustix::io::Errno::SRCH)
    }
}

fn is_errno(error: &io::Error, errno: rustix::io::Errno) -> bool {
    error.raw_os_error() == Some(errno.raw_os_error())
}

/// The setting `kernel.perf_event_paranoid`; above 2 (as Debian and Ubuntu have it) nothing is allowed without privileges.
fn paranoid() -> Option<i32> {
    fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").ok()?.trim().parse().ok()
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.source)?;
        let is_refusal = self.source.kind() == io::ErrorKind::PermissionDenied;
        match self.paranoid {
            Some(level) if is_refusal && level > 2 => write!(
                f,
                " (kernel.perf_event_paranoid is {level}; `sudo sysctl kernel.perf_event_paranoid=2` allows it)"
            ),
            // perf_event_open(2): EACCES for a process that this one may not trace; filters answer EPERM.
            _ if is_errno(&self.source, rustix::io::Errno::ACCESS) => {
                f.write_str(" (another user's process, or a protected one; root may see it)")
            }
            _ if is_refusal => f.write_str(
                " (a filter of system calls, as containers have it, or a limit on locked memory)",
            ),
            _ if self.source.kind() == io::ErrorKind::Unsupported => Ok(()),
            None => f.write_str(" (this Linux was built without perf events)"),
            Some(_) => Ok(()),
        }
    }
}

impl error::Error for Refused {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.source)
    }
}
