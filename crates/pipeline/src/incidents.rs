//! States that can be seen only while they last: circles of waiting, ends that leak, standstill.

use std::collections::BTreeSet;

use fullbore_pipe::End;

use crate::observe::Watch;
use crate::record::Incident;
use crate::stage::{Now, Reason};

/// A wait must last this long before it can be part of an incident; a slow stage is not stuck.
const STUCK_NS: u64 = 400_000_000;
/// Nothing ran and nothing moved for this long: worth a word.
const STALLED_NS: u64 = 10_000_000_000;

/// An incident that comes back within this time is the same one.
const SAME_NS: u64 = 1_000_000_000;
/// Incidents kept; a pipeline that shows more of them is described by the first ones.
const NOTED_MAX: usize = 64;

/// Incidents so far.
#[derive(Debug, Default)]
pub(crate) struct Incidents {
    pub(crate) list: Vec<Noted>,
    /// Since when no stage has run.
    still_since_ns: Option<u64>,
}

/// An incident, by indexes; numbers are given when the record is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) what: What,
    pub(crate) since_ns: u64,
    pub(crate) last_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    LeakedEnd { pipe: usize, waiting: usize, holder_stage: usize, holder: i32, command: String },
    Deadlock { circle: Vec<(usize, usize)> },
    Stalled { stage: Option<usize> },
}

impl Watch {
    /// Looks for incidents; the same one is noted once and lasts.
    pub(crate) fn note_incidents(&mut self, now_ns: u64) {
        let stuck = self.stuck(now_ns);
        let is_still =
            !self.stages.iter().any(|stage| stage.alive > 0 && stage.now == Some(Now::Running));
        self.incidents.still_since_ns = match (is_still, self.incidents.still_since_ns) {
            (false, _) => None,
            (true, since) => since.or(Some(now_ns)),
        };
        if stuck.is_empty() {
            return;
        }
        let since = |watch: &Self, stages: &[usize]| {
            stages
                .iter()
                .filter_map(|stage| watch.stages[*stage].blocked_since_ns)
                .max()
                .unwrap_or(now_ns)
        };
        for (waiting, pipe) in &stuck {
            if let Some(what) = self.leaked_end(*waiting, *pipe) {
                let since_ns = since(self, &[*waiting]);
                self.incidents.note(what, since_ns, now_ns);
            }
        }
        if let Some(circle) = self.circle(&stuck) {
            let stages: Vec<usize> = circle.iter().map(|(stage, _)| *stage).collect();
            let since_ns = since(self, &stages);
            self.incidents.note(What::Deadlock { circle }, since_ns, now_ns);
        } else if let Some(still_since_ns) = self.incidents.still_since_ns
            && now_ns > still_since_ns + STALLED_NS
        {
            let stage = self.awaited();
            self.incidents.note(What::Stalled { stage }, still_since_ns, now_ns);
        }
    }

    /// Stages that have waited on one pipe without a break for some time.
    fn stuck(&self, now_ns: u64) -> Vec<(usize, usize)> {
        let stages = self.stages.iter().enumerate().filter(|(_, stage)| stage.alive > 0);
        stages
            .filter(|(_, stage)| {
                stage.blocked_since_ns.is_some_and(|since| now_ns > since + STUCK_NS)
            })
            .filter_map(|(index, stage)| match stage.now {
                Some(Now::Blocked(Reason::Reading(pipe) | Reason::Writing(pipe))) => {
                    Some((index, pipe))
                }
                _ => None,
            })
            .collect()
    }

    /// A reader waits, and all who hold the write end are left-overs: processes whose stage's first
    /// process has ended, or the reader itself.
    fn leaked_end(&self, waiting: usize, pipe: usize) -> Option<What> {
        if !matches!(self.stages[waiting].now, Some(Now::Blocked(Reason::Reading(_)))) {
            return None;
        }
        let holders: Vec<(i32, usize)> = self.pipes.list[pipe]
            .handles
            .iter()
            .filter(|held| held.handle.end == End::Write)
            .map(|held| (held.handle.pid, held.stage))
            .collect();
        let is_left_over = |(pid, stage): &(i32, usize)| {
            let first_is_gone =
                !self.stages[*stage].leader_is_alive || self.stages[*stage].container == self.own;
            let is_orphan =
                || self.processes.get(pid).is_some_and(|process| process.parent == self.own);
            *stage == waiting || (first_is_gone && is_orphan())
        };
        let (holder, holder_stage) = *holders.first()?;
        if self.pipes.list[pipe].is_outside || !holders.iter().all(is_left_over) {
            return None;
        }
        let command =
            self.processes.get(&holder).map(|process| process.words.join(" ")).unwrap_or_default();
        Some(What::LeakedEnd { pipe, waiting, holder_stage, holder, command })
    }

