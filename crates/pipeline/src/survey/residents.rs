//! All processes of the machine, kept up to date cheaply: who there is, and who holds which ends.
//!
//! Reading everything about everybody takes 30 µs a process. So numbers given out since the last time are tried one by one
//! instead of listing `/proc`; the ends of a young process are read often and those of an old one rarely.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use fullbore_proc::{Root, State, Unavailable};

use crate::attached::age_ns;
use crate::graph::{Resident, sides};
use crate::sampler::pipe_ends;
use crate::survey::mark::Mark;

/// All processes are listed this often; in between, only numbers given out since are tried.
const LIST_NS: u64 = 10_000_000_000;
/// If so many numbers were given out since, listing is cheaper.
const TRIED_MAX: i32 = 400;
/// A process this young may not have the ends yet that it will use: they are read every time.
const YOUNG_NS: u64 = 2_000_000_000;
/// The ends of an older process are read this often.
const OLD_NS: u64 = 60_000_000_000;

/// All processes of the machine but fullbore, those above it, and threads of the kernel.
#[derive(Debug)]
pub(crate) struct Residents {
    root: Root,
    /// fullbore and the processes above it.
    above: BTreeSet<i32>,
    all: BTreeMap<i32, Resident>,
    more: BTreeMap<i32, More>,
    last_number: Option<i32>,
    list_due_ns: u64,
    /// Numbers of processes about which nothing has been read yet.
    unmet: Vec<i32>,
}

/// What came of looking around.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refreshed {
    /// Whether anything is different now.
    pub(crate) has_changed: bool,
    /// Whether everybody has been seen.
    pub(crate) is_complete: bool,
}

/// What else is known about a process.
#[derive(Clone, Debug)]
struct More {
    start_ticks: u64,
    group: i32,
    terminal: i32,
    /// Whether its pipes may be seen.
    is_visible: bool,
    young_until_ns: u64,
    ends_due_ns: u64,
    /// CPU time it had had when it was met.
    cpu_ticks: u64,
    /// What it had done when its ends were read last.
    mark: Option<Mark>,
}

/// What is known about where a process belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    pub(crate) start_ticks: u64,
    pub(crate) session: i32,
    pub(crate) terminal: i32,
}

/// Processes whose pipes may not be seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hidden {
    pub(crate) processes: u32,
    /// Groups of such processes that one process started.
    pub(crate) groups: u32,
}

impl Residents {
    pub(crate) fn new(root: Root, own: i32) -> Self {
        let parent = |pid: &i32| root.stat(*pid).map(|stat| stat.parent).filter(|pid| *pid > 1);
        let above = std::iter::successors(Some(own), parent).collect();
        Self {
            root,
            above,
            all: BTreeMap::new(),
            more: BTreeMap::new(),
            last_number: None,
            list_due_ns: 0,
            unmet: Vec::new(),
        }
    }

    /// Everybody, by number.
    pub(crate) fn all(&self) -> &BTreeMap<i32, Resident> {
        &self.all
    }

    pub(crate) fn origin(&self, pid: i32) -> Option<Origin> {
        let (resident, more) = (self.all.get(&pid)?, self.more.get(&pid)?);
        let (start_ticks, terminal) = (more.start_ticks, more.terminal);
        Some(Origin { start_ticks, session: resident.session, terminal })
    }

    pub(crate) fn visible(&self) -> u32 {
        count(self.more.values().filter(|more| more.is_visible).count())
    }

    pub(crate) fn hidden(&self) -> Hidden {
        let mut groups: BTreeMap<(i32, i32), u32> = BTreeMap::new();
        let mut hidden = Hidden::default();
        for (pid, more) in self.more.iter().filter(|(_, more)| !more.is_visible) {
            hidden.processes += 1;
            *groups.entry((more.group, self.all[pid].parent)).or_default() += 1;
        }
        // A service manager starts services in groups of their own.
        hidden.groups = count(groups.values().filter(|members| **members > 1).count());
        hidden
    }

    /// CPU time that processes had had when they were met, in clock ticks: who works, has had some.
    pub(crate) fn cpu_ticks(&self, pids: &BTreeSet<i32>) -> u64 {
        pids.iter().filter_map(|pid| self.more.get(pid)).map(|more| more.cpu_ticks).sum()
    }

    /// Sees who came, went, and holds other ends. Stops after the time of a `slice`, and goes on when asked again.
    pub(crate) fn refresh(&mut self, now_ns: u64, slice: Duration) -> Refreshed {
        let until = Instant::now() + slice;
        let mut has_changed = self.find(now_ns);
        while let Some(pid) = self.unmet.pop() {
            has_changed |= self.add(pid, now_ns);
            if Instant::now() >= until {
                return Refreshed { has_changed, is_complete: false };
            }
        }
        let due = self.more.iter().filter(|(_, more)| more.ends_due_ns <= now_ns);
        // Who has waited longest, and of those who wait equally long, who works most.
        let mut due: Vec<(u64, Reverse<u64>, i32)> =
            due.map(|(pid, more)| (more.ends_due_ns, Reverse(more.cpu_ticks), *pid)).collect();
        due.sort_unstable();
        let mut due = due.into_iter().map(|(.., pid)| pid);
        for pid in due.by_ref() {
            has_changed |= self.read_ends(pid, now_ns);
            if Instant::now() >= until {
                break;
            }
        }
        // The others have been read before: that they are read again can wait.
        let is_new = |pid: i32| self.more.get(&pid).is_some_and(|more| more.mark.is_none());
        Refreshed { has_changed, is_complete: !due.any(is_new) }
    }

