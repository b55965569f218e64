//! Where a run stands, and what it found out about the machine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use super::budget::Budget;
use super::plan::{Onlooker, Plan};
use crate::Parameters;
use crate::executor::{Executor, Missing};
use crate::record::LabRun;
use crate::suite::{Need, expand};

/// The state of a run.
pub(super) struct Runner<'a> {
    pub(super) plan: &'a Plan,
    pub(super) executor: &'a mut dyn Executor,
    pub(super) onlooker: &'a mut dyn Onlooker,
    pub(super) stop: &'a AtomicBool,
    pub(super) record: LabRun,
    pub(super) pass: u32,
    pub(super) passes: u32,
    pub(super) visits: Visits,
    /// Lines that made files in this pass, and how that went.
    pub(super) prepared: BTreeMap<String, Result<(), String>>,
    /// What was asked of the machine, and what it lacks.
    pub(super) needs: BTreeMap<Need, Option<Missing>>,
}

impl Runner<'_> {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(super) fn missing(&mut self, needs: &[Need], parameters: &Parameters) -> Option<Missing> {
        needs.iter().find_map(|need| {
            let need = match need {
                Need::Check { line, what, install } => Need::Check {
                    line: expand(line, parameters).unwrap_or_else(|_| line.clone()),
                    what: what.clone(),
                    install: install.clone(),
                },
                other => other.clone(),
            };
            let known = self.needs.entry(need.clone());
            known.or_insert_with(|| self.executor.missing(&need)).clone()
        })
    }

    pub(super) fn prepare(&mut self, line: String) -> Result<(), String> {
        if let Some(known) = self.prepared.get(&line) {
            return known.clone();
        }
        let done = self.executor.prepare(&line);
        self.prepared.insert(line, done.clone());
        done
    }

    /// Time the whole run will still take.
    pub(super) fn left_ns(&mut self, budget: &Budget) -> u64 {
        let now_ns = self.executor.now_ns();
        self.visits.left_ns(now_ns, budget)
    }
}

/// How many of the visits to points are done, of all suites and passes.
pub(super) struct Visits {
    /// When the run began.
    pub(super) began_ns: u64,
    pub(super) all: usize,
    pub(super) done: usize,
    /// When the last of them was done.
    pub(super) last_done_ns: u64,
}

impl Visits {
    /// Time the others will take, by what those that are done took.
    fn left_ns(&self, now_ns: u64, budget: &Budget) -> u64 {
        let left = self.all.saturating_sub(self.done) as u64;
        if self.done == 0 {
            let passed_ns = now_ns - self.began_ns;
            return budget.usual_visit_ns().saturating_mul(left).saturating_sub(passed_ns);
        }
        let whole_ns = (self.last_done_ns - self.began_ns) / self.done as u64 * left;
        whole_ns.saturating_sub(now_ns - self.last_done_ns)
    }
}
