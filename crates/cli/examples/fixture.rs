//! A stage whose behaviour is known exactly: it reads, computes, sleeps and writes what it is told to.
//!
//! The tests and benchmarks build pipelines from it, so that the right verdict is known by construction;
//! with `--truth FILE` it also writes down, as JSON, where its own time went.
//! Computing is measured in CPU time of the thread, so a busy machine does not change the work done.
#![allow(clippy::print_stderr, reason = "a program of the tests reports its own failures")]

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use fullbore_measure::Bytes;
use rustix::event::{PollFd, PollFlags, epoll, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

const PAGE_BYTES: usize = 4096; // O_DIRECT wants buffers aligned to it, and a pipe that is ready takes one page

#[derive(Clone, Debug, Parser)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each flag is one independent property of the stage"
)]
struct Args {
    /// Label by which a test finds this stage in a record.
    #[arg(long, default_value = "")]
    name: String,
    /// Produce data instead of reading it.
    #[arg(long)]
    no_read: bool,
    /// Swallow data instead of writing it.
    #[arg(long)]
    no_write: bool,
    /// Bytes to produce.
    #[arg(long)]
    total: Option<Bytes>,
    /// Stop producing after this time.
    #[arg(long)]
    seconds: Option<f64>,
    /// Bytes asked for in one read.
    #[arg(long, default_value = "64K")]
    read_block: Bytes,
    /// Bytes given to one write.
    #[arg(long, default_value = "64K")]
    write_block: Bytes,
    /// CPU time to burn for each block of --read-block bytes (of --write-block bytes with --no-read).
    #[arg(long, default_value_t = 0)]
    compute_us: u64,
    /// Time to sleep for each block.
    #[arg(long, default_value_t = 0)]
    sleep_us: u64,
    /// Work for this many bytes in one go, then write them all (with --no-read).
    #[arg(long)]
    burst: Option<Bytes>,
    /// Threads that read, compute and write side by side.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Call poll(2) before each read and write.
    #[arg(long)]
    poll: bool,
    /// Call epoll_wait(2) before each read and write.
    #[arg(long)]
    epoll: bool,
    /// Move data with splice(2).
    #[arg(long)]
    splice: bool,
    /// Read this file instead of stdin.
    #[arg(long)]
    source: Option<PathBuf>,
    /// Open the source past the page cache (O_DIRECT).
    #[arg(long)]
    direct: bool,
    /// Write this file instead of stdout.
    #[arg(long)]
    sink: Option<PathBuf>,
    /// Push each block of the sink to the disk.
    #[arg(long)]
    fsync: bool,
    /// For each block, append a page to this file and push it to the disk.
    #[arg(long)]
    journal: Option<PathBuf>,
    /// Keep stdin and stdout open this long after the last byte.
    #[arg(long, default_value_t = 0)]
    hold_ms: u64,
    /// Where to write what the stage knows about its own time.
    #[arg(long)]
    truth: Option<PathBuf>,
}

/// Where the time of the stage went, by its own clocks; times of threads are added up.
#[derive(Debug, Default, Serialize)]
struct Truth {
    name: String,
    life_ns: u64,
    cpu_ns: u64,
    computing_ns: u64,
    sleeping_ns: u64,
    /// Wall time inside reads of the input minus the time on a CPU or waiting for one.
    read_wait_ns: u64,
    /// Wall time inside writes of the output minus the time on a CPU or waiting for one.
    write_wait_ns: u64,
    /// Time the main thread waited for a CPU, as Linux counts it.
    runnable_ns: u64,
    read_bytes: u64,
    written_bytes: u64,
    read_calls: u64,
    write_calls: u64,
}

/// How a thread learns that an end is ready before it reads or writes.
enum Readiness {
    Blocking,
    Poll,
    Epoll { input: Option<OwnedFd>, output: Option<OwnedFd> },
}

/// What all threads of the stage share.
struct Shared {
    args: Args,
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    journal: Option<File>,
    left_bytes: AtomicU64,
    started: Instant,
}

/// The clocks by which a thread tells waiting from running.
struct Clocks {
    /// Its own schedstat, when the truth is wanted: time spent waiting for a CPU is not time blocked.
    schedstat: Option<File>,
}

