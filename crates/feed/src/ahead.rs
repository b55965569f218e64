//! Supplies the input in blocks, read on demand or ahead by a separate thread where that pays.

use std::fs;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use fullbore_pipe::Scratch;

use crate::{Input, InputError};

/// When to use more than one thread on a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// When a CPU is idle and much input comes in.
    #[default]
    WherePays,
    /// Never: one thread does everything.
    Never,
    /// From the first block; this many where any number can be used.
    Always(usize),
}

/// A block of input; empty at the end.
#[derive(Debug, Default)]
pub(crate) struct Block {
    memory: Scratch,
    len: usize,
}

impl Block {
    fn new() -> Self {
        Self { memory: Scratch::new(BLOCK_BYTES), len: 0 }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[..self.len]
    }
}

/// The blocks of an input, in order.
#[derive(Debug)]
pub(crate) enum Blocks {
    /// The calling thread reads.
    Here { input: Input, block: Block, room: usize, pays: Pays },
    /// Another thread reads. If this is dropped while that thread is inside a read, the thread ends with its input or
    /// with the process: waiting for it could take for ever.
    Ahead {
        full: Receiver<Result<Block, InputError>>,
        empty: SyncSender<Block>,
        block: Block,
        is_over: bool,
    },
}

/// Most bytes in one read: half of an unprivileged user's largest pipe, and small enough for the L2 cache.
const BLOCK_BYTES: usize = 512 << 10;
/// Size of the first block, kept small so that little input needs little memory.
const FIRST_BLOCK_BYTES: usize = 64 << 10;
/// How many blocks may lie between the threads.
const QUEUE: usize = 2;

impl Blocks {
    pub(crate) fn new(input: Input, threads: Threads) -> Self {
        let blocks = Self::Here {
            input,
            block: Block::new(),
            room: FIRST_BLOCK_BYTES,
            pays: Pays::new(threads),
        };
        if matches!(threads, Threads::Always(_)) { blocks.go_ahead() } else { blocks }
    }

    /// Gets the next block ready; it is empty at the end. Calls `before_waiting` when no block is ready yet.
    pub(crate) fn advance<E: From<InputError>>(
        &mut self,
        before_waiting: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Here { input, block, room, pays } => {
                // A short read may have taken all there was.
                if block.len < *room && input.is_dry() {
                    before_waiting()?;
                }
                let begin = Instant::now();
                block.len = input.read(&mut block.memory[..*room])?;
                pays.note(begin.elapsed(), block.len);
                if block.len == *room {
                    *room = BLOCK_BYTES;
                }
                Ok(())
            }
            Self::Ahead { full, empty, block, is_over } => {
                if *is_over {
                    return Ok(());
                }
                // The thread may have ended; nobody needs the memory then.
                let _ = empty.send(std::mem::take(block));
                let next = match full.try_recv() {
                    Err(TryRecvError::Empty) => {
                        before_waiting()?;
                        full.recv().ok()
                    }
                    next => next.ok(),
                };
                *block = next.transpose()?.unwrap_or_default();
                *is_over = block.len == 0;
                Ok(())
            }
        }
    }

    /// Returns the block that `advance` got ready.
    pub(crate) fn block(&self) -> &[u8] {
        match self {
            Self::Here { block, .. } | Self::Ahead { block, .. } => block.bytes(),
        }
    }

    /// Returns the input with its own descriptor when several threads would finish the rest faster. Call it between
    /// blocks, and ask for no block after it returned one.
    pub(crate) fn to_be_divided(&self) -> Option<Input> {
        match self {
            Self::Here { input, pays, .. } if pays.is_worth_dividing() => input.try_clone().ok(),
            _ => None,
        }
    }

    /// Starts the reading thread when that pays. Call it between blocks.
    pub(crate) fn reconsider(self) -> Self {
        match &self {
            Self::Here { pays, .. } if pays.is_worth_it() => self.go_ahead(),
            _ => self,
        }
    }

    fn go_ahead(self) -> Self {
        let Self::Here { input, block, room, .. } = self else { return self };
        let stay = |input, block| Self::Here { input, block, room, pays: Pays::default() };
        let Ok(for_thread) = input.try_clone() else { return stay(input, block) };
        let (full_sender, full) = sync_channel(QUEUE);
        let (empty, empties) = sync_channel::<Block>(QUEUE + 2);
        for _ in 0..=QUEUE {
            // The queue has room for all of them.
            let _ = empty.send(Block::new());
        }
        let reading = move || read_all(for_thread, &empties, &full_sender);
        match thread::Builder::new().spawn(reading) {
            Ok(_) => Self::Ahead { full, empty, block, is_over: false },
            // The limit of processes is reached: keep reading here, and do not try again.
            Err(_) => stay(input, block),
        }
    }
}

