//! Our own engine, where fio is missing: as many threads as fio would have requests in flight, each with one pread(2) or pwrite(2)
//! at a time. So it keeps the device as busy, at the price of more CPU time. Records say that it was used, and are never compared
//! with those of fio.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rustix::fs::OFlags;
use rustix::io::{pread, pwrite};

use super::bins::Bins;
use super::job::{Job, is_sequential};
use super::record::{DirectionRun, LatencyRun, PassRun, Timeline};
use super::runner::Tester;

/// The most threads of a pass.
const MOST_THREADS: u64 = 512;

/// What direct I/O asks of an address.
const ALIGNMENT: usize = 4096;

/// Threads that read and write.
#[derive(Debug)]
pub struct Threads {
    stop: Arc<AtomicBool>,
    made: Instant,
}

/// Where a pass is: warming up, counting, over.
const WARM: u8 = 0;
const COUNTS: u8 = 1;
const OVER: u8 = 2;

/// What all threads of a pass know.
struct Common {
    phase: AtomicU8,
    /// Requests since the last step.
    requests: AtomicU64,
    latency_ns: AtomicU64,
    block: u64,
    is_write: bool,
    is_sequential: bool,
    /// Bytes of the part of each job.
    part: u64,
    step: u64,
    /// The next block of each job, for sequential ones.
    next: Vec<AtomicU64>,
}

/// What one thread found.
#[derive(Default)]
struct Found {
    bins: Bins,
    requests: u64,
    sum_ns: f64,
    min_ns: u64,
    max_ns: u64,
}

impl Threads {
    /// Ends when `stop` is set.
    #[must_use]
    pub fn new(stop: Arc<AtomicBool>) -> Self {
        Self { stop, made: Instant::now() }
    }
}

impl Tester for Threads {
    fn version(&self) -> String {
        format!("fullbore {} (pread and pwrite in threads)", env!("CARGO_PKG_VERSION"))
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.made.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn pass(&mut self, job: &Job, tick: &mut dyn FnMut(u64)) -> Result<PassRun, String> {
        let number =
            |name: &str, otherwise: u64| job.options.get(name).and_then(bytes).unwrap_or(otherwise);
        let text = |name: &str| job.options.get(name).unwrap_or("");
        let (jobs, depth) = (number("numjobs", 1).max(1), number("iodepth", 1).max(1));
        let common = Arc::new(Common {
            phase: AtomicU8::new(WARM),
            requests: AtomicU64::new(0),
            latency_ns: AtomicU64::new(0),
            block: number("bs", 4096).max(512),
            is_write: text("rw").ends_with("write"),
            is_sequential: is_sequential(&job.options),
            part: number("size", 0),
            step: number("offset_increment", 0),
            next: (0..jobs).map(|_| AtomicU64::new(0)).collect(),
        });
        let name = text("filename").replace("\\:", ":").replace("\\\\", "\\");
        let file = open(&name, common.is_write, text("direct") == "1")
            .map_err(|error| format!("{name}: {error}"))?;
        let file = Arc::new(file);
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let threads = (jobs * depth).min(MOST_THREADS);
        let workers: Vec<_> = (0..threads)
            .map(|place| {
                let (file, common) = (Arc::clone(&file), Arc::clone(&common));
                thread::Builder::new()
                    .stack_size(256 << 10)
                    .spawn(move || work(&file, &common, place % jobs, place))
                    .map_err(|error| format!("starting a thread: {error}"))
            })
            .collect();
        let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let step_ms = number("log_avg_msec", 500).max(50);
        let (ramp, runtime) = (number("ramp_time", 0) * 1000, number("runtime", 1) * 1000);
        let (timeline, counted) = self.direct(&common, ramp, runtime, step_ms, tick);
        common.phase.store(OVER, Ordering::Relaxed);
        let cpu_now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        let whole = together(workers)?;
        if self.stop.load(Ordering::Relaxed) {
            return Err("was stopped".to_owned());
        }
        let used =
            (cpu_now.tv_sec - cpu.tv_sec) as f64 + (cpu_now.tv_nsec - cpu.tv_nsec) as f64 / 1e9;
        let mut pass = told(&common, whole, timeline, counted);
        pass.tester = self.version();
        pass.started_unix_ns = u64::try_from(started.as_nanos()).unwrap_or(0);
        pass.user_cpus = Some(used / ((ramp + runtime) as f64 / 1000.0));
        pass.system_cpus = Some(0.0);
        Ok(pass)
    }
}

impl Threads {
    /// Lets the threads warm up and count, and notes each step; returns the time that counted.
    fn direct(
        &self,
        common: &Common,
        ramp_ms: u64,
        runtime_ms: u64,
        step_ms: u64,
        tick: &mut dyn FnMut(u64),
    ) -> (Timeline, Duration) {
        let began = Instant::now();
        let until = |ms: u64, tick: &mut dyn FnMut(u64)| {
            let end = began + Duration::from_millis(ms);
            while Instant::now() < end && !self.stop.load(Ordering::Relaxed) {
                thread::sleep(
                    end.saturating_duration_since(Instant::now()).min(Duration::from_millis(200)),
                );
                tick(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
            }
        };
        until(ramp_ms, tick);
        common.phase.store(COUNTS, Ordering::Relaxed);
        let counts_from = Instant::now();
        let mut timeline = Timeline { step_ms, ..Timeline::default() };
        let mut last = counts_from;
        common.requests.store(0, Ordering::Relaxed);
        common.latency_ns.store(0, Ordering::Relaxed);
        for step in 1..=runtime_ms / step_ms {
            until(ramp_ms + step * step_ms, tick);
            let requests = common.requests.swap(0, Ordering::Relaxed) as f64;
            let latency = common.latency_ns.swap(0, Ordering::Relaxed) as f64;
            let passed = last.elapsed().as_secs_f64();
            last = Instant::now();
            timeline.iops.push(requests / passed);
            timeline.bytes_per_s.push(requests * common.block as f64 / passed);
            timeline.latency_ns.push(latency / requests.max(1.0));
        }
        (timeline, counts_from.elapsed())
    }
}

fn open(name: &str, is_write: bool, is_direct: bool) -> io::Result<File> {
    let flags = if is_direct { OFlags::DIRECT } else { OFlags::empty() };
    let flags = i32::try_from(flags.bits()).map_err(io::Error::other)?;
    OpenOptions::new().read(true).write(is_write).custom_flags(flags).open(name)
}

/// One thread: one request at a time until the pass is over.
fn work(file: &File, common: &Common, job: u64, seed: u64) -> Result<Found, String> {
    let block = usize::try_from(common.block).unwrap_or(4096);
    let mut memory = vec![0_u8; block + ALIGNMENT];
    let start = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
    let buffer = &mut memory[start..start + block];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed ^ entropy());
    let mut found = Found { min_ns: u64::MAX, ..Found::default() };
    let blocks = (common.part / common.block).max(1);
    loop {
        let phase = common.phase.load(Ordering::Relaxed);
        if phase == OVER {
            return Ok(found);
        }
        let place = if common.is_sequential {
            common.next[usize::try_from(job).unwrap_or(0)].fetch_add(1, Ordering::Relaxed) % blocks
        } else {
            random.next_u64() % blocks
        };
        let offset = job * common.step + place * common.block;
        if common.is_write {
            random.fill_bytes(buffer);
        }
        let began = Instant::now();
        let moved = if common.is_write {
            pwrite(file, buffer, offset)
        } else {
            pread(file, &mut *buffer, offset)
        };
        let ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        match moved {
            Ok(0) => return Err(format!("the file ends before byte {offset}")),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(super::place::plain(&errno.into())),
        }
        if phase == COUNTS {
            common.requests.fetch_add(1, Ordering::Relaxed);
            common.latency_ns.fetch_add(ns, Ordering::Relaxed);
            found.bins.count(ns);
            found.requests += 1;
            found.sum_ns += ns as f64;
            found.min_ns = found.min_ns.min(ns);
            found.max_ns = found.max_ns.max(ns);
        }
    }
}

/// Another seed for each pass.
fn entropy() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos()) << 20
}

