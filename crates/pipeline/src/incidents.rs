//! States that can be seen only while they last: circles of waiting, ends that leak, standstill.

use std::collections::BTreeSet;

use fullbore_pipe::End;

use crate::account::Accounts;
use crate::account::divide::Now;
use crate::account::reason::Reason;
use crate::topology::Topology;
use crate::topology::pipes::PipeKey;
use fullbore_record::Incident;

/// A wait must last this long before it can be part of an incident; a slow stage is not stuck.
const STUCK_NS: u64 = 400_000_000;
/// Nothing ran and nothing moved for this long: worth a word.
const STALLED_NS: u64 = 10_000_000_000;

/// An incident that comes back within this time is the same one.
const SAME_NS: u64 = 1_000_000_000;
/// Incidents kept; a pipeline that shows more of them is described by the first ones.
const NOTED_MAX: usize = 64;

/// Incidents so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Incidents {
    pub(crate) list: Vec<Noted>,
    /// Since when no stage has run.
    still_since_ns: Option<u64>,
}

/// An incident, by index of its stages and key of its pipes; the record numbers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) what: What,
    pub(crate) since_ns: u64,
    pub(crate) last_ns: u64,
}

/// A stage, by index, and the pipe it has waited on without a break for some time.
pub(crate) type Stuck = (usize, PipeKey);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    LeakedEnd { pipe: PipeKey, waiting: usize, holder_stage: usize, holder: i32, command: String },
    Deadlock { circle: Vec<Stuck> },
    Stalled { stage: Option<usize> },
}

impl Incidents {
    /// Looks for incidents; the same one is noted once and lasts.
    pub(crate) fn take_in(&mut self, topology: &Topology, accounts: &Accounts, now_ns: u64) {
        let scene = Scene { topology, accounts };
        self.still_since_ns = match (scene.is_still(), self.still_since_ns) {
            (false, _) => None,
            (true, since) => since.or(Some(now_ns)),
        };
        let stuck = scene.stuck(now_ns);
        if stuck.is_empty() {
            return;
        }
        for (waiting, pipe) in &stuck {
            if let Some(what) = scene.leaked_end(*waiting, *pipe) {
                self.note(what, scene.since(&[*waiting], now_ns), now_ns);
            }
        }
        if let Some(circle) = scene.circle(&stuck) {
            let stages: Vec<usize> = circle.iter().map(|(stage, _)| *stage).collect();
            self.note(What::Deadlock { circle }, scene.since(&stages, now_ns), now_ns);
        } else if let Some(still_since_ns) = self.still_since_ns
            && now_ns > still_since_ns + STALLED_NS
        {
            self.note(What::Stalled { stage: scene.awaited() }, still_since_ns, now_ns);
        }
    }

    fn note(&mut self, what: What, since_ns: u64, now_ns: u64) {
        let is_same = |noted: &&mut Noted| noted.what == what && now_ns < noted.last_ns + SAME_NS;
        if let Some(noted) = self.list.iter_mut().rev().find(is_same) {
            noted.last_ns = now_ns;
        } else if self.list.len() < NOTED_MAX {
            self.list.push(Noted { what, since_ns, last_ns: now_ns });
        }
    }
}

/// The pipeline at the moment of a sample.
#[derive(Clone, Copy)]
struct Scene<'a> {
    topology: &'a Topology,
    accounts: &'a Accounts,
}