fn read_all(
    mut input: Input,
    empties: &Receiver<Block>,
    full: &SyncSender<Result<Block, InputError>>,
) {
    while let Ok(mut block) = empties.recv() {
        let read = input.read(&mut block.memory).map(|len| Block { len, ..block });
        let is_last = read.as_ref().map_or(true, |block| block.len == 0);
        if full.send(read).is_err() || is_last {
            return;
        }
    }
}

/// Decides whether reading ahead would pay.
#[derive(Debug, Default)]
pub(crate) struct Pays {
    /// Whether the decision is still open.
    is_open: bool,
    begin: Option<Instant>,
    read: u64,
    reading: Duration,
    samples: u32,
    idle_samples: u32,
}

/// Input after which the decision may fall.
const DECIDE_BYTES: u64 = 8 << 20;
/// Input after which the decision falls against a thread: what has not paid by then never will.
const GIVE_UP_BYTES: u64 = 256 << 20;

impl Pays {
    pub(crate) fn new(threads: Threads) -> Self {
        Self { is_open: threads == Threads::WherePays, ..Self::default() }
    }

    /// Records how long one block took to read.
    pub(crate) fn note(&mut self, took: Duration, count: usize) {
        if !self.is_open {
            return;
        }
        self.begin.get_or_insert_with(|| Instant::now() - took);
        self.read += count as u64;
        self.reading += took;
        self.is_open = self.read < GIVE_UP_BYTES;
        // A sample costs 10 µs, so take a few a mebibyte at most.
        if self.read >= DECIDE_BYTES / 2 {
            self.samples += 1;
            self.idle_samples += u32::from(has_idle_cpu());
        }
    }

    /// Tells whether reading takes a good part of the time but not most of it (which would mean waiting for input), and
    /// a CPU was idle in most samples.
    fn is_worth_it(&self) -> bool {
        self.reading_share().is_some_and(|share| (0.1..0.7).contains(&share))
    }

    /// Tells whether most of the time went elsewhere than into waiting for input, and a CPU was idle in most samples.
    pub(crate) fn is_worth_dividing(&self) -> bool {
        self.reading_share().is_some_and(|share| share < 0.7)
    }

    /// Returns the share of the time spent reading, once it is known; `None` where no CPU is idle.
    fn reading_share(&self) -> Option<f64> {
        let begin = self.begin?;
        if !self.is_open || self.read < DECIDE_BYTES || 2 * self.idle_samples <= self.samples {
            return None;
        }
        Some(self.reading.as_secs_f64() / begin.elapsed().as_secs_f64())
    }
}

/// Tells whether fewer threads want a CPU than there are CPUs.
///
/// Source: proc_loadavg(5), fourth field: runnable entities, this one included.
pub(crate) fn has_idle_cpu() -> bool {
    // This reads the limits of cgroups from five files.
    static CPUS: LazyLock<usize> =
        LazyLock::new(|| thread::available_parallelism().map_or(1, usize::from));
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running =
        text.split(' ').nth(3).and_then(|field| field.split('/').next()?.parse::<usize>().ok());
    running.is_some_and(|running| running < *CPUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(reading_ms: u64, total_ms: u64, idle_samples: u32) -> Pays {
        Pays {
            is_open: true,
            begin: Instant::now().checked_sub(Duration::from_millis(total_ms)),
            read: DECIDE_BYTES,
            reading: Duration::from_millis(reading_ms),
            samples: 10,
            idle_samples,
        }
    }

    #[test]
    fn reading_ahead_pays_only_with_an_idle_cpu_and_reads_that_take_part_of_the_time() {
        assert!(after(300, 1000, 9).is_worth_it());
        assert!(!after(300, 1000, 2).is_worth_it(), "no CPU was idle");
        assert!(!after(10, 1000, 9).is_worth_it(), "reading takes no time");
        assert!(after(10, 1000, 9).is_worth_dividing());
        assert!(!after(10, 1000, 2).is_worth_dividing(), "no CPU was idle");
        assert!(!after(950, 1000, 9).is_worth_it(), "the input is waited for");
        assert!(
            !Pays { read: 1 << 20, ..after(300, 1000, 9) }.is_worth_it(),
            "too little was read"
        );
    }
}
