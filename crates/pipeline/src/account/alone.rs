//! What the first process of a stage does by itself, for the case that its children turn out to be stages of their own.
//!
//! `join <(sort a) <(sort b)`: the sorts are children of join, and begin as processes of its stage. Until a pipe between them
//! has lived long enough to show that they are stages, join seems to be on a CPU whenever one of them is.

use std::collections::BTreeMap;

use crate::account::divide::StageSample;
use crate::account::reason::Reason;
use crate::account::series::Clock;
use crate::account::stage::StageAccount;
use crate::topology::Topology;
use crate::topology::process::Role;

/// First processes that have company in their stages, by the index of the stage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alone {
    stages: BTreeMap<usize, First>,
}

/// The first process of one stage.
#[derive(Clone, Debug)]
struct First {
    pid: i32,
    /// What the account of the stage would be if there were only this process.
    account: StageAccount,
    waits: BTreeMap<Reason, f64>,
    sample: Option<StageSample>,
}

impl Alone {
    /// Begins with stages that are more than one process now, and forgets those that are no longer.
    pub(crate) fn follow(&mut self, topology: &Topology, accounts: &[StageAccount]) {
        let has_company = |index: usize| {
            let stage = &topology.stages[index];
            let first = topology.processes.get(&stage.leader.pid)?;
            let may_part = stage.alive > 1
                && stage.leader.is_alive
                && first.role == Role::Worker
                && first.stage == index
                && first.kin.par.is_none();
            may_part.then_some(stage.leader.pid)
        };
        self.stages.retain(|index, first| has_company(*index) == Some(first.pid));
        for (index, account) in accounts.iter().enumerate() {
            if let Some(pid) = has_company(index) {
                let first = || First {
                    pid,
                    account: account.clone(),
                    waits: BTreeMap::new(),
                    sample: None,
                };
                self.stages.entry(index).or_insert_with(first);
            }
        }
    }

    /// The sample of the first process of this stage, if it is this one.
    pub(crate) fn sample(&mut self, stage: usize, pid: i32) -> Option<&mut StageSample> {
        let first = self.stages.get_mut(&stage).filter(|first| first.pid == pid)?;
        Some(first.sample.get_or_insert_default())
    }

    /// Time passes for a stage.
    pub(crate) fn pass(&mut self, stage: usize, [from_ns, to_ns, now_ns]: [u64; 3], clock: Clock) {
        let Some(first) = self.stages.get_mut(&stage) else { return };
        let Some(sample) = first.sample.take() else { return };
        first.account.last_ns = from_ns;
        for (reason, ns) in first.account.add(&sample, to_ns, now_ns, clock).reasons {
            *first.waits.entry(reason).or_default() += ns;
        }
    }

    /// Steps of time have doubled.
    pub(crate) fn halve(&mut self) {
        self.stages.values_mut().for_each(|first| first.account.series.halve());
    }

    /// Others left this stage: what remains is what the first process did, and what it waited for since it had company.
    pub(crate) fn take(&mut self, stage: usize) -> Option<(StageAccount, BTreeMap<Reason, f64>)> {
        let first = self.stages.remove(&stage)?;
        Some((first.account, first.waits))
    }
}
