//! Finds the callers in the stacks that were taken, in a thread of its own: it reads whole programs and libraries, from a
//! cold disk perhaps, and meanwhile the next samples are to be taken.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};

use fullbore_perf::{Event, Happened, Sample};
use fullbore_proc::Root;
use fullbore_profile::{Callers, Frame, Mapped, Stack, Tally};

use super::files::file_of;
use crate::account::reason::Reason;

/// When stacks of so many bytes wait to be followed, no more are taken: the disk, or the CPUs, do not keep up.
const BACKLOG_MAX_BYTES: usize = 256 << 20;

/// So many waits that go on are handed over at once.
const WAITS_MAX: usize = 4096;

/// A thread, by its process and its own number.
pub(super) type Place = (i32, i32);

/// What a process did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Did {
    Ran,
    Waited(Reason),
}

/// What one look took.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) events: Vec<Event>,
    /// In the order in which they were seen, at this look and at those before it that were not handed over.
    pub(super) waits: Vec<Seen>,
}

/// What was seen of a thread.
#[derive(Debug)]
pub(super) enum Seen {
    Waits(Waiting),
    /// It does not wait any more where it waited.
    Gone(Place),
}

impl Seen {
    fn stack(&self) -> Option<&Snapshot> {
        match self {
            Self::Waits(wait) => wait.stack.as_ref(),
            Self::Gone(_) => None,
        }
    }
}

/// A thread that waits.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) place: Place,
    pub(super) reason: Reason,
    /// How long it did.
    pub(super) ns: f64,
    /// Its stack, unless it waits where it waited before.
    pub(super) stack: Option<Snapshot>,
}

/// The stack of a thread that waits.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) instruction: u64,
    pub(super) pointer: u64,
    pub(super) bytes: Vec<u8>,
}

impl Taken {
    /// Whether it is time to hand it over: maps and files of processes that may end soon are to be read, or it is much.
    pub(super) fn is_due(&self) -> bool {
        !self.events.is_empty()
            || self.waits.len() >= WAITS_MAX
            || self.waits.iter().any(|seen| seen.stack().is_some())
    }

    fn bytes(&self) -> usize {
        let samples = self.events.iter().map(|event| match &event.happened {
            Happened::Sample(sample) => sample.stack.len(),
            _ => 0,
        });
        let waits = self.waits.iter().filter_map(Seen::stack).map(|stack| stack.bytes.len());
        samples.chain(waits).sum()
    }
}

/// The thread that finds callers.
#[derive(Debug)]
pub(super) struct Unwinding {
    sender: Sender<Taken>,
    backlog: Arc<AtomicUsize>,
    thread: JoinHandle<Unwound>,
}

