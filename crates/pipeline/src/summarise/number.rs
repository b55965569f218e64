//! Which stages and pipes the record shows, and their numbers along the flow of data.

use std::collections::{BTreeMap, BTreeSet};

use crate::account::Accounts;
use crate::topology::Topology;
use crate::topology::pipes::{Pipe, PipeKey};
use fullbore_record::Cause;

/// A shell that only waits for its stages is no stage: it is shown above this share of the run's CPU time …
const SHELL_CPU_SHARE_MIN: f64 = 0.05;
/// … and this much of it, or when it waited on pipes itself for this share of its life.
const SHELL_CPU_NS_MIN: u64 = 20_000_000;
const SHELL_PIPE_SHARE_MIN: f64 = 0.02;
/// … or for one of these for this share.
const SHELL_WAIT_SHARE_MIN: f64 = 0.1;
const OWN_CAUSES: [Cause; 3] = [Cause::Sleep, Cause::Terminal, Cause::FifoPeer];

/// Numbers of stages and pipes in the record.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    stages: BTreeMap<usize, u32>,
    pipes: BTreeMap<PipeKey, u32>,
    /// Pipes of the record: the first of those that are one there.
    pub(crate) pipe_order: Vec<PipeKey>,
    /// Stages of the record, by index.
    pub(crate) stage_order: Vec<usize>,
}

/// The numbers of the stages at the ends of a pipe.
pub(crate) type Ends = (Vec<u32>, Vec<u32>);

impl Numbers {
    /// Gives numbers to the stages and pipes that belong into the record.
    pub(crate) fn of(topology: &Topology, accounts: &Accounts) -> Self {
        let mut numbers = Self::default();
        let all = 0..topology.stages.len();
        let mut shown: Vec<usize> =
            all.filter(|index| is_shown(topology, accounts, *index)).collect();
        if shown.is_empty() && !topology.stages.is_empty() {
            shown.push(0);
        }
        numbers.stage_order = along_the_flow(topology, &shown);
        for (place, index) in numbers.stage_order.iter().enumerate() {
            numbers.stages.insert(*index, u32::try_from(place + 1).unwrap_or(u32::MAX));
        }
        numbers.number_pipes(topology);
        numbers
    }

    fn number_pipes(&mut self, topology: &Topology) {
        let mut order: Vec<(Ends, PipeKey, &Pipe)> = topology
            .pipes
            .iter()
            .filter(|(_, pipe)| is_pipe_shown(topology, pipe))
            .map(|(key, pipe)| (self.ends(topology, pipe), key, pipe))
            .filter(|((writers, readers), ..)| !writers.is_empty() || !readers.is_empty())
            .collect();
        order.sort_by(|(one, one_key, _), (two, two_key, _)| (one, one_key).cmp(&(two, two_key)));
        let mut known: BTreeMap<Ends, u32> = BTreeMap::new();
        for (ends, key, pipe) in order {
            let next = u32::try_from(self.pipe_order.len() + 1).unwrap_or(u32::MAX);
            // Pipes between the same stages, turn after turn of a loop, are one in the record.
            let number =
                if pipe.path.is_some() { next } else { *known.entry(ends).or_insert(next) };
            if number == next {
                self.pipe_order.push(key);
            }
            self.pipes.insert(key, number);
        }
    }

    /// The number of the stage that stands for this one.
    pub(crate) fn stage(&self, topology: &Topology, index: usize) -> Option<u32> {
        self.stages.get(&topology.standing(index)).copied()
    }

    pub(crate) fn pipe(&self, key: PipeKey) -> Option<u32> {
        self.pipes.get(&key).copied()
    }

    /// The pipes that have this number.
    pub(crate) fn pipes_numbered(&self, number: u32) -> impl Iterator<Item = PipeKey> {
        let same = self.pipes.iter().filter(move |(_, other)| **other == number);
        same.map(|(key, _)| *key)
    }