/// A moment by these clocks.
struct Moment {
    wall: Instant,
    cpu: Duration,
    runnable_ns: u64,
}

/// One thread of the stage and what it knows about its time.
struct Worker {
    shared: Arc<Shared>,
    readiness: Readiness,
    truth: Truth,
    clocks: Clocks,
    compute_goal: Duration,
    computed: Duration,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.raw_os_error() == Some(Errno::PIPE.raw_os_error()) => {
            ExitCode::from(141)
        }
        Err(error) => {
            eprintln!("fullbore-fixture: {}: {error}", args.name);
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> io::Result<()> {
    let started = Instant::now();
    let shared = Arc::new(Shared {
        input: open_input(args)?,
        output: open_output(args)?,
        journal: args.journal.as_ref().map(File::create).transpose()?,
        left_bytes: AtomicU64::new(args.total.map_or(u64::MAX, |total| total.0)),
        args: args.clone(),
        started,
    });
    let threads: Vec<_> = (1..args.threads)
        .map(|_| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || Worker::new(shared).and_then(Worker::work))
        })
        .collect();
    let (mut truth, mut result) = Worker::new(Arc::clone(&shared))?.work()?;
    for thread in threads {
        let (other, ended) = thread.join().map_err(|_| io::Error::other("a thread panicked"))??;
        truth.add(&other);
        result = result.and(ended);
    }
    std::thread::sleep(Duration::from_millis(args.hold_ms));
    if let Some(path) = &args.truth {
        args.name.clone_into(&mut truth.name);
        truth.life_ns = nanoseconds(started.elapsed());
        truth.cpu_ns = nanoseconds(cpu_time(ClockId::ProcessCPUTime));
        truth.runnable_ns = Clocks::new(args)?.runnable_ns();
        std::fs::write(path, serde_json::to_vec_pretty(&truth)?)?;
    }
    result
}

impl Worker {
    fn new(shared: Arc<Shared>) -> io::Result<Self> {
        let readiness = match (shared.args.poll, shared.args.epoll) {
            (true, _) => Readiness::Poll,
            (false, true) => Readiness::Epoll {
                input: watch(shared.input.as_ref(), epoll::EventFlags::IN)?,
                output: watch(shared.output.as_ref(), epoll::EventFlags::OUT)?,
            },
            (false, false) => Readiness::Blocking,
        };
        let clocks = Clocks::new(&shared.args)?;
        Ok(Self {
            shared,
            readiness,
            truth: Truth::default(),
            clocks,
            compute_goal: Duration::ZERO,
            computed: Duration::ZERO,
        })
    }

    /// Does the work of the stage; the truth is known even when the output broke.
    fn work(mut self) -> io::Result<(Truth, io::Result<()>)> {
        let result = match (self.shared.args.splice, &self.shared.input) {
            (true, _) => self.splice(),
            (false, None) => self.produce(),
            (false, Some(_)) => self.filter(),
        };
        Ok((self.truth, result))
    }

    fn produce(&mut self) -> io::Result<()> {
        let args = self.shared.args.clone();
        let block = size(args.write_block);
        let burst = args.burst.map_or(block, size);
        let data = pattern(burst);
        while self.is_in_time() {
            let taken = self.take(burst);
            if taken == 0 {
                break;
            }
            for _ in 0..taken.div_ceil(block) {
                self.compute_and_sleep()?;
            }
            for part in data[..taken].chunks(block) {
                self.write(part)?;
            }
        }
        Ok(())
    }

    fn filter(&mut self) -> io::Result<()> {
        let args = self.shared.args.clone();
        let (read_block, write_block) = (size(args.read_block), size(args.write_block));
        let mut room = vec![0; read_block + PAGE_BYTES];
        let offset = room.as_ptr().align_offset(PAGE_BYTES);
        let buffer = &mut room[offset..offset + read_block];
        let mut unworked = 0;
        while self.is_in_time() {
            let count = self.read(buffer)?;
            if count == 0 {
                break;
            }
            unworked += count;
            while unworked >= read_block {
                unworked -= read_block;
                self.compute_and_sleep()?;
            }
            for part in buffer[..count].chunks(write_block) {
                self.write(part)?;
            }
        }
        Ok(())
    }