impl Unwinding {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// Those of pthread_create(3): `EAGAIN` when the user has too many processes.
    pub(super) fn start(root: Root) -> io::Result<Self> {
        let (sender, receiver) = channel();
        let backlog = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&backlog);
        let follow_all = move || Unwound::of_all(root, &receiver, &left);
        let thread = Builder::new().name("stacks".to_owned()).spawn(follow_all)?;
        Ok(Self { sender, backlog, thread })
    }

    /// Whether it keeps up.
    pub(super) fn has_room(&self) -> bool {
        self.backlog.load(Ordering::Relaxed) < BACKLOG_MAX_BYTES
    }

    pub(super) fn follow(&self, taken: Taken) {
        self.backlog.fetch_add(taken.bytes(), Ordering::Relaxed);
        // It only ends by a panic, which `finish` passes on.
        let _ = self.sender.send(taken);
    }

    /// Waits until all stacks are followed.
    pub(super) fn finish(self) -> Unwound {
        drop(self.sender);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The stacks of a run, followed.
#[derive(Debug)]
pub(super) struct Unwound {
    root: Root,
    pub(super) callers: Callers,
    pub(super) tally: Tally<(i32, Did)>,
    /// The process that started each.
    pub(super) parents: HashMap<i32, i32>,
    /// Copies of fullbore that have not called execve: what they run is no part of the pipeline.
    copies: HashSet<i32>,
    /// Where each thread waits.
    blocked: HashMap<Place, Vec<Frame>>,
    /// Processes whose maps were read for what is being followed.
    asked: Vec<i32>,
}

impl Unwound {
    pub(super) fn new(root: Root) -> Self {
        Self {
            root,
            callers: Callers::default(),
            tally: Tally::default(),
            parents: HashMap::new(),
            copies: HashSet::new(),
            blocked: HashMap::new(),
            asked: Vec::new(),
        }
    }

    fn of_all(root: Root, receiver: &Receiver<Taken>, left: &AtomicUsize) -> Self {
        let mut unwound = Self::new(root);
        for taken in receiver {
            let bytes = taken.bytes();
            unwound.take_in(taken);
            left.fetch_sub(bytes, Ordering::Relaxed);
        }
        unwound
    }

    fn take_in(&mut self, taken: Taken) {
        self.asked.clear();
        self.take_in_events(taken.events);
        for seen in taken.waits {
            match seen {
                Seen::Waits(wait) => self.take_in_wait(wait),
                Seen::Gone(place) => {
                    self.blocked.remove(&place);
                }
            }
        }
    }

    fn take_in_events(&mut self, events: Vec<Event>) {
        let own = std::process::id().cast_signed();
        let mut ended = Vec::new();
        for Event { pid, tid, happened, .. } in events {
            match happened {
                Happened::Mapped(mapping) => {
                    let path = if mapping.path == "//anon" { String::new() } else { mapping.path };
                    let end = mapping.start.saturating_add(mapping.length);
                    self.map(
                        pid,
                        Mapped { start: mapping.start, end, offset: mapping.offset, path },
                    );
                }
                Happened::Executed => {
                    self.copies.remove(&pid);
                    self.callers.clear(pid);
                }
                Happened::Begun { parent } if tid == pid => {
                    if parent == own || self.copies.contains(&parent) {
                        self.copies.insert(pid);
                    }
                    self.callers.fork(parent, pid);
                    self.parents.insert(pid, parent);
                }
                Happened::Ended if tid == pid => ended.push(pid),
                Happened::Sample(sample) => self.take_in_sample(pid, &sample),
                _ => {}
            }
        }
        for pid in ended {
            self.callers.clear(pid);
            self.copies.remove(&pid);
        }
    }

    fn map(&mut self, pid: i32, mapped: Mapped) {
        let root = &self.root;
        let of = mapped.clone();
        self.callers.map(pid, mapped, || file_of(root, pid, &of));
    }

    fn take_in_sample(&mut self, pid: i32, sample: &Sample) {
        let mut frames: Vec<Frame> = sample.kernel.iter().copied().map(Frame::Kernel).collect();
        if let Some(registers) = sample.registers.filter(|_| !self.copies.contains(&pid)) {
            self.learn(pid, registers.instruction);
            let stack = Stack {
                instruction: registers.instruction,
                pointer: registers.stack,
                frame: Some(registers.frame),
                link: registers.link,
                bytes: &sample.stack,
            };
            frames.extend(self.callers.of(pid, stack));
        }
        self.tally.add((pid, Did::Ran), &frames, 1.0);
    }

    fn take_in_wait(&mut self, wait: Waiting) {
        let pid = wait.place.0;
        if let Some(Snapshot { instruction, pointer, bytes }) = &wait.stack {
            self.learn(pid, *instruction);
            let stack =
                Stack { instruction: *instruction, pointer: *pointer, frame: None, link: 0, bytes };
            let frames = self.callers.of(pid, stack);
            self.blocked.insert(wait.place, frames);
        }
        if let Some(frames) = self.blocked.get(&wait.place) {
            self.tally.add((pid, Did::Waited(wait.reason)), frames, wait.ns);
        }
    }

    /// Reads what a process has mapped, unless it is known what is at this address.
    fn learn(&mut self, pid: i32, address: u64) {
        if self.callers.knows(pid, address) || self.asked.contains(&pid) {
            return;
        }
        self.asked.push(pid);
        for code in self.root.try_mapped_code(pid).unwrap_or_default() {
            let (start, end, offset) = (code.start, code.end, code.offset);
            self.map(pid, Mapped { start, end, offset, path: code.path });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = (i32::MAX, i32::MAX);

    fn wait(stack: Option<usize>) -> Seen {
        let stack =
            stack.map(|length| Snapshot { instruction: 1, pointer: 2, bytes: vec![0; length] });
        let reason = Reason::Other(fullbore_record::Cause::Sleep);
        Seen::Waits(Waiting { place: PLACE, reason, ns: 1.5, stack })
    }

    fn weight(unwound: &Unwound) -> f64 {
        unwound.tally.all().map(|(_, stacks)| stacks.weight()).sum()
    }

    #[test]
    fn a_wait_that_goes_on_counts_where_it_began_until_the_thread_is_gone() {
        let unwinding = Unwinding::start(Root::system()).unwrap();
        let follow = |waits| unwinding.follow(Taken { waits, ..Taken::default() });
        follow(vec![wait(Some(64)), wait(None)]);
        follow(vec![wait(None), Seen::Gone(PLACE), wait(None)]);
        follow(vec![wait(Some(64)), Seen::Gone(PLACE)]);
        assert_eq!(weight(&unwinding.finish()), 6.0);
    }

    #[test]
    fn what_waits_to_be_followed_has_a_limit_and_becomes_less() {
        let unwinding = Unwinding::start(Root::system()).unwrap();
        let backlog = Arc::clone(&unwinding.backlog);
        backlog.store(BACKLOG_MAX_BYTES - 1, Ordering::Relaxed);
        assert!(unwinding.has_room());
        backlog.fetch_add(1, Ordering::Relaxed);
        assert!(!unwinding.has_room());
        unwinding.follow(Taken { waits: vec![wait(Some(64)), wait(Some(7))], ..Taken::default() });
        unwinding.finish();
        assert_eq!(backlog.load(Ordering::Relaxed), BACKLOG_MAX_BYTES);
    }

    #[test]
    fn waits_that_go_on_are_handed_over_before_they_are_too_many() {
        let of =
            |count| Taken { waits: (0..count).map(|_| wait(None)).collect(), ..Taken::default() };
        assert!(!of(WAITS_MAX - 1).is_due() && of(WAITS_MAX).is_due());
        assert!(Taken { waits: vec![wait(Some(1))], ..Taken::default() }.is_due());
    }
}
