//! Blocks of the input: read when they are needed, or ahead by a thread of its own where that pays.

use std::fs;
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use fullbore_pipe::Scratch;

use crate::{Input, InputError};

/// When more than one thread works on a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threads {
    /// Where a CPU is idle and much comes in.
    #[default]
    WherePays,
    /// Never: one thread.
    Never,
    /// From the first block on; so many where any number can be used.
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

/// The blocks of an input, one after the other.
#[derive(Debug)]
pub(crate) enum Blocks {
    /// Read here.
    Here { input: Input, block: Block, room: usize, pays: Pays },
    /// Read by a thread. One that is in the middle of a read when this is dropped ends with its input
    /// or with the process: waiting for it could take for ever.
    Ahead {
        full: Receiver<Result<Block, InputError>>,
        empty: SyncSender<Block>,
        block: Block,
        is_over: bool,
    },
}

/// How much is read at once: half of the largest pipe of an unprivileged user, and within the L2 cache.
const BLOCK_BYTES: usize = 512 << 10;
/// The first block is smaller, so that little input needs little memory.
const FIRST_BLOCK_BYTES: usize = 64 << 10;
/// Blocks between the threads.
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

    /// Gets the next block ready; empty at the end. `before_waiting` is called when there is none yet.
    pub(crate) fn advance<E: From<InputError>>(
        &mut self,
        before_waiting: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::Here { input, block, room, pays } => {
                // A read that was cut short may have taken all there was.
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
                // The thread may have ended; then the memory is of no use.
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

    /// The block that `advance` got ready.
    pub(crate) fn block(&self) -> &[u8] {
        match self {
            Self::Here { block, .. } | Self::Ahead { block, .. } => block.bytes(),
        }
    }

    /// The input with a descriptor of its own, when it pays to work on what is left of it with several threads. Call
    /// between blocks, and ask for none after it.
    pub(crate) fn to_be_divided(&self) -> Option<Input> {
        match self {
            Self::Here { input, pays, .. } if pays.is_worth_dividing() => input.try_clone().ok(),
            _ => None,
        }
    }

    /// Starts the thread when it pays. Call between blocks.
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
            // There is room for all of them.
            let _ = empty.send(Block::new());
        }
        let reading = move || read_all(for_thread, &empties, &full_sender);
        match thread::Builder::new().spawn(reading) {
            Ok(_) => Self::Ahead { full, empty, block, is_over: false },
            // At the limit of processes: it goes on here, and does not ask again.
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

/// Whether reading ahead would pay.
#[derive(Debug, Default)]
pub(crate) struct Pays {
    /// Still to be decided.
    is_open: bool,
    begin: Option<Instant>,
    read: u64,
    reading: Duration,
    looks: u32,
    idle_looks: u32,
}

/// Nothing is decided before this much was read …
const DECIDE_BYTES: u64 = 8 << 20;
/// … nor after this much: what has not paid by then is left alone.
const GIVE_UP_BYTES: u64 = 256 << 20;

impl Pays {
    pub(crate) fn new(threads: Threads) -> Self {
        Self { is_open: threads == Threads::WherePays, ..Self::default() }
    }

    /// Takes note of a block.
    pub(crate) fn note(&mut self, took: Duration, count: usize) {
        if !self.is_open {
            return;
        }
        self.begin.get_or_insert_with(|| Instant::now() - took);
        self.read += count as u64;
        self.reading += took;
        self.is_open = self.read < GIVE_UP_BYTES;
        // A look costs 10 µs: a few for every mebibyte at most.
        if self.read >= DECIDE_BYTES / 2 {
            self.looks += 1;
            self.idle_looks += u32::from(has_idle_cpu());
        }
    }

    /// Reading takes a good part of the time, but not most of it (then the input is waited for), and a CPU was
    /// idle in most looks.
    fn is_worth_it(&self) -> bool {
        self.reading_share().is_some_and(|share| (0.1..0.7).contains(&share))
    }

    /// The input is not waited for most of the time, and a CPU was idle in most looks.
    pub(crate) fn is_worth_dividing(&self) -> bool {
        self.reading_share().is_some_and(|share| share < 0.7)
    }

    /// Share of the time that goes into reading, once that can be told; `None` where no CPU is idle.
    fn reading_share(&self) -> Option<f64> {
        let begin = self.begin?;
        if !self.is_open || self.read < DECIDE_BYTES || 2 * self.idle_looks <= self.looks {
            return None;
        }
        Some(self.reading.as_secs_f64() / begin.elapsed().as_secs_f64())
    }
}

/// Whether fewer threads want a CPU than there are.
///
/// Source: proc_loadavg(5), fourth field: runnable entities, this one included.
fn has_idle_cpu() -> bool {
    // Asks for the limits of cgroups: five files.
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

    fn after(reading_ms: u64, total_ms: u64, idle_looks: u32) -> Pays {
        Pays {
            is_open: true,
            begin: Instant::now().checked_sub(Duration::from_millis(total_ms)),
            read: DECIDE_BYTES,
            reading: Duration::from_millis(reading_ms),
            looks: 10,
            idle_looks,
        }
    }

    #[test]
    fn a_thread_pays_only_with_an_idle_cpu_and_reads_that_take_part_of_the_time() {
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