    fn splice(&mut self) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let (Some(input), Some(output)) = (&shared.input, &shared.output) else {
            return Err(io::Error::other("--splice needs an input and an output"));
        };
        let block = size(shared.args.read_block);
        loop {
            let flags = rustix::pipe::SpliceFlags::empty();
            let moved = rustix::pipe::splice(input, None, output, None, block, flags)?;
            if moved == 0 {
                return Ok(());
            }
            self.compute_and_sleep()?;
        }
    }

    /// Takes up to `wanted` bytes from what is left to produce.
    fn take(&self, wanted: usize) -> usize {
        let wanted = wanted as u64;
        let left = &self.shared.left_bytes;
        let before = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(wanted))
        });
        usize::try_from(before.unwrap_or(0).min(wanted)).unwrap_or(0)
    }

    fn is_in_time(&self) -> bool {
        self.shared
            .args
            .seconds
            .is_none_or(|limit| self.shared.started.elapsed().as_secs_f64() < limit)
    }

    fn compute_and_sleep(&mut self) -> io::Result<()> {
        let (compute_us, sleep_us) = (self.shared.args.compute_us, self.shared.args.sleep_us);
        if compute_us > 0 {
            self.compute_goal += Duration::from_micros(compute_us);
            let start = cpu_time(ClockId::ThreadCPUTime);
            while self.computed < self.compute_goal {
                let before = cpu_time(ClockId::ThreadCPUTime);
                spin();
                self.computed += cpu_time(ClockId::ThreadCPUTime) - before;
            }
            self.truth.computing_ns += nanoseconds(cpu_time(ClockId::ThreadCPUTime) - start);
        }
        if sleep_us > 0 {
            let start = self.clocks.now();
            std::thread::sleep(Duration::from_micros(sleep_us));
            self.truth.sleeping_ns += self.clocks.waited_since(&start);
        }
        if let Some(journal) = &self.shared.journal {
            rustix::io::write(journal, &[7; PAGE_BYTES])?;
            rustix::fs::fdatasync(journal)?;
        }
        if self.shared.args.fsync
            && let Some(output) = &self.shared.output
        {
            rustix::fs::fdatasync(output)?;
        }
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let shared = Arc::clone(&self.shared);
        let Some(input) = &shared.input else {
            return Ok(0);
        };
        let start = self.clocks.now();
        self.readiness.wait_for_input(input.as_fd())?;
        let count = again(|| rustix::io::read(input, &mut *buffer))?;
        self.truth.read_wait_ns += self.clocks.waited_since(&start);
        self.truth.read_calls += 1;
        self.truth.read_bytes += count as u64;
        Ok(count)
    }

    fn write(&mut self, mut data: &[u8]) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let Some(output) = &shared.output else {
            return Ok(());
        };
        while !data.is_empty() {
            let start = self.clocks.now();
            self.readiness.wait_for_output(output.as_fd())?;
            // A pipe that is ready takes a page without blocking, and no more than that is certain.
            let most = if matches!(self.readiness, Readiness::Blocking) {
                data.len()
            } else {
                PAGE_BYTES.min(data.len())
            };
            let count = again(|| rustix::io::write(output, &data[..most]))?;
            self.truth.write_wait_ns += self.clocks.waited_since(&start);
            self.truth.write_calls += 1;
            self.truth.written_bytes += count as u64;
            data = &data[count..];
        }
        Ok(())
    }
}

impl Clocks {
    fn new(args: &Args) -> io::Result<Self> {
        let schedstat = args.truth.is_some().then(|| File::open("/proc/thread-self/schedstat"));
        Ok(Self { schedstat: schedstat.transpose()? })
    }

    fn now(&self) -> Moment {
        Moment {
            wall: Instant::now(),
            cpu: cpu_time(ClockId::ThreadCPUTime),
            runnable_ns: self.runnable_ns(),
        }
    }

