//! Pipelines by the command line of one of their processes.

use std::collections::BTreeSet;

use fullbore_proc::Root;

use crate::sampler::members;

/// A process whose command line contains a text; the first of its pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Named {
    /// Its number.
    pub pid: i32,
    /// Its command line.
    pub command: String,
}

/// Processes whose command line contains `text`, one of each pipeline; without fullbore and the processes above it, and
/// without a shell that has such a process below it.
#[must_use]
pub fn named(text: &str) -> Vec<Named> {
    let root = Root::system();
    let own = std::process::id().cast_signed();
    let above = above(&root, own);
    let mut found: Vec<Named> = root
        .processes()
        .into_iter()
        .filter(|pid| !above.contains(pid))
        .map(|pid| Named { pid, command: root.command_line(pid).join(" ") })
        .filter(|one| !one.command.is_empty() && one.command.contains(text))
        .collect();
    let parents: BTreeSet<i32> = found.iter().flat_map(|one| above_of(&root, one.pid)).collect();
    found.retain(|one| !parents.contains(&one.pid));
    let mut pipelines = BTreeSet::new();
    found.retain(|one| pipelines.insert(members(&root, &BTreeSet::from([one.pid]), own)));
    found
}

/// A process and those above it.
fn above(root: &Root, pid: i32) -> BTreeSet<i32> {
    above_of(root, pid).chain([pid]).collect()
}

fn above_of(root: &Root, pid: i32) -> impl Iterator<Item = i32> {
    let parent_of = |pid: &i32| root.stat(*pid).map(|stat| stat.parent).filter(|pid| *pid > 0);
    std::iter::successors(parent_of(&pid), parent_of).collect::<Vec<_>>().into_iter()
}
