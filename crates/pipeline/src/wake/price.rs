//! What a wake-up costs on this machine: measured once, and remembered until it is started again.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::wake::pollers::pin_to;

/// Round trips that are timed; the median counts. They take 10 ms at most where CPUs have nothing else to do.
const ROUND_TRIPS: usize = 64;
/// Where they take longer than this, something else is going on.
const TIME_LIMIT: Duration = Duration::from_millis(20);
/// What runs may be the last of the pipeline, which ends.
const TRIES: u32 = 3;
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

/// How much longer it takes to wake a thread on another CPU than on this one, in nanoseconds.
///
/// Two threads pass a byte to and fro through two pipes, first on two CPUs, then on one. The first takes a sleeping CPU's
/// waking up for each byte, if the CPUs have nothing else to do.
///
/// # Errors
/// Where Linux refuses a pipe, a thread or a CPU, and where it takes so long that something else must be going on.
pub(crate) fn measure(one: usize, other: usize) -> io::Result<u64> {
    let apart_ns = ping_pong(one, other)?;
    let together_ns = ping_pong(one, one)?;
    Ok(apart_ns.saturating_sub(together_ns))
}

/// The same, while nothing else runs: otherwise CPUs are awake, or the thread has to wait for them.
///
/// # Errors
/// As [`measure`], and where something else runs.
pub(crate) fn measure_alone(one: usize, other: usize) -> io::Result<u64> {
    let is_alone = || running().is_some_and(|running| running <= 1);
    for _ in 0..TRIES {
        if is_alone() {
            let price_ns = measure(one, other)?;
            if is_alone() {
                return Ok(price_ns);
            }
        }
        thread::sleep(BETWEEN_TRIES);
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// How many threads of the machine run or want to, this one included (proc_loadavg(5)).
fn running() -> Option<u32> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').nth(3)?.split_once('/')?.0.parse().ok()
}

/// The median of half a round trip.
fn ping_pong(one: usize, other: usize) -> io::Result<u64> {
    let (mut from_here, to_there) = io::pipe()?;
    let (from_there, mut to_here) = io::pipe()?;
    let echo = thread::Builder::new().spawn(move || {
        let mut byte = [0];
        if pin_to(other).is_ok() {
            while from_here.read_exact(&mut byte).and_then(|()| to_here.write_all(&byte)).is_ok() {}
        }
    })?;
    let ping = thread::Builder::new().spawn(move || time_pings(one, to_there, from_there))?;
    let times = ping.join().unwrap_or_else(|_| Err(io::Error::other("a thread ended early")));
    let _ = echo.join();
    let mut times = times?;
    times.sort_unstable();
    let median = times[times.len() / 2] / 2;
    Ok(u64::try_from(median.as_nanos()).unwrap_or(u64::MAX))
}

fn time_pings(cpu: usize, mut to: PipeWriter, mut from: PipeReader) -> io::Result<Vec<Duration>> {
    pin_to(cpu)?;
    let begin = Instant::now();
    let mut last = begin;
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let mut byte = [0];
        to.write_all(&byte)?;
        from.read_exact(&mut byte)?;
        let now = Instant::now();
        times.push(now - last);
        last = now;
        if now - begin > TIME_LIMIT {
            return Err(io::ErrorKind::TimedOut.into());
        }
    }
    Ok(times)
}

/// A file in this folder in which prices are remembered, if the folder is private to this user.
pub(crate) fn place(folder: &Path) -> Option<PathBuf> {
    let metadata = fs::symlink_metadata(folder).ok()?;
    let is_private = metadata.is_dir()
        && metadata.permissions().mode() & 0o077 == 0
        && metadata.uid() == rustix::process::geteuid().as_raw();
    is_private.then(|| folder.join("fullbore-wake-up-price"))
}

/// The price between these CPUs, if it was measured since the machine was started.
pub(crate) fn recall(place: &Path, cpus: (usize, usize)) -> Option<u64> {
    parse(&fs::read_to_string(place).ok()?, &boot()?, cpus)
}

/// Remembers a price. A failure to write only means that it is measured again.
pub(crate) fn remember(place: &Path, (one, other): (usize, usize), price_ns: u64) {
    let Some(boot) = boot() else { return };
    // Another run may write at the same time: a file that is renamed is always whole.
    let new = place.with_extension(std::process::id().to_string());
    let text = format!("{boot} {one} {other} {price_ns}\n");
    let is_written = fs::write(&new, text).and_then(|()| fs::rename(&new, place));
    if is_written.is_err() {
        let _ = fs::remove_file(&new);
    }
}

fn parse(text: &str, boot: &str, (one, other): (usize, usize)) -> Option<u64> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    let is_same = words.next()? == boot
        && words.next()? == one.to_string()
        && words.next()? == other.to_string();
    words.next().filter(|_| is_same)?.parse().ok()
}

/// What tells one start of the machine from another.
fn boot() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::thread::sched_getcpu;

    #[test]
    fn a_byte_that_stays_on_one_cpu_needs_no_cpu_to_wake_up() {
        let cpu = sched_getcpu();
        let price_ns = measure(cpu, cpu).unwrap();
        assert!(price_ns < 1_000_000, "{price_ns} ns");
    }

    #[test]
    fn nothing_is_measured_while_something_else_runs() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let busy =
            thread::spawn(
                move || {
                    while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {}
                },
            );
        let cpu = sched_getcpu();
        let found = measure_alone(cpu, cpu).map_err(|error| error.kind());
        assert_eq!(found, Err(io::ErrorKind::ResourceBusy));
        drop(stop);
        busy.join().unwrap();
    }

    #[test]
    fn a_price_is_remembered_for_the_same_cpus() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("price");
        assert_eq!(recall(&place, (0, 1)), None);
        remember(&place, (0, 1), 33_000);
        assert_eq!(recall(&place, (0, 1)), Some(33_000));
        assert_eq!(recall(&place, (0, 2)), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_others_can_enter_is_no_place_to_remember_prices() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |bits| fs::set_permissions(folder.path(), fs::Permissions::from_mode(bits));
        mode(0o755).unwrap();
        assert_eq!(place(folder.path()), None);
        mode(0o700).unwrap();
        assert_eq!(place(folder.path()), Some(folder.path().join("fullbore-wake-up-price")));
        assert_eq!(place(&folder.path().join("absent")), None);
    }

    #[test]
    fn a_price_of_an_earlier_start_of_the_machine_is_forgotten() {
        assert_eq!(parse("a 0 1 33000\n", "a", (0, 1)), Some(33_000));
        assert_eq!(parse("a 0 1 33000\n", "b", (0, 1)), None);
        assert_eq!(parse("a 0 1 330", "a", (0, 1)), None, "it may be cut");
        assert_eq!(parse("", "a", (0, 1)), None);
    }
}