type Worker = Result<thread::JoinHandle<Result<Found, String>>, String>;

fn together(workers: Vec<Worker>) -> Result<Found, String> {
    let mut whole = Found { min_ns: u64::MAX, ..Found::default() };
    let mut failure = None;
    for worker in workers {
        match worker
            .and_then(|thread| thread.join().unwrap_or_else(|_| Err("a thread failed".to_owned())))
        {
            Ok(found) => {
                whole.bins.merge(&found.bins);
                whole.requests += found.requests;
                whole.sum_ns += found.sum_ns;
                whole.min_ns = whole.min_ns.min(found.min_ns);
                whole.max_ns = whole.max_ns.max(found.max_ns);
            }
            Err(why) => failure = Some(why),
        }
    }
    failure.map_or(Ok(whole), Err)
}

fn told(common: &Common, whole: Found, timeline: Timeline, counted: Duration) -> PassRun {
    let seconds = counted.as_secs_f64();
    let bytes = whole.requests * common.block;
    let direction = DirectionRun {
        direction: if common.is_write { "write" } else { "read" }.to_owned(),
        requests: whole.requests,
        bytes,
        runtime_ms: u64::try_from(counted.as_millis()).unwrap_or(u64::MAX),
        iops: whole.requests as f64 / seconds,
        bytes_per_s: bytes as f64 / seconds,
        iops_samples: None,
        latency: LatencyRun {
            of: "clat".to_owned(),
            min_ns: if whole.requests > 0 { whole.min_ns } else { 0 },
            max_ns: whole.max_ns,
            mean_ns: whole.sum_ns / whole.requests.max(1) as f64,
            percentiles: Vec::new(),
            bins: whole.bins,
        },
        timeline,
    };
    PassRun { jobs: 1, directions: vec![direction], ..PassRun::default() }
}

/// A number of an option of ours: `4k`, `128k`, or digits.
fn bytes(text: &str) -> Option<u64> {
    match text.strip_suffix('k') {
        Some(kib) => Some(kib.parse::<u64>().ok()? << 10),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests;
