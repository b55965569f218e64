//! Starting the pipeline so that it cannot tell the difference.

use std::collections::BTreeSet;
use std::os::fd::AsFd;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fullbore_perf::Stacks;
use fullbore_pipe::PipeId;
use fullbore_proc::Root;
use fullbore_process::{HeldSignals, send_signal, send_signal_to_child};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::profiling::{HERTZ, Profiling};
use crate::sampler::{SwitchReader, pipe_of};
use crate::{Command, Error};

/// The shortest that Linux takes; a sample of a few stages takes less.
const OBSERVER_SLICE: Duration = Duration::from_micros(100);

/// Whether shares are counted from every switch of a thread onto a CPU and off it (perf_event_open(2)), or from samples.
///
/// Counting is exact for time on a CPU, for how many threads and stages run at one time, and for processes that come and
/// go between two samples. It costs about a microsecond a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Exact {
    /// Where Linux allows it (`kernel.perf_event_paranoid` up to 2, no filter of system calls).
    Auto,
    /// In any case: where Linux refuses, nothing is started.
    Always,
    /// From samples.
    #[default]
    Never,
}

/// A pipeline that has been started.
#[derive(Debug)]
pub(crate) struct Started {
    /// Process of the shell, or of the command.
    pub(crate) pid: i32,
    /// The same, safe against a number given away twice; `None` on Linux before 5.3.
    pub(crate) pidfd: Option<std::os::fd::OwnedFd>,
    /// When it was started.
    pub(crate) at: Instant,
    /// When it was started, in nanoseconds since 1970-01-01 UTC.
    pub(crate) unix_ns: u64,
    /// Pipes that lead outside: those this process was started with.
    pub(crate) outside: BTreeSet<PipeId>,
    /// Children that this process had before: a shell that becomes fullbore may leave some (`fullbore … < <(a)`).
    pub(crate) strangers: BTreeSet<i32>,
    /// Sentences about what will be missing from the record.
    pub(crate) gaps: Vec<String>,
    /// Every switch of what was started, where that is wanted and allowed.
    pub(crate) switches: Option<SwitchReader>,
    /// Its stacks, where they are wanted.
    pub(crate) profiling: Option<Profiling>,
}

/// Starts the command with everything this process inherited, then lets go of it. Signals that are `held` are not held for it.
///
/// # Errors
/// [`Error::Start`] when the program is not found or cannot be executed, [`Error::Exact`] when switches are wanted in any
/// case and Linux refuses them.
pub(crate) fn start(
    command: &Command,
    exact: Exact,
    profile: bool,
    held: &HeldSignals,
) -> Result<Started, Error> {
    let mut gaps = Vec::new();
    let own = std::process::id().cast_signed();
    let strangers = Root::system().try_children(own, own).unwrap_or_default();
    // Processes whose parent ends become our children instead of init's, so their stage stays known.
    if fullbore_process::adopt_orphans().is_err() {
        gaps.push(
            "processes whose parent ended could not be followed (prctl was refused)".to_owned(),
        );
    }
    fullbore_process::hand_on_closed_descriptors();
    let switches = match exact {
        Exact::Never => None,
        Exact::Auto => SwitchReader::open().ok(),
        Exact::Always => Some(SwitchReader::open().map_err(Error::Exact)?),
    };
    let profiling = profile
        .then(|| Profiling::new(Stacks::of_descendants(HERTZ).map_err(|why| why.to_string())));
    let at = Instant::now();
    let unix_ns = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let pid = command
        .start(held)
        .map_err(|source| Error::Start { program: command.program().clone(), source })?;
    // Read while the program is loaded.
    let outside = inherited_pipes();
    let pidfd = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    if let Err(error) = fullbore_process::let_go_of_inherited() {
        gaps.push(format!(
            "ends of pipes stayed open in fullbore ({error}): an end of file may come late"
        ));
    }
    // Only now, or the pipeline would inherit these. A watched thread needs three files; threads beyond the limit
    // count as unknown. Without slack in our timers, Linux does not let them go off together with others, when
    // samples would fall on the moment a sleeping stage wakes; `account::naps` removes the bias that remains. And a sample
    // that had to wait for a CPU would find the stages where they are when one falls free, not where they mostly are.
    let _ = fullbore_process::raise_file_limit(None);
    let _ = fullbore_process::wake_on_time();
    let _ = fullbore_process::run_in_short_slices(OBSERVER_SLICE);
    let unix_ns = u64::try_from(unix_ns).unwrap_or(u64::MAX);
    let strangers = strangers.into_iter().collect();
    Ok(Started { pid, pidfd, at, unix_ns, outside, strangers, gaps, switches, profiling })
}

/// The pipes among the descriptors that this process was started with.
fn inherited_pipes() -> BTreeSet<PipeId> {
    let own = std::process::id().cast_signed();
    let root = Root::system();
    let fds = match fullbore_process::inherited_numbers() {
        Some(numbers) => numbers.into_iter().filter_map(|number| root.fd(own, number)).collect(),
        // Not known in a program that does not record it.
        None => root.fds(own).unwrap_or_default(),
    };
    fds.iter().filter_map(|fd| pipe_of(&fd.target)).collect()
}

impl Started {
    /// Sends a signal to the shell; nothing happens when it has ended, or has another owner and Linux refuses.
    pub(crate) fn signal(&self, number: i32) {
        let is_sent = |result: std::io::Result<()>| match result {
            Ok(()) => true,
            Err(error) => error.raw_os_error() == Some(Errno::SRCH.raw_os_error()),
        };
        let by_pidfd = self.pidfd.as_ref().map(|pidfd| send_signal(pidfd.as_fd(), number));
        if by_pidfd.is_some_and(is_sent) {
            return;
        }
        // A filter of system calls that is older than pidfd_send_signal(2) refuses it, and the signal would be lost. The
        // number is that of our child until its end is collected, and Linux uses a number again only after all others.
        let _ = send_signal_to_child(self.pid, number);
    }
}