    /// Time since then that was spent neither on a CPU nor waiting for one.
    fn waited_since(&self, start: &Moment) -> u64 {
        let now = self.now();
        let busy =
            nanoseconds(now.cpu.saturating_sub(start.cpu)) + now.runnable_ns - start.runnable_ns;
        nanoseconds(now.wall - start.wall).saturating_sub(busy)
    }

    /// Time this thread has waited for a CPU so far, as Linux counts it; 0 when nobody asked for the truth.
    fn runnable_ns(&self) -> u64 {
        let mut buffer = [0; 64];
        let count =
            self.schedstat.as_ref().and_then(|file| rustix::io::pread(file, &mut buffer, 0).ok());
        let text = std::str::from_utf8(&buffer[..count.unwrap_or(0)]).unwrap_or_default();
        text.split_whitespace().nth(1).and_then(|field| field.parse().ok()).unwrap_or(0)
    }
}

impl Readiness {
    fn wait_for_input(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        match self {
            Self::Blocking => Ok(()),
            Self::Poll => wait_by_poll(fd, PollFlags::IN),
            Self::Epoll { input, .. } => wait_by_epoll(input.as_ref()),
        }
    }

    fn wait_for_output(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        match self {
            Self::Blocking => Ok(()),
            Self::Poll => wait_by_poll(fd, PollFlags::OUT),
            Self::Epoll { output, .. } => wait_by_epoll(output.as_ref()),
        }
    }
}

impl Truth {
    fn add(&mut self, other: &Self) {
        self.computing_ns += other.computing_ns;
        self.sleeping_ns += other.sleeping_ns;
        self.read_wait_ns += other.read_wait_ns;
        self.write_wait_ns += other.write_wait_ns;
        self.read_bytes += other.read_bytes;
        self.written_bytes += other.written_bytes;
        self.read_calls += other.read_calls;
        self.write_calls += other.write_calls;
    }
}

fn open_input(args: &Args) -> io::Result<Option<OwnedFd>> {
    if args.no_read {
        return Ok(None);
    }
    let Some(path) = &args.source else {
        return rustix::stdio::stdin().try_clone_to_owned().map(Some);
    };
    let direct = if args.direct { OFlags::DIRECT } else { OFlags::empty() };
    Ok(Some(rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | direct, Mode::empty())?))
}

fn open_output(args: &Args) -> io::Result<Option<OwnedFd>> {
    if args.no_write {
        return Ok(None);
    }
    match &args.sink {
        Some(path) => Ok(Some(File::create(path)?.into())),
        None => rustix::stdio::stdout().try_clone_to_owned().map(Some),
    }
}

fn watch(fd: Option<&OwnedFd>, events: epoll::EventFlags) -> io::Result<Option<OwnedFd>> {
    let Some(fd) = fd else { return Ok(None) };
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    epoll::add(&set, fd, epoll::EventData::new_u64(0), events)?;
    Ok(Some(set))
}

fn wait_by_poll(fd: BorrowedFd<'_>, events: PollFlags) -> io::Result<()> {
    again(|| poll(&mut [PollFd::from_borrowed_fd(fd, events)], None))?;
    Ok(())
}

fn wait_by_epoll(set: Option<&OwnedFd>) -> io::Result<()> {
    let Some(set) = set else { return Ok(()) };
    let mut events =
        [epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) }];
    again(|| epoll::wait(set, &mut events[..], None))?;
    Ok(())
}

fn again<T>(mut call: impl FnMut() -> rustix::io::Result<T>) -> io::Result<T> {
    Ok(rustix::io::retry_on_intr(&mut call)?)
}

/// About 20 µs of arithmetic: long beside the two clock readings around it, short beside a block.
fn spin() {
    let mut x = 1_u64;
    for i in 0..20_000_u64 {
        x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(i));
    }
}

/// Bytes that do not compress to nothing and are the same in every run.
fn pattern(bytes: usize) -> Vec<u8> {
    let mut x = 0x9E37_79B9_u32;
    (0..bytes)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x.to_le_bytes()[0]
        })
        .collect()
}

fn cpu_time(clock: ClockId) -> Duration {
    Duration::try_from(clock_gettime(clock)).unwrap_or_default()
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn size(bytes: Bytes) -> usize {
    usize::try_from(bytes.0).unwrap_or(usize::MAX)
}
