//! From one process to the pipeline that it is in.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_proc::{Root, State};

use crate::graph::{Graph, Joining, Resident, sides};
use crate::sampler::ends::pipe_ends;

/// The processes of the pipelines that some processes are in, each after its parent, without those whose parent is one of
/// them. The first number is that of the parent.
pub(crate) fn members(root: &Root, seeds: &BTreeSet<i32>, own: i32) -> Vec<(i32, i32)> {
    let mut residents = candidates(root, seeds, own);
    for (pid, resident) in &mut residents {
        let ends = pipe_ends(&root.fds(*pid).unwrap_or_default());
        resident.sides = sides(&ends, || root.command_line(*pid));
    }
    let graph = Graph::of(&residents, Joining::All);
    graph.tops(&graph.joined(seeds.iter().copied()))
}

/// The processes of the same sessions, without fullbore and those above it.
fn candidates(root: &Root, seeds: &BTreeSet<i32>, own: i32) -> BTreeMap<i32, Resident> {
    let sessions: BTreeSet<i32> =
        seeds.iter().filter_map(|pid| Some(root.stat(*pid)?.session)).collect();
    let mut all = BTreeMap::new();
    for pid in root.processes() {
        let Some(stat) = root.stat(pid) else { continue };
        if stat.state != State::Ended {
            let (parent, session) = (stat.parent, stat.session);
            all.insert(pid, Resident { parent, session, ..Resident::default() });
        }
    }
    let mut above = Some(own);
    while let Some(pid) = above {
        let parent = all.remove(&pid).map(|resident| resident.parent);
        // Whoever asks about a process above fullbore means it.
        above = parent.filter(|parent| !seeds.contains(parent));
    }
    all.retain(|_, resident| sessions.contains(&resident.session));
    all
}
