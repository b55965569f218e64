//! Engine `memory`: copying, writing and reading memory in different ways, one or more threads of one process.
//!
//! | parameter | values | default | |
//! |---|---|---|---|
//! | `method` | `libc-memcpy` `avx512` `avx2` `sse2` `scalar` `rep-movsb` `non-temporal` | `libc-memcpy` | what moves the bytes |
//! | `task` | `copy` `write` `read` | `copy` | from buffer to buffer; one value into a buffer; the sum of a buffer's words |
//! | `size` | 4 KiB … 1 GiB, whole pages | 32 KiB | bytes of each buffer; a copy has two |
//! | `threads` | 1 … CPUs | 1 | each with buffers of its own, on a CPU of its own |
//! | `total` | 4 KiB or more | 4 GiB | bytes that all threads move together, rounded up to whole buffers |
//! | `huge` | flag | off | buffers on huge pages; off: never |
//! | `counters` | flag | off | counters of the processor are read, too |
//!
//! `libc-memcpy` cannot read, `rep-movsb` and `non-temporal` neither (there is no such instruction for memory of this
//! kind). `scalar` moves 8 bytes at a time. The loops contain what the compiler cannot see through, or it would call memcpy
//! in all of them. Both buffers of a copy must fit into a cache to be copied at its speed. The time goes from
//! the first thread's begin to the last one's end; afterwards the method runs once more over cleared buffers and every
//! byte is compared: the answer is the sum of the words, or `wrong`. A copied byte counts once.

use std::sync::Barrier;
use std::thread;

use fullbore_apparatus::TrialPages;
use fullbore_apparatus::memory::{Kernel, MemoryError, Method, Operation, naive};

use super::builtin::{Builtin, COUNTERS, size, wrong};
use super::clock::{Begun, Usage};
use super::counters::Counters;
use super::spec::Spec;
use super::{pages, place};
use crate::{EngineError, Parameters, Side, TrialResult};

/// The engine.
pub(super) const ENGINE: Builtin = Builtin {
    name: "memory",
    about: "copying, writing and reading memory in different ways",
    parameters: &[
        Spec::text("method", Method::NAMES, "what moves the bytes"),
        Spec::text("task", Operation::NAMES, "what is done"),
        Spec::number("size", "bytes", (4096, 1 << 30), 32 << 10, "each buffer"),
        Spec::number("threads", "threads", (1, 1024), 1, "each on a CPU of its own"),
        Spec::number("total", "bytes", (4096, u64::MAX), 4 << 30, "moved by all threads together"),
        Spec::flag("huge", "buffers on huge pages"),
        COUNTERS,
    ],
    run,
};

/// What every thread does.
#[derive(Clone, Copy, Debug)]
struct Plan {
    kernel: Kernel,
    size: usize,
    rounds: u64,
    threads: usize,
    huge: bool,
    counts: bool,
}

/// What a thread found.
#[derive(Debug)]
struct Found {
    usage: Usage,
    answer: String,
}

fn run(parameters: &Parameters) -> Result<TrialResult, EngineError> {
    let size = size(parameters.number("size")?)?;
    let threads = usize::try_from(parameters.number("threads")?).unwrap_or(usize::MAX);
    if !size.is_multiple_of(4096) {
        return Err(wrong(format!("memory: size = {size}: must be a multiple of 4096")));
    }
    let cpus = place::allowed()?.len();
    if threads > cpus {
        return Err(EngineError::Unavailable {
            what: format!("{threads} CPUs, this process may use {cpus}"),
            remedy: "fewer threads".to_owned(),
        });
    }
    let kernel = kernel(parameters.text("method")?, parameters.text("task")?)?;
    let rounds = parameters.number("total")?.div_ceil(size as u64 * threads as u64);
    let (huge, counts) = (parameters.flag("huge")?, parameters.flag("counters")?);
    let plan = Plan { kernel, size, rounds, threads, huge, counts };
    Ok(sample(plan, &run_threads(plan)?))
}

/// The kernel of codec by the names of its method and task.
fn kernel(method: &str, task: &str) -> Result<Kernel, EngineError> {
    let kernel = task.parse().and_then(|task| method.parse::<Method>()?.kernel(task));
    kernel.map_err(refused)
}

/// What a lack of a kernel is to the lab.
fn refused(error: MemoryError) -> EngineError {
    match error {
        MemoryError::Unsupported(method) => EngineError::Unavailable {
            what: format!("a processor with {method}"),
            remedy: "another machine, or another method".to_owned(),
        },
        error => wrong(format!("memory: {error}")),
    }
}