    /// A process has ended.
    pub(crate) fn forget(&mut self, pid: i32) {
        self.all.remove(&pid);
        self.more.remove(&pid);
    }

    /// Finds out who is new, and forgets who has ended; returns whether anybody has.
    fn find(&mut self, now_ns: u64) -> bool {
        let last = self.root.last_number();
        let before = std::mem::replace(&mut self.last_number, last);
        if let (Some(before), Some(last)) = (before, last)
            && now_ns < self.list_due_ns
            && (before..=before.saturating_add(TRIED_MAX)).contains(&last)
        {
            self.unmet.extend(before + 1..=last);
            return false;
        }
        self.list_due_ns = now_ns + LIST_NS;
        let there: BTreeSet<i32> = self.root.processes().into_iter().collect();
        let gone: Vec<i32> = self.all.keys().filter(|pid| !there.contains(pid)).copied().collect();
        gone.iter().for_each(|pid| self.forget(*pid));
        self.unmet = there.into_iter().filter(|pid| !self.all.contains_key(pid)).collect();
        !gone.is_empty()
    }

    /// Takes in a process that began; `false` if there is no such process, or it does not count.
    fn add(&mut self, pid: i32, now_ns: u64) -> bool {
        if self.above.contains(&pid) {
            return false;
        }
        let Some(stat) = self.root.stat(pid).filter(|stat| stat.state != State::Ended) else {
            return false;
        };
        // Process 2 starts all threads of the kernel.
        let is_kernel = pid == 2 || stat.parent == 2;
        // A thread has a folder of its own, which lists do not show.
        let is_thread =
            || stat.threads > 1 && self.root.status(pid).is_some_and(|s| s.process != Some(pid));
        if is_kernel || is_thread() {
            return false;
        }
        let more = More {
            start_ticks: stat.start_ticks,
            group: stat.group,
            terminal: stat.terminal,
            is_visible: true,
            young_until_ns: now_ns + YOUNG_NS.saturating_sub(age_ns(stat.start_ticks)),
            ends_due_ns: now_ns,
            cpu_ticks: stat.cpu_ticks,
            mark: None,
        };
        let (parent, session) = (stat.parent, stat.session);
        self.all.insert(pid, Resident { parent, session, ..Resident::default() });
        self.more.insert(pid, more);
        true
    }

    fn read_ends(&mut self, pid: i32, now_ns: u64) -> bool {
        let stat = self.root.stat(pid).filter(|stat| stat.state != State::Ended);
        let (Some(more), Some(resident)) = (self.more.get_mut(&pid), self.all.get_mut(&pid)) else {
            return false;
        };
        let Some(stat) = stat.filter(|stat| stat.start_ticks == more.start_ticks) else {
            self.forget(pid);
            return true;
        };
        more.ends_due_ns = if now_ns < more.young_until_ns {
            now_ns
        } else {
            // Not all in the same moment.
            now_ns + OLD_NS * 3 / 4 + u64::from(pid.unsigned_abs() % 256) * (OLD_NS / 2 / 256)
        };
        let mark = Mark::read(&self.root, pid, more.mark);
        // Who has done nothing holds what it held.
        if mark.is_some() && mark == more.mark {
            let has_changed = resident.parent != stat.parent;
            resident.parent = stat.parent;
            return has_changed;
        }
        more.mark = mark;
        let fds = match self.root.try_pipes(pid) {
            Ok(fds) => fds,
            Err(Unavailable::Gone) => {
                self.forget(pid);
                return true;
            }
            Err(_) => {
                more.is_visible = false;
                more.ends_due_ns = now_ns + OLD_NS;
                return false;
            }
        };
        let sides = sides(&pipe_ends(&fds), || self.root.command_line(pid));
        let has_changed = resident.sides != sides || resident.parent != stat.parent;
        resident.sides = sides;
        resident.parent = stat.parent;
        has_changed
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn slice_by_slice_everybody_is_seen() {
        let mut first = Command::new("cat");
        let mut first = first.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = first.stdout.take().unwrap();
        let mut second = Command::new("cat");
        let mut second = second.stdin(output).stdout(Stdio::piped()).spawn().unwrap();
        let pids = [first.id(), second.id()].map(u32::cast_signed);

        let mut residents = Residents::new(Root::system(), std::process::id().cast_signed());
        let mut slices = 0;
        while !residents.refresh(slices, Duration::ZERO).is_complete {
            slices += 1;
            assert!(slices < 1_000_000, "it never ends");
        }
        assert!(slices > 2, "a slice of no time is one process");
        let shared = |pid: &i32| residents.all()[pid].sides.keys().copied().collect::<Vec<_>>();
        let [of_first, of_second] = [&pids[0], &pids[1]].map(shared);
        assert!(of_first.iter().any(|pipe| of_second.contains(pipe)), "{of_first:?} {of_second:?}");

        drop(first.stdin.take());
        first.wait().unwrap();
        second.wait().unwrap();
    }
}