impl Scene<'_> {
    fn now(&self, stage: usize) -> Option<&Now> {
        self.accounts.stages.get(stage)?.now.as_ref()
    }

    fn alive(&self) -> impl Iterator<Item = usize> {
        let stages = self.topology.stages.iter().enumerate();
        stages.filter(|(_, stage)| stage.alive > 0).map(|(index, _)| index)
    }

    /// Whether no stage runs.
    fn is_still(&self) -> bool {
        !self.alive().any(|stage| self.now(stage) == Some(&Now::Running))
    }

    /// Since when the last of these stages has been blocked.
    fn since(&self, stages: &[usize], now_ns: u64) -> u64 {
        let since = stages.iter().filter_map(|stage| self.accounts.stages[*stage].blocked_since_ns);
        since.max().unwrap_or(now_ns)
    }

    /// Stages that have waited on one pipe without a break for some time.
    fn stuck(&self, now_ns: u64) -> Vec<Stuck> {
        let is_stuck = |stage: &usize| {
            let since = self.accounts.stages[*stage].blocked_since_ns;
            since.is_some_and(|since| now_ns > since + STUCK_NS)
        };
        self.alive()
            .filter(is_stuck)
            .filter_map(|stage| match self.now(stage)? {
                Now::Blocked(Reason::Reading(pipe) | Reason::Writing(pipe)) => Some((stage, *pipe)),
                _ => None,
            })
            .collect()
    }

    /// A reader waits, and all who hold the write end are left-overs: processes whose stage's first
    /// process has ended, or the reader itself.
    fn leaked_end(&self, waiting: usize, key: PipeKey) -> Option<What> {
        if !matches!(self.now(waiting), Some(Now::Blocked(Reason::Reading(_)))) {
            return None;
        }
        let pipe = self.topology.pipes.get(key)?;
        let holders: Vec<(i32, usize)> = pipe
            .handles
            .iter()
            .filter(|held| held.handle.end == End::Write)
            .map(|held| (held.handle.pid, held.stage))
            .collect();
        let own = self.topology.roots.own;
        let is_left_over = |(pid, stage): &(i32, usize)| {
            let holding = &self.topology.stages[*stage];
            let first_is_gone = !holding.leader.is_alive || holding.container == own;
            let process = self.topology.processes.get(pid);
            let is_orphan = || process.is_some_and(|process| process.parent == own);
            *stage == waiting || (first_is_gone && is_orphan() && !self.works(*stage))
        };
        let (holder, holder_stage) = *holders.first()?;
        if pipe.is_outside || !holders.iter().all(is_left_over) {
            return None;
        }
        let process = self.topology.processes.get(&holder);
        let command = process.map(|process| process.words.join(" ")).unwrap_or_default();
        Some(What::LeakedEnd { pipe: key, waiting, holder_stage, holder, command })
    }

    /// Whether a stage runs, or waits for data or room: it will be done with its pipes at some time.
    fn works(&self, stage: usize) -> bool {
        let now = self.now(stage);
        matches!(now, Some(Now::Running | Now::Blocked(Reason::Reading(_) | Reason::Writing(_))))
    }

    /// Stages that wait for each other in a circle, each with the pipe it waits on.
    ///
    /// A stage is lost when everyone who could help it is lost. So those with other hope are struck from the
    /// stuck ones, until only the lost remain. A stage may wait for several pipes, and needs help at one of them only: a
    /// program that passes its input through another one waits for both.
    fn circle(&self, stuck: &[Stuck]) -> Option<Vec<Stuck>> {
        let mut lost: Vec<Stuck> = stuck.to_vec();
        loop {
            let names: BTreeSet<usize> = lost.iter().map(|(stage, _)| *stage).collect();
            let before = lost.len();
            lost.retain(|(stage, pipe)| {
                let is_lost_at = |hope: BTreeSet<usize>| {
                    !hope.is_empty()
                        && hope.iter().all(|helper| names.contains(helper) && helper != stage)
                };
                let others = &self.accounts.stages[*stage].processes.awaited_pipes;
                is_lost_at(self.who_could_help(*stage, *pipe))
                    && others.iter().all(|reason| is_lost_at(self.who_could_end(*reason)))
            });
            if lost.len() == before {
                break;
            }
        }
        self.follow(&lost)
    }

    fn who_could_help(&self, stage: usize, pipe: PipeKey) -> BTreeSet<usize> {
        self.who_could_end(match self.now(stage) {
            Some(Now::Blocked(Reason::Reading(_))) => Reason::Reading(pipe),
            _ => Reason::Writing(pipe),
        })
    }

    /// The stages that hold the other end of the pipe that is waited for; none where it leads outside.
    fn who_could_end(&self, wait: Reason) -> BTreeSet<usize> {
        let (pipe, end) = match wait {
            Reason::Reading(pipe) => (pipe, End::Write),
            Reason::Writing(pipe) => (pipe, End::Read),
            Reason::Other(_) => return BTreeSet::new(),
        };
        let pipe = self.topology.pipes.get(pipe).filter(|pipe| !pipe.is_outside);
        pipe.map(|pipe| pipe.holders(end)).unwrap_or_default()
    }

    /// From any lost stage to its helper and on, until a stage comes again.
    fn follow(&self, lost: &[Stuck]) -> Option<Vec<Stuck>> {
        let mut line: Vec<Stuck> = vec![*lost.first()?];
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
        let waits_on_a_pipe = |stage: usize| {
            let now = self.now(stage);
            matches!(now, Some(Now::Blocked(Reason::Reading(_) | Reason::Writing(_))))
        };
        let mut others = self.alive().filter(|stage| {
            self.topology.stages[*stage].container != 0 && !waits_on_a_pipe(*stage)
        });
        let first = others.next()?;
        others.next().is_none().then_some(first)
    }
}

impl Noted {
    /// The incident as the record holds it, with stages and pipes by number; `None` when one of them is not in the record.
    pub(crate) fn record(
        &self,
        stage_number: impl Fn(usize) -> Option<u32>,
        pipe_number: impl Fn(PipeKey) -> Option<u32>,
        end_ns: u64,
    ) -> Option<Incident> {
        let lasted_ns = self.last_ns.saturating_sub(self.since_ns);
        // A look may come this long before the end of the run.
        const LAST_SAMPLE_NS: u64 = 100_000_000;
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
                to_the_end: self.last_ns + LAST_SAMPLE_NS >= end_ns,
            },
            What::Stalled { stage } => {
                Incident::Stalled { stage: stage.and_then(stage_number), lasted_ns }
            }
        })
    }
}
