//! From one process to the pipeline that it is in.
//!
//! Processes of one session belong together when one writes what another reads, when they share an end, or when one
//! started the other and that is of the pipeline. A process that holds both ends of a pipe uses it for itself, or hands it
//! on, as make does with the pipe of its job server: that joins nobody. Nor does a descriptor that seems to be inherited by
//! mistake.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_pipe::PipeId;
use fullbore_proc::{Root, State};

use crate::sampler::ends::pipe_ends;
use crate::topology::process::may_be_leaked;

/// The processes of the pipelines that some processes are in, each after its parent, without those whose parent is one of
/// them. The first number is that of the parent.
pub(crate) fn members(root: &Root, seeds: &BTreeSet<i32>, own: i32) -> Vec<(i32, i32)> {
    let candidates = candidates(root, seeds, own);
    let pipes = Neighbours::of(root, candidates.keys().copied());
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, parent) in &candidates {
        children.entry(*parent).or_default().push(*pid);
    }
    let mut found = BTreeSet::new();
    let mut left: Vec<i32> = seeds.iter().copied().filter(|p| candidates.contains_key(p)).collect();
    while let Some(pid) = left.pop() {
        if found.insert(pid) {
            left.extend(children.get(&pid).into_iter().flatten());
            left.extend(pipes.of_process(pid));
        }
    }
    let parent_of = |pid: &i32| candidates.get(pid).copied().unwrap_or_default();
    let tops = found.iter().filter(|pid| !found.contains(&parent_of(pid)));
    tops.map(|pid| (parent_of(pid), *pid)).collect()
}

/// The processes of the same sessions, each with its parent, without fullbore and those above it.
fn candidates(root: &Root, seeds: &BTreeSet<i32>, own: i32) -> BTreeMap<i32, i32> {
    let sessions: BTreeSet<i32> =
        seeds.iter().filter_map(|pid| Some(root.stat(*pid)?.session)).collect();
    let mut all = BTreeMap::new();
    for pid in root.processes() {
        let Some(stat) = root.stat(pid) else { continue };
        if stat.state != State::Ended {
            all.insert(pid, (stat.parent, stat.session));
        }
    }
    let mut above = Some(own);
    while let Some(pid) = above {
        let parent = all.remove(&pid).map(|(parent, _)| parent);
        // Whoever asks about a process above fullbore means it.
        above = parent.filter(|parent| !seeds.contains(parent));
    }
    let of_session = all.into_iter().filter(|(_, (_, session))| sessions.contains(session));
    of_session.map(|(pid, (parent, _))| (pid, parent)).collect()
}

/// Who holds an end of a pipe.
struct Neighbours {
    holders: BTreeMap<PipeId, BTreeSet<i32>>,
    held: BTreeMap<i32, BTreeSet<PipeId>>,
}

impl Neighbours {
    fn of(root: &Root, processes: impl Iterator<Item = i32>) -> Self {
        let mut all = Self { holders: BTreeMap::new(), held: BTreeMap::new() };
        for pid in processes {
            let mut ends = pipe_ends(&root.fds(pid).unwrap_or_default());
            if ends.iter().any(|end| may_be_leaked(end.fd, &[])) {
                let words = root.command_line(pid);
                ends.retain(|end| !may_be_leaked(end.fd, &words));
            }
            let holds = |pipe: PipeId, reads: bool| {
                ends.iter()
                    .any(|end| end.pipe == pipe && if reads { end.reads } else { end.writes })
            };
            for end in &ends {
                if holds(end.pipe, true) && holds(end.pipe, false) {
                    continue;
                }
                all.holders.entry(end.pipe).or_default().insert(pid);
                all.held.entry(pid).or_default().insert(end.pipe);
            }
        }
        all
    }

    fn of_process(&self, pid: i32) -> impl Iterator<Item = i32> {
        let pipes = self.held.get(&pid).into_iter().flatten();
        pipes.filter_map(|pipe| self.holders.get(pipe)).flatten().copied()
    }
}
