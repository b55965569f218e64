//! Waits for fio, and looks meanwhile how busy the machine is and how much memory fio takes.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::disk::record::Load;

/// How often it is looked whether to stop, and progress is told.
const LOOK: Duration = Duration::from_millis(250);

/// Looks to a step of [`Load`].
const LOOKS_OF_A_STEP: u32 = 2;

/// How fio ended.
pub(super) struct Ended {
    /// Why its result does not count; `None` when it does.
    pub(super) trouble: Option<String>,
    /// What was seen meanwhile.
    pub(super) load: Load,
}

/// Starts the command in a process group of its own and waits for its end.
///
/// # Errors
/// When it cannot be started or waited for.
pub(super) fn watch(
    command: &mut Command,
    limit: Duration,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(u64),
) -> io::Result<Ended> {
    let began = Instant::now();
    let mut child = command.process_group(0).spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut load = Load { step_ms: ms(LOOK) * u64::from(LOOKS_OF_A_STEP), ..Load::default() };
    let given_up = until_end(&child, began, limit, stop, tick, &mut load);
    if let Some(group) = group {
        // The group lives as long as its first process is not waited for, so that the number is still its own.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let status = child.wait()?;
    let trouble = match (given_up?, status.code(), status.signal()) {
        (Some(why), ..) => Some(why),
        (None, Some(0), _) => None,
        (None, Some(code), _) => Some(format!("ended with exit status {code}")),
        (None, None, signal) => Some(format!("was killed by signal {}", signal.unwrap_or(0))),
    };
    Ok(Ended { trouble, load })
}

/// Waits; why it was given up, if it was.
fn until_end(
    child: &Child,
    began: Instant,
    limit: Duration,
    stop: &AtomicBool,
    tick: &mut dyn FnMut(u64),
    load: &mut Load,
) -> io::Result<Option<String>> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("no process number"))?;
    let end = pidfd_open(pid, PidfdFlags::empty())?;
    let pause = Timespec::try_from(LOOK).map_err(io::Error::other)?;
    let mut before = cpu_time();
    for look in 1_u32.. {
        let mut fds = [PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)];
        match poll(&mut fds, Some(&pause)) {
            Ok(ready) if ready > 0 => return Ok(None),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(Some("was stopped".to_owned()));
        }
        if began.elapsed() > limit {
            return Ok(Some(format!("was given up after {} s", limit.as_secs())));
        }
        tick(ms(began.elapsed()));
        if look.is_multiple_of(LOOKS_OF_A_STEP) {
            let now = cpu_time();
            load.busy_percent.extend(busy(before, now));
            load.memory_bytes.push(memory(child.id()));
            before = now;
        }
    }
    Ok(None)
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// All CPU time and that without work, in ticks.
///
/// Source: proc_stat(5).
fn cpu_time() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let ticks = text.lines().next()?.split_ascii_whitespace().skip(1).take(8);
    let ticks: Vec<u64> = ticks.filter_map(|tick| tick.parse().ok()).collect();
    // idle and iowait; what the host took from a virtual machine is not ours either.
    Some((ticks.iter().sum(), ticks.get(3)? + ticks.get(4)?))
}

fn busy(before: Option<(u64, u64)>, after: Option<(u64, u64)>) -> Option<f64> {
    let ((all, idle), (all_now, idle_now)) = (before?, after?);
    let passed = all_now.checked_sub(all).filter(|passed| *passed > 0)? as f64;
    let percent = (1.0 - idle_now.saturating_sub(idle) as f64 / passed) * 100.0;
    Some((percent.clamp(0.0, 100.0) * 10.0).round() / 10.0)
}

/// Memory of a process and its children; what they share counts once (Pss).
fn memory(pid: u32) -> u64 {
    let mut all = vec![pid.to_string()];
    let children =
        fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    all.extend(children.split_ascii_whitespace().map(str::to_owned));
    all.iter().filter_map(|pid| pss(pid)).sum()
}

fn pss(pid: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? << 10)
}
