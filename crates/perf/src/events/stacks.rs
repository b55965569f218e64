//! Where the threads of a pipeline are while they are on a CPU.

use std::collections::VecDeque;

use perf_event::events::Software;
use perf_event::{Builder, Clock, SampleFlag};

use super::cpus;
use super::ring::{Ring, complete_until_ns};
use crate::reading::StackReading;
use crate::refused::Refused;
use crate::stack_record::{Event, REGISTERS, StackRecord};

/// Memory for the records of one CPU, in bytes; Linux lets a user without privileges lock 516 KiB for each CPU, over all
/// programs (`kernel.perf_event_mlock_kb`). At 199 samples a second, 512 KiB last 60 ms.
const RING_BYTES: [usize; 3] = [512 << 10, 256 << 10, 128 << 10];
/// So much of each stack is copied, in bytes. Deeper callers stay unknown.
const STACK_BYTES: u32 = 40 << 10;

/// Takes the registers and the stack of each watched thread that is on a CPU, so many times a second.
///
/// One descriptor and at most 512 KiB for each CPU and each thread that was named. Closed when dropped; the processes that
/// are watched do not notice.
#[derive(Debug)]
pub struct Stacks {
    rings: Vec<Ring>,
    own: i32,
    period_ns: u64,
    sees_kernel: bool,
    /// Read, but later than what is complete.
    pending: VecDeque<Event>,
}

impl Stacks {
    /// Watches what the calling thread starts from now on, and all that these start.
    ///
    /// # Errors
    /// Where Linux refuses perf events or has none; the message says what would allow them.
    pub fn of_descendants(hertz: u32) -> Result<Self, Refused> {
        Self::open(hertz, &[None])
    }

    /// Watches threads that run already, and all that they start.
    ///
    /// # Errors
    /// The same; also where none of them may be watched.
    pub fn of_threads(hertz: u32, threads: &[i32]) -> Result<Self, Refused> {
        let threads: Vec<Option<i32>> = threads.iter().copied().map(Some).collect();
        Self::open(hertz, &threads)
    }

    fn open(hertz: u32, threads: &[Option<i32>]) -> Result<Self, Refused> {
        if REGISTERS == 0 {
            return Err(Refused::by_fullbore("stacks", "fullbore cannot follow those of this CPU"));
        }
        let cpus = cpus::online().map_err(|error| Refused::new("the CPUs are not known", error))?;
        let mut refused = None;
        for sees_kernel in [true, false] {
            for bytes in RING_BYTES {
                match open_all(hertz, threads, &cpus, sees_kernel, bytes) {
                    Ok(rings) => {
                        let own = std::process::id().cast_signed();
                        let period_ns = 1_000_000_000 / u64::from(hertz.max(1));
                        let pending = VecDeque::new();
                        return Ok(Self { rings, own, period_ns, sees_kernel, pending });
                    }
                    Err(why) => refused = Some(why),
                }
            }
        }
        Err(refused.unwrap_or_else(|| {
            Refused::new("perf_event_open", std::io::Error::other("there is nothing to watch"))
        }))
    }

    /// The CPU time that one sample stands for, in nanoseconds.
    #[must_use]
    pub fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// Whether samples are taken in the kernel, too. Otherwise there is none for the time in system calls.
    #[must_use]
    pub fn sees_kernel(&self) -> bool {
        self.sees_kernel
    }

    /// Reads what happened since the reading before; never waits.
    pub fn read(&mut self) -> StackReading {
        let until_ns = complete_until_ns();
        let mut reading = StackReading::default();
        let mut events = std::mem::take(&mut self.pending);
        for ring in &mut self.rings {
            ring.drain(|kind, misc, body| {
                match StackRecord::parse(kind, misc, body, self.sees_kernel) {
                    Some(StackRecord::Event(event)) if event.pid != self.own => {
                        events.push_back(event);
                    }
                    Some(StackRecord::Lost(count)) => reading.lost += count,
                    _ => {}
                }
            });
        }
        let in_order = events.make_contiguous();
        in_order.sort_by_key(|event| event.at_ns);
        let complete = in_order.partition_point(|event| event.at_ns <= until_ns);
        self.pending = events.split_off(complete);
        reading.events = events.into();
        reading
    }
}

/// Opens the event for each thread on each CPU; a thread that has ended or may not be watched is left out, if others are
/// there.
fn open_all(
    hertz: u32,
    threads: &[Option<i32>],
    cpus: &[usize],
    sees_kernel: bool,
    bytes: usize,
) -> Result<Vec<Ring>, Refused> {
    let mut rings = Vec::new();
    let mut refused = None;
    for thread in threads {
        let mut builder = Builder::new(Software::CPU_CLOCK);
        builder.sample_frequency(u64::from(hertz)).inherit(true).enabled(true);
        builder.task(true).mmap(true).mmap2(true).comm(true).comm_exec(true);
        builder.sample(SampleFlag::TID | SampleFlag::TIME);
        builder.sample(SampleFlag::REGS_USER | SampleFlag::STACK_USER);
        builder.sample_regs_user(REGISTERS).sample_stack_user(STACK_BYTES);
        builder.sample_id_all(true).clockid(Clock::MONOTONIC);
        builder.exclude_hv(true).exclude_kernel(!sees_kernel);
        if sees_kernel {
            builder.sample(SampleFlag::CALLCHAIN).exclude_callchain_user(true);
        }
        match thread {
            Some(thread) => builder.observe_pid(*thread),
            None => builder.observe_self(),
        };
        match Ring::open_all(&mut builder, cpus, bytes) {
            Ok(of_thread) => rings.extend(of_thread),
            Err(why) => refused = Some(why),
        }
    }
    match refused {
        Some(why) if rings.is_empty() => Err(why),
        _ => Ok(rings),
    }
}