    /// Stages that wait for each other in a circle, each with the pipe it waits on.
    ///
    /// A stage is lost when everyone who could help it is lost; from the stuck ones those with other
    /// hope are struck until only the lost remain.
    fn circle(&self, stuck: &[(usize, usize)]) -> Option<Vec<(usize, usize)>> {
        let mut lost: Vec<(usize, usize)> = stuck.to_vec();
        loop {
            let names: BTreeSet<usize> = lost.iter().map(|(stage, _)| *stage).collect();
            let before = lost.len();
            lost.retain(|(stage, pipe)| {
                let hope = self.who_could_help(*stage, *pipe);
                !hope.is_empty()
                    && hope.iter().all(|helper| names.contains(helper) && helper != stage)
            });
            if lost.len() == before {
                break;
            }
        }
        self.follow(&lost)
    }

    fn who_could_help(&self, stage: usize, pipe: usize) -> BTreeSet<usize> {
        let pipe = &self.pipes.list[pipe];
        if pipe.is_outside {
            return BTreeSet::new();
        }
        match self.stages[stage].now {
            Some(Now::Blocked(Reason::Reading(_))) => pipe.holders(End::Write),
            _ => pipe.holders(End::Read),
        }
    }

    /// From any lost stage to its helper and on, until a stage comes again.
    fn follow(&self, lost: &[(usize, usize)]) -> Option<Vec<(usize, usize)>> {
        let mut line: Vec<(usize, usize)> = vec![*lost.first()?];
        loop {
            let (stage, pipe) = *line.last()?;
            let helper = *self.who_could_help(stage, pipe).first()?;
            if let Some(start) = line.iter().position(|(stage, _)| *stage == helper) {
                return Some(line.split_off(start));
            }
            line.push(*lost.iter().find(|(stage, _)| *stage == helper)?);
        }
    }

    /// The one stage that waits for something other than a pipe, while all others wait on pipes.
    fn awaited(&self) -> Option<usize> {
        let mut others = self.stages.iter().enumerate().filter(|(_, stage)| {
            stage.alive > 0
                && stage.container != 0
                && !matches!(stage.now, Some(Now::Blocked(Reason::Reading(_) | Reason::Writing(_))))
        });
        let first = others.next()?.0;
        others.next().is_none().then_some(first)
    }
}

impl Incidents {
    fn note(&mut self, what: What, since_ns: u64, now_ns: u64) {
        let is_same = |noted: &&mut Noted| noted.what == what && now_ns < noted.last_ns + SAME_NS;
        if let Some(noted) = self.list.iter_mut().rev().find(is_same) {
            noted.last_ns = now_ns;
        } else if self.list.len() < NOTED_MAX {
            self.list.push(Noted { what, since_ns, last_ns: now_ns });
        }
    }
}

impl Noted {
    /// The incident as the record holds it, with stages and pipes by number; `None` when one of them is not in the record.
    pub(crate) fn record(
        &self,
        stage_number: impl Fn(usize) -> Option<u32>,
        pipe_number: impl Fn(usize) -> Option<u32>,
        end_ns: u64,
    ) -> Option<Incident> {
        let lasted_ns = self.last_ns.saturating_sub(self.since_ns);
        // A look may come this long before the end of the run.
        const LAST_LOOK_NS: u64 = 100_000_000;
        Some(match &self.what {
            What::LeakedEnd { pipe, waiting, holder_stage, holder, command } => {
                Incident::LeakedEnd {
                    pipe: pipe_number(*pipe)?,
                    waiting_stage: stage_number(*waiting)?,
                    holder_stage: stage_number(*holder_stage),
                    holder_pid: *holder,
                    holder_command: command.clone(),
                    lasted_ns,
                }
            }
            What::Deadlock { circle } => Incident::Deadlock {
                stages: circle.iter().filter_map(|(stage, _)| stage_number(*stage)).collect(),
                pipes: circle.iter().filter_map(|(_, pipe)| pipe_number(*pipe)).collect(),
                lasted_ns,
                to_the_end: self.last_ns + LAST_LOOK_NS >= end_ns,
            },
            What::Stalled { stage } => {
                Incident::Stalled { stage: stage.and_then(stage_number), lasted_ns }
            }
        })
    }
}