    /// The stages at the ends of a pipe, each once and in order.
    pub(crate) fn ends(&self, topology: &Topology, pipe: &Pipe) -> Ends {
        let of = |stages: &BTreeSet<usize>| {
            let found: BTreeSet<u32> =
                stages.iter().filter_map(|index| self.stage(topology, *index)).collect();
            found.into_iter().collect()
        };
        let (writers, readers) = (of(&pipe.writers), of(&pipe.readers));
        // A stage at both ends uses the one that no other stage uses.
        let only = |here: &Vec<u32>, there: &Vec<u32>| -> Vec<u32> {
            let own: Vec<u32> = here.iter().copied().filter(|one| !there.contains(one)).collect();
            if own.is_empty() { here.clone() } else { own }
        };
        (only(&writers, &readers), only(&readers, &writers))
    }
}

fn is_shown(topology: &Topology, accounts: &Accounts, index: usize) -> bool {
    let (stage, account) = (&topology.stages[index], &accounts.stages[index]);
    if stage.repeats.is_some() || stage.processes == 0 {
        return false;
    }
    if !stage.is_container {
        return true;
    }
    let total: u64 = accounts.stages.iter().map(|account| account.cpu_ns).sum();
    // Most of it is no part of its account, because it only waited for its children.
    let life_ns = stage.last_ns.saturating_sub(stage.start_ns).max(1) as f64;
    let works = account.cpu_ns as f64 > total as f64 * SHELL_CPU_SHARE_MIN
        && account.cpu_ns > SHELL_CPU_NS_MIN;
    // Not that: it waits for its children as a rule.
    let causes = account.causes.iter().filter(|(cause, _)| OWN_CAUSES.contains(cause));
    let waits_ns: f64 = causes.map(|(_, ns)| ns).sum();
    works
        || account.spent.reading_ns + account.spent.writing_ns > SHELL_PIPE_SHARE_MIN * life_ns
        || waits_ns > SHELL_WAIT_SHARE_MIN * life_ns
}

fn is_pipe_shown(topology: &Topology, pipe: &Pipe) -> bool {
    let standing = |stages: &BTreeSet<usize>| -> BTreeSet<usize> {
        stages.iter().map(|index| topology.standing(*index)).collect()
    };
    let (writers, readers) = (standing(&pipe.writers), standing(&pipe.readers));
    writers.iter().any(|writer| readers.iter().any(|reader| reader != writer))
        || pipe.has_outside_writer()
        || pipe.has_outside_reader()
}

/// Stages in an order in which every writer comes before its readers, as far as there is one.
fn along_the_flow(topology: &Topology, shown: &[usize]) -> Vec<usize> {
    let mut before: BTreeMap<usize, BTreeSet<usize>> =
        shown.iter().map(|index| (*index, BTreeSet::new())).collect();
    for (_, pipe) in topology.pipes.iter().filter(|(_, pipe)| is_pipe_shown(topology, pipe)) {
        for reader in pipe.readers.iter().map(|index| topology.standing(*index)) {
            let Some(earlier) = before.get_mut(&reader) else { continue };
            let writers = pipe.writers.iter().map(|index| topology.standing(*index));
            earlier.extend(writers.filter(|writer| *writer != reader));
        }
    }
    let mut order = Vec::with_capacity(shown.len());
    let mut left: Vec<usize> = shown.to_vec();
    // A shell executes the last command in its own place (`a | b; rm x`): the process that began first comes last.
    let is_last = |index: &usize| {
        let stage = &topology.stages[*index];
        stage.leader.pid == topology.roots.shell
            && !topology.roots.shell_words.is_empty()
            && stage.words != topology.roots.shell_words
            && before[index].is_empty()
            && !before.values().any(|earlier| earlier.contains(index))
    };
    if let Some(place) = left.iter().position(is_last) {
        let shell = left.remove(place);
        left.push(shell);
    }
    while !left.is_empty() {
        // In a circle of FIFOs nobody is first: the one that began first is.
        let place = left
            .iter()
            .position(|index| !before[index].iter().any(|other| left.contains(other)))
            .unwrap_or(0);
        order.push(left.remove(place));
    }
    order
}