fn run_threads(plan: Plan) -> Result<Vec<Found>, EngineError> {
    let barrier = Barrier::new(plan.threads);
    thread::scope(|scope| {
        let barrier = &barrier;
        let start = |number| scope.spawn(move || run_thread(plan, number, barrier));
        let threads: Vec<_> = (0..plan.threads).map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(wrong("a thread of the experiment panicked")))
        };
        threads.into_iter().map(join).collect()
    })
}

fn run_thread(plan: Plan, number: usize, barrier: &Barrier) -> Result<Found, EngineError> {
    let ready = place::pin_to(number).and_then(|()| Buffers::new(plan));
    let counters = if plan.counts { Counters::open() } else { Counters::none() };
    // Whoever failed must not leave the others waiting.
    barrier.wait();
    let mut buffers = ready?;
    let begun = Begun::thread(counters);
    let mut sum = 0_u64;
    for _ in 0..plan.rounds {
        sum = sum.wrapping_add(buffers.run(plan.kernel));
    }
    let usage = begun.end();
    Ok(Found { usage, answer: buffers.check(plan, sum) })
}

/// The memory of one thread, with every page touched.
#[derive(Debug)]
struct Buffers {
    from: TrialPages,
    to: TrialPages,
}

/// What `write` writes.
const VALUE: u8 = 0xA7;

impl Buffers {
    fn new(plan: Plan) -> Result<Self, EngineError> {
        let len = |is_needed: bool| if is_needed { plan.size } else { 4096 };
        let mut from = pages::map(len(!matches!(plan.kernel, Kernel::Write(_))), plan.huge)?;
        let to = pages::map(len(!matches!(plan.kernel, Kernel::Read(_))), plan.huge)?;
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        for word in from.bytes_mut().as_chunks_mut::<8>().0 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            *word = state.to_le_bytes();
        }
        Ok(Self { from, to })
    }

    /// One pass over the buffer; the sum for a kernel that reads.
    fn run(&mut self, kernel: Kernel) -> u64 {
        match kernel {
            Kernel::Copy(copy) => copy(self.to.bytes_mut(), self.from.bytes()),
            Kernel::Write(write) => write(self.to.bytes_mut(), VALUE),
            Kernel::Read(read) => return read(self.from.bytes()),
        }
        0
    }

    /// Runs once more over cleared memory and compares every byte.
    fn check(&mut self, plan: Plan, sum: u64) -> String {
        self.to.bytes_mut().fill(0);
        let once = self.run(plan.kernel);
        let (is_right, sum) = match plan.kernel {
            Kernel::Copy(_) => (self.to.bytes() == self.from.bytes(), naive::read(self.to.bytes())),
            Kernel::Write(_) => {
                (self.to.bytes().iter().all(|byte| *byte == VALUE), naive::read(self.to.bytes()))
            }
            Kernel::Read(_) => (
                once == naive::read(self.from.bytes()) && sum == once.wrapping_mul(plan.rounds),
                once,
            ),
        };
        if is_right { format!("{sum:016x}") } else { "wrong".to_owned() }
    }
}

fn sample(plan: Plan, found: &[Found]) -> TrialResult {
    let start = found.iter().map(|thread| thread.usage.start_ns).min().unwrap_or(0);
    let end = found.iter().map(|thread| thread.usage.end_ns).max().unwrap_or(0);
    let first = found.first().map(|thread| thread.answer.clone());
    let is_same = found.iter().all(|thread| Some(&thread.answer) == first.as_ref());
    let side = |(number, thread): (usize, &Found)| Side {
        name: format!("thread {number}"),
        cpu_ns: thread.usage.cpu_ns,
        peak_memory_bytes: None,
    };
    let mut sample = TrialResult {
        elapsed_ns: end - start,
        bytes: Some(plan.size as u64 * plan.rounds * plan.threads as u64),
        operations: Some(plan.rounds * plan.threads as u64),
        answer: if is_same { first } else { Some("wrong".to_owned()) },
        sides: found.iter().enumerate().map(side).collect(),
        ..TrialResult::default()
    };
    for usage in found.iter().map(|thread| &thread.usage) {
        for (counter, value) in usage.counters() {
            let known = sample.counters.entry(counter).or_insert(Some(0));
            *known = known.zip(value).map(|(one, other)| one + other);
        }
        sample.missing.extend(usage.missing());
    }
    // Memory belongs to the process; a thread that ended may have given its own back.
    let huge = found.iter().filter_map(|thread| thread.usage.huge_page_bytes).max();
    sample.counters.insert("huge_page_bytes".to_owned(), huge);
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_without_the_instructions_is_unavailable_not_wrong() {
        let error = refused(MemoryError::Unsupported(Method::Avx512)).to_string();
        assert!(error.starts_with("not available here: a processor with avx512"), "{error}");
        let error = kernel("rep-movsb", "read").unwrap_err().to_string();
        assert_eq!(error, "memory: rep-movsb cannot read; use avx512, avx2, sse2 or scalar");
    }
}
