//! The account of one process: what must be known to give CPU time and bytes to the right stage.

use crate::account::unsettled::{Rates, Unsettled};
use crate::account::wakes::Wakes;
use crate::sample::{Counts, IoCount, LeftCpu};

/// The account of one live process.
#[derive(Clone, Debug)]
pub(crate) struct ProcessAccount {
    /// Its stage, as an index.
    pub(crate) stage: usize,
    /// CPU time of its own, as far as seen.
    pub(crate) cpu_ns: u64,
    /// Most threads it had at a time.
    pub(crate) most_threads: u32,
    pub(crate) children: Children,
    pub(crate) io: Option<IoCount>,
    /// When that was counted, and how fast it had grown.
    io_ns: u64,
    pub(crate) rates: Rates,
    /// What its children read and wrote for other stages.
    pub(crate) io_elsewhere: IoCount,
    /// Children that have ended, and have moved more than was seen.
    pub(crate) unsettled: Unsettled,
    pub(crate) wakes: Wakes,
    /// How its first thread left its CPU, as last read.
    pub(crate) left_cpu: Option<LeftCpu>,
}

/// CPU time of children: Linux adds it to the parent when the parent has waited for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Children {
    /// CPU time of children it has waited for, when last read.
    cpu_ns: u64,
    /// Children that ended, whose CPU time will show up in `cpu_ns`.
    reaped: Vec<Reaped>,
    /// CPU time of children that was counted before it showed up in `cpu_ns`.
    counted_early_ns: u64,
}

/// A child that ended.
#[derive(Clone, Copy, Debug)]
struct Reaped {
    stage: usize,
    /// CPU time that was counted while it lived.
    counted_ns: u64,
}

/// CPU time that showed up with the parent and was not counted before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inherited {
    /// For the stages of children that ended, by index.
    pub(crate) of_children: Vec<(usize, u64)>,
    /// For the stage of the parent: children that came and went unseen.
    pub(crate) unseen_ns: u64,
}

impl ProcessAccount {
    pub(crate) fn new(stage: usize) -> Self {
        Self {
            stage,
            cpu_ns: 0,
            most_threads: 1,
            children: Children::default(),
            io: None,
            io_ns: 0,
            rates: Rates::default(),
            io_elsewhere: IoCount::default(),
            unsettled: Unsettled::default(),
            wakes: Wakes::default(),
            left_cpu: None,
        }
    }

    /// Takes in what it read and wrote so far.
    pub(crate) fn count_io(&mut self, io: IoCount, now_ns: u64) {
        if let Some(before) = self.io.filter(|_| now_ns > self.io_ns) {
            let grown = io.minus(before);
            let microseconds = ((now_ns - self.io_ns) / 1000).max(1);
            let per_second = |bytes: u64| bytes.saturating_mul(1_000_000) / microseconds;
            self.rates = Rates {
                read: per_second(grown.read_bytes),
                written: per_second(grown.written_bytes),
            };
        }
        self.io = Some(io);
        self.io_ns = now_ns;
    }

    /// What it read and wrote for its stage; `None` when it was never read.
    pub(crate) fn own_io(&self) -> Option<IoCount> {
        self.io.map(|io| io.minus(self.io_elsewhere))
    }

    /// Threads take their times with them when they end; the count of the whole process keeps them. Returns what
    /// was not counted before.
    pub(crate) fn add_lost_threads(&mut self, counts: Counts) -> u64 {
        self.most_threads = self.most_threads.max(counts.threads);
        if self.most_threads < 2 {
            return 0;
        }
        let lost_ns = counts.cpu_ns.saturating_sub(self.cpu_ns);
        self.cpu_ns += lost_ns;
        lost_ns
    }

    /// All CPU time that was counted for it and for its children.
    pub(crate) fn counted_ns(&self) -> u64 {
        self.cpu_ns + self.children.counted_ns()
    }
}

impl Children {
    /// A child has ended; its CPU time will show up with the parent.
    pub(crate) fn end(&mut self, stage: usize, counted_ns: u64) {
        self.reaped.push(Reaped { stage, counted_ns });
    }

    fn counted_ns(&self) -> u64 {
        self.cpu_ns + self.counted_early_ns + self.reaped_ns()
    }

    fn reaped_ns(&self) -> u64 {
        self.reaped.iter().map(|child| child.counted_ns).sum()
    }

    /// The parent's count of its children's CPU time was read; returns what nobody has counted yet.
    pub(crate) fn take_in(&mut self, cpu_ns: u64) -> Inherited {
        let grown = cpu_ns.saturating_sub(self.cpu_ns);
        let counted = self.counted_early_ns + self.reaped_ns();
        self.cpu_ns = cpu_ns;
        self.counted_early_ns = counted.saturating_sub(grown);
        let mut unseen_ns = grown.saturating_sub(counted);
        // What nobody saw is theirs: their last moments, threads that ended, siblings too short to be seen.
        let reaped = std::mem::take(&mut self.reaped);
        let heirs = reaped.len() as u64;
        let mut of_children = Vec::with_capacity(reaped.len());
        for (place, child) in reaped.iter().enumerate() {
            let share = unseen_ns / (heirs - place as u64);
            unseen_ns -= share;
            of_children.push((child.stage, share));
        }
        Inherited { of_children, unseen_ns }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_of_children_is_counted_once_although_linux_adds_it_later() {
        let mut children = Children::default();
        children.end(3, 70);
        // Not yet waited for: nothing has shown up.
        assert_eq!(children.take_in(0), Inherited { of_children: vec![(3, 0)], unseen_ns: 0 });
        // 100 show up, of which 70 were counted while the child lived.
        assert_eq!(children.take_in(100), Inherited { of_children: Vec::new(), unseen_ns: 30 });
        assert_eq!(children.counted_ns(), 100);
    }

    #[test]
    fn what_nobody_saw_goes_to_the_children_that_ended() {
        let mut children = Children::default();
        children.end(3, 0);
        children.end(4, 0);
        let inherited = children.take_in(11);
        assert_eq!(inherited, Inherited { of_children: vec![(3, 5), (4, 6)], unseen_ns: 0 });
    }

    #[test]
    fn children_too_short_to_be_seen_count_to_their_parent() {
        assert_eq!(Children::default().take_in(9).unseen_ns, 9);
    }
}
