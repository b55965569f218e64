//! Who has been started since: processes are found by asking those that are watched for their children.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_proc::{HotFile, Root};

use crate::sampler::files::ProcessFiles;

/// The children of fullbore (the shell, and processes whose parent ended), and processes that are not to be watched.
#[derive(Debug)]
pub(super) struct Children {
    pub(super) list: HotFile,
    /// Those that fullbore had before the run; they are not of the pipeline.
    pub(super) strangers: BTreeSet<i32>,
    /// Processes of the run that ended and have not been waited for.
    pub(super) zombies: BTreeSet<i32>,
}

/// Who is asked for children.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    /// The process of fullbore.
    pub(super) own: i32,
    /// These watched processes; all, and fullbore itself, if it is `None`.
    pub(super) only: Option<&'a BTreeSet<i32>>,
    /// Threads other than the first may start processes, too; they are asked now and then.
    pub(super) all_tasks: bool,
}

impl Asked<'_> {
    fn includes(self, pid: i32) -> bool {
        self.only.is_none_or(|only| only.contains(&pid))
    }
}

impl Children {
    /// Children of those who are asked that are not watched themselves, each with its parent.
    pub(super) fn find(
        &mut self,
        root: &Root,
        watched: &BTreeMap<i32, ProcessFiles>,
        asked: Asked<'_>,
        buffer: &mut [u8],
    ) -> Vec<(i32, i32)> {
        let mut found = Vec::new();
        let mut children = Vec::new();
        for (pid, process) in watched.iter().filter(|(pid, _)| asked.includes(**pid)) {
            if !process.news.has_run && !asked.all_tasks {
                continue;
            }
            children.clear();
            let tasks = if asked.all_tasks { usize::MAX } else { 1 };
            process.read_children(tasks, buffer, &mut children);
            found.extend(children.iter().map(|child| (*pid, *child)));
        }
        if !self.list.is_open() && asked.all_tasks {
            let children = find_by_parent(root, watched, asked.own).into_iter();
            found.extend(children.filter(|(parent, _)| asked.includes(*parent)));
        }
        if asked.only.is_none() {
            let list = self.list.read(buffer).unwrap_or_default().split_ascii_whitespace();
            found.extend(list.filter_map(|pid| Some((asked.own, pid.parse().ok()?))));
            self.zombies.retain(|zombie| found.iter().any(|(_, pid)| pid == zombie));
        }
        found.retain(|(_, pid)| {
            !watched.contains_key(pid)
                && !self.zombies.contains(pid)
                && !self.strangers.contains(pid)
        });
        found
    }
}

/// The same from every process's own word on its parent, for a Linux without lists of children.
fn find_by_parent(root: &Root, watched: &BTreeMap<i32, ProcessFiles>, own: i32) -> Vec<(i32, i32)> {
    let all = root.processes().into_iter().filter(|pid| *pid != own);
    let parents = all.filter_map(|pid| Some((root.stat(pid)?.parent, pid)));
    let is_known = |parent: &i32| *parent == own || watched.contains_key(parent);
    parents.filter(|(parent, _)| is_known(parent)).collect()
}
