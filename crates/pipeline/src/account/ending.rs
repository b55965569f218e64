//! Processes that end: what they did stays with their stages, and what nobody saw of it is looked for with their parents.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use crate::account::Accounts;
use crate::account::divide::StageSample;
use crate::account::unsettled::{Ended, Unsettled};
use crate::sample::{IoCount, Look, ProcessLook};
use crate::topology::Topology;

impl Accounts {
    /// Takes leave of the processes that have ended; returns the stages of which something was found that nobody saw.
    pub(super) fn end_processes(&mut self, topology: &Topology, look: &Look) -> BTreeSet<usize> {
        let mut heirs = BTreeSet::new();
        // Children end first: their parents hand on what was counted for them.
        let mut ended: Vec<_> = look.processes.iter().filter(|seen| seen.has_ended).collect();
        ended.sort_by_key(|seen| Reverse(generation(topology, seen.pid)));
        for seen in ended {
            heirs.extend(self.settle(topology, seen));
            self.end_process(topology, seen.pid);
        }
        for seen in look.processes.iter().filter(|seen| !seen.has_ended) {
            heirs.extend(self.settle(topology, seen));
        }
        heirs
    }

    /// A process has ended: what it did stays with its stage.
    fn end_process(&mut self, topology: &Topology, pid: i32) {
        let Some(account) = self.processes.remove(&pid) else { return };
        if let Some(process) = topology.processes.get(&pid) {
            self.stages[account.stage].processes.programs.add(process, account.cpu_ns);
        }
        let parent = topology.processes.get(&pid).map_or(0, |process| process.parent);
        let own = account.own_io().unwrap_or_default();
        if let Some(parent) = self.processes.get_mut(&parent) {
            parent.children.end(account.stage, account.counted_ns());
            // Linux adds what a child read and wrote to its parent when the parent waits for it.
            if parent.stage == account.stage {
                parent.io_elsewhere = parent.io_elsewhere.plus(account.io_elsewhere);
                return;
            }
            let io = account.io.unwrap_or_default();
            parent.io_elsewhere = parent.io_elsewhere.plus(io);
            if topology.stages[parent.stage].is_container {
                let stage = account.stage;
                let is_container = topology.stages[stage].is_container;
                let ended = Ended { stage, io, rates: account.rates, is_container };
                parent.unsettled.end(ended, account.unsettled, parent.io.unwrap_or_default());
            }
        }
        let io = &mut self.stages[account.stage].io;
        io.ended = io.ended.plus(own);
    }

    /// Gives stages what processes of theirs moved after they were last looked at, as far as it is known now.
    fn settle(&mut self, topology: &Topology, seen: &ProcessLook) -> Vec<usize> {
        let Some((account, io)) = self.processes.get_mut(&seen.pid).zip(seen.io) else {
            return Vec::new();
        };
        if !topology.stages[account.stage].is_container {
            // A shell that executed its last command: what it reads from now on is its own.
            account.unsettled = Unsettled::default();
        }
        let mut heirs = Vec::new();
        for (stage, missing) in
            account.unsettled.settle(io, |stages| pipes_between(topology, stages))
        {
            account.io_elsewhere = account.io_elsewhere.plus(missing);
            let stage = topology.standing(stage);
            let io = &mut self.stages[stage].io;
            io.ended = io.ended.plus(missing);
            heirs.push(stage);
        }
        heirs
    }

    /// Gives children's CPU time to the stages they belonged to.
    pub(super) fn add_children(
        &mut self,
        seen: &ProcessLook,
        samples: &mut BTreeMap<usize, StageSample>,
    ) {
        let Some(cpu_ns) = seen.children_cpu_ns else { return };
        let Some(account) = self.processes.get_mut(&seen.pid) else { return };
        let inherited = account.children.take_in(cpu_ns);
        for (stage, ns) in inherited.of_children {
            // The stage may be over: then only its sum of CPU time grows.
            match samples.get_mut(&stage) {
                Some(sample) => sample.run_sum_ns += ns,
                None => self.stages[stage].cpu_ns += ns,
            }
        }
        samples.entry(account.stage).or_default().run_sum_ns += inherited.unseen_ns;
    }

    /// Counts bytes and calls of the stages of which something was read.
    ///
    /// What a process did after the last reading before its end is lost, unless its parent's count tells.
    pub(super) fn count_io(&mut self, look: &Look, heirs: BTreeSet<usize>, now_ns: u64) {
        let read = look.processes.iter().filter(|seen| seen.io.is_some());
        let mut due: BTreeSet<usize> =
            read.filter_map(|seen| Some(self.processes.get(&seen.pid)?.stage)).collect();
        let mut live: BTreeMap<usize, IoCount> =
            heirs.iter().map(|stage| (*stage, IoCount::default())).collect();
        due.extend(heirs);
        for account in self.processes.values().filter(|account| due.contains(&account.stage)) {
            let total = live.entry(account.stage).or_default();
            *total = total.plus(account.own_io().unwrap_or_default());
        }
        for (stage, live) in live {
            self.stages[stage].count_io(live, self.clock, now_ns);
        }
    }
}

/// How many processes of the run are above this one. Numbers of processes do not tell: they begin anew at some time.
fn generation(topology: &Topology, pid: i32) -> usize {
    let parent = |pid: &i32| topology.processes.get(pid).map(|process| process.parent);
    // A circle cannot be, but would never end. The last one is above all processes of the run.
    iter::successors(Some(pid), parent).take(topology.processes.len() + 1).count()
}

/// Which of these stages write to which others.
fn pipes_between(topology: &Topology, stages: &[usize]) -> Vec<(usize, usize)> {
    let mut between = Vec::new();
    for (_, pipe) in topology.pipes.iter() {
        let writers = pipe.writers.iter().filter(|stage| stages.contains(stage));
        for writer in writers {
            let readers = pipe.readers.iter().filter(|stage| stages.contains(stage));
            between.extend(
                readers.filter(|reader| *reader != writer).map(|reader| (*writer, *reader)),
            );
        }
    }
    between
}
