//! Bytes that nobody saw: a process goes on for some time after it was last looked at. Linux adds all that a child read and wrote
//! to the count of its parent when the parent waits for it (proc_pid_io(5)), so what is missing can be found there.

use crate::sample::IoCount;

/// Children of one process that have ended, until its own count has grown by what they did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unsettled {
    ended: Vec<Ended>,
    /// The count of the process before.
    base: IoCount,
}

/// A process that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Its stage, as an index.
    pub(crate) stage: usize,
    /// What was counted of it.
    pub(crate) io: IoCount,
    /// How fast it read and wrote when it was last looked at.
    pub(crate) rates: Rates,
    /// It only started others: nothing of it is missing.
    pub(crate) is_container: bool,
}

/// Bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rates {
    pub(crate) read: u64,
    pub(crate) written: u64,
}

impl Unsettled {
    /// A child has ended, with those of its own that are not settled; the count of the process was `now`.
    pub(crate) fn end(&mut self, child: Ended, of_child: Self, now: IoCount) {
        if self.ended.is_empty() {
            self.base = now;
        }
        self.ended.push(child);
        self.ended.extend(of_child.ended);
    }

    /// The count of the process was read: if all who ended are in it, returns what is missing of each stage. The process
    /// itself is taken to have moved nothing. `pipes_between` says which of these stages write to which others.
    pub(crate) fn settle(
        &mut self,
        now: IoCount,
        pipes_between: impl Fn(&[usize]) -> Vec<(usize, usize)>,
    ) -> Vec<(usize, IoCount)> {
        if self.ended.is_empty() {
            return Vec::new();
        }
        let counted = self.ended.iter().fold(IoCount::default(), |sum, ended| sum.plus(ended.io));
        let grown = now.minus(self.base);
        if grown.read_bytes < counted.read_bytes || grown.written_bytes < counted.written_bytes {
            return Vec::new();
        }
        let mut heirs = std::mem::take(&mut self.ended);
        heirs.retain(|ended| !ended.is_container);
        let stages: Vec<usize> = heirs.iter().map(|heir| heir.stage).collect();
        share(grown.minus(counted), &mut heirs, || pipes_between(&stages))
    }
}

/// Shares out what is missing: whoever ended went on as fast as before. If nobody was moving then, all of it went through the
/// pipes between them at the very end, as when sort begins to write.
fn share(
    missing: IoCount,
    heirs: &mut [Ended],
    pipes: impl Fn() -> Vec<(usize, usize)>,
) -> Vec<(usize, IoCount)> {
    let sum = |heirs: &[Ended], of: fn(&Rates) -> u64| -> u64 {
        heirs.iter().map(|heir| of(&heir.rates)).sum()
    };
    let [read, written]: [fn(&Rates) -> u64; 2] = [|rates| rates.read, |rates| rates.written];
    if sum(heirs, read) == 0 && sum(heirs, written) == 0 {
        for (writer, reader) in pipes() {
            for heir in heirs.iter_mut() {
                heir.rates.written += u64::from(heir.stage == writer);
                heir.rates.read += u64::from(heir.stage == reader);
            }
        }
    }
    let sums = Rates { read: sum(heirs, read), written: sum(heirs, written) };
    let part = |of: u64, rate: u64, sum: u64| {
        let part = (u128::from(of) * u128::from(rate)).checked_div(u128::from(sum)).unwrap_or(0);
        u64::try_from(part).unwrap_or(of)
    };
    let share = |heir: &Ended| IoCount {
        read_bytes: part(missing.read_bytes, heir.rates.read, sums.read),
        read_calls: part(missing.read_calls, heir.rates.read, sums.read),
        written_bytes: part(missing.written_bytes, heir.rates.written, sums.written),
        write_calls: part(missing.write_calls, heir.rates.written, sums.written),
    };
    heirs.iter().map(|heir| (heir.stage, share(heir))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(read_bytes: u64, written_bytes: u64) -> IoCount {
        IoCount { read_bytes, written_bytes, ..IoCount::default() }
    }

    fn ended(stage: usize, io: IoCount, read: u64, written: u64) -> Ended {
        Ended { stage, io, rates: Rates { read, written }, is_container: false }
    }

    const NO_PIPES: fn(&[usize]) -> Vec<(usize, usize)> = |_| Vec::new();

    #[test]
    fn what_nobody_saw_is_shared_out_when_the_parent_has_waited_for_all() {
        let mut shell = Unsettled::default();
        shell.end(ended(1, io(0, 60), 0, 3), Unsettled::default(), io(5, 5));
        shell.end(ended(2, io(30, 0), 3, 1), Unsettled::default(), io(5, 5));
        assert_eq!(shell.settle(io(5, 105), NO_PIPES), [], "only one was waited for");
        let shares = shell.settle(io(55, 105), NO_PIPES);
        assert_eq!(shares, [(1, io(0, 30)), (2, io(20, 10))]);
        assert_eq!(shell.settle(io(55, 105), NO_PIPES), []);
    }

    #[test]
    fn a_subshell_hands_on_whom_it_waited_for() {
        let mut subshell = Unsettled::default();
        subshell.end(ended(3, io(10, 10), 1, 1), Unsettled::default(), io(0, 0));
        let mut shell = Unsettled::default();
        let child = Ended { is_container: true, ..ended(2, io(0, 0), 0, 0) };
        shell.end(child, subshell, io(0, 0));
        assert_eq!(shell.settle(io(25, 12), NO_PIPES), [(3, io(15, 2))]);
    }

    /// `sort | tail`: sort writes only when it has read everything, and then they end together.
    #[test]
    fn what_nobody_was_seen_to_move_went_through_the_pipe_between_them() {
        let mut shell = Unsettled::default();
        shell.end(ended(1, io(100, 0), 0, 0), Unsettled::default(), io(0, 0));
        shell.end(ended(2, io(0, 0), 0, 0), Unsettled::default(), io(0, 0));
        let shares = shell.settle(io(200, 100), |_| vec![(1, 2)]);
        assert_eq!(shares, [(1, io(0, 100)), (2, io(100, 0))]);
    }
}
