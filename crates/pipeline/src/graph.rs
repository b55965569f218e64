//! Which processes of a machine belong to one pipeline. Pure: a function of who holds which ends.
//!
//! Processes of one session belong together when one writes what another reads, when they share an end, or when one
//! started the other and that is of the pipeline. A process that holds both ends of a pipe uses it for itself, or hands it
//! on, as make does with the pipe of its job server: that joins nobody. Nor does a descriptor that seems to be inherited by
//! mistake.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fullbore_pipe::{End, PipeId};

use crate::sample::PipeEnd;
use crate::topology::process::may_be_leaked;

/// A process of the machine, as far as that says what it belongs to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Resident {
    pub(crate) parent: i32,
    pub(crate) session: i32,
    /// The pipes of which it holds one side.
    pub(crate) sides: BTreeMap<PipeId, End>,
}

/// The sides of pipes that join a process with others; `words` gives its command line, if that matters.
pub(crate) fn sides(
    ends: &[PipeEnd],
    words: impl FnOnce() -> Vec<String>,
) -> BTreeMap<PipeId, End> {
    let is_suspect = ends.iter().any(|end| may_be_leaked(end.fd, &[]));
    let words = if is_suspect { words() } else { Vec::new() };
    let mut reads = BTreeSet::new();
    let mut writes = BTreeSet::new();
    for end in ends.iter().filter(|end| !is_suspect || !may_be_leaked(end.fd, &words)) {
        if end.reads {
            reads.insert(end.pipe);
        }
        if end.writes {
            writes.insert(end.pipe);
        }
    }
    let one_side = reads.symmetric_difference(&writes);
    one_side
        .map(|pipe| (*pipe, if reads.contains(pipe) { End::Read } else { End::Write }))
        .collect()
}

/// Which pipes join their holders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joining {
    /// All: processes that only write to the same reader outside belong together, too.
    All,
    /// Those that one process of the session writes and another reads.
    Within,
}

/// Who is joined with whom.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    residents: &'a BTreeMap<i32, Resident>,
    holders: HashMap<(i32, PipeId), Vec<(i32, End)>>,
    children: HashMap<i32, Vec<i32>>,
    joining: Joining,
}

impl<'a> Graph<'a> {
    pub(crate) fn of(residents: &'a BTreeMap<i32, Resident>, joining: Joining) -> Self {
        let mut holders: HashMap<_, Vec<_>> = HashMap::new();
        let mut children: HashMap<_, Vec<_>> = HashMap::new();
        for (pid, resident) in residents {
            for (pipe, end) in &resident.sides {
                holders.entry((resident.session, *pipe)).or_default().push((*pid, *end));
            }
            children.entry(resident.parent).or_default().push(*pid);
        }
        Self { residents, holders, children, joining }
    }

    /// The processes that are joined with `seeds`, these included, as far as they are known.
    pub(crate) fn joined(&self, seeds: impl IntoIterator<Item = i32>) -> BTreeSet<i32> {
        let mut found = BTreeSet::new();
        let mut left: Vec<i32> = seeds.into_iter().collect();
        while let Some(pid) = left.pop() {
            let Some(resident) = self.residents.get(&pid) else { continue };
            if !found.insert(pid) {
                continue;
            }
            let is_kin = |child: &&i32| {
                self.residents.get(*child).is_some_and(|child| child.session == resident.session)
            };
            left.extend(self.children.get(&pid).into_iter().flatten().filter(is_kin));
            for pipe in resident.sides.keys() {
                let holders = &self.holders[&(resident.session, *pipe)];
                if self.joining == Joining::All || joins(holders) {
                    left.extend(holders.iter().map(|(pid, _)| *pid));
                }
            }
        }
        found
    }

    /// Every set of processes that pipes join.
    pub(crate) fn pipelines(&self) -> Vec<BTreeSet<i32>> {
        let joining = self.holders.values().filter(|holders| joins(holders));
        let seeds: BTreeSet<i32> = joining.flatten().map(|(pid, _)| *pid).collect();
        let mut all: Vec<BTreeSet<i32>> = Vec::new();
        let mut place_of: HashMap<i32, usize> = HashMap::new();
        for seed in seeds {
            if place_of.contains_key(&seed) {
                continue;
            }
            let mut found = self.joined([seed]);
            // One that was started by this one and found before it.
            let inner: BTreeSet<usize> =
                found.iter().filter_map(|pid| place_of.get(pid).copied()).collect();
            for place in inner {
                found.append(&mut all[place]);
            }
            place_of.extend(found.iter().map(|pid| (*pid, all.len())));
            all.push(found);
        }
        all.retain(|found| !found.is_empty());
        all
    }

    /// Those of `found` whose parent is not one of them, each after its parent.
    pub(crate) fn tops(&self, found: &BTreeSet<i32>) -> Vec<(i32, i32)> {
        let of = |pid: &i32| Some((self.residents.get(pid)?.parent, *pid));
        found.iter().filter_map(of).filter(|(parent, _)| !found.contains(parent)).collect()
    }
}

/// Whether one process writes what another reads.
fn joins(holders: &[(i32, End)]) -> bool {
    let has = |which: End| holders.iter().any(|(_, end)| *end == which);
    has(End::Read) && has(End::Write)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process of session 1: its number, its parent, the pipes it reads, and those it writes.
    fn machine(processes: &[(i32, i32, &[u64], &[u64])]) -> BTreeMap<i32, Resident> {
        let resident = |parent: i32, reads: &[u64], writes: &[u64]| {
            let end = |inode: &u64, reads: bool| PipeEnd {
                fd: 0,
                pipe: PipeId { device: 0, inode: *inode },
                path: None,
                reads,
                writes: !reads,
            };
            let ends: Vec<PipeEnd> = reads
                .iter()
                .map(|i| end(i, true))
                .chain(writes.iter().map(|i| end(i, false)))
                .collect();
            Resident { parent, session: 1, sides: sides(&ends, Vec::new) }
        };
        processes.iter().map(|(pid, parent, r, w)| (*pid, resident(*parent, r, w))).collect()
    }

    fn pipelines(all: &BTreeMap<i32, Resident>) -> Vec<Vec<i32>> {
        let found = Graph::of(all, Joining::Within).pipelines();
        found.into_iter().map(|one| one.into_iter().collect()).collect()
    }

    #[test]
    fn those_that_write_what_another_reads_belong_together_with_what_they_start() {
        let all = machine(&[
            (10, 1, &[], &[]),
            (11, 10, &[], &[1]),
            (12, 10, &[1], &[2]),
            (13, 10, &[2], &[]),
            (14, 12, &[], &[]),
            (20, 10, &[], &[]),
        ]);
        assert_eq!(pipelines(&all), [[11, 12, 13, 14]]);
        let graph = Graph::of(&all, Joining::Within);
        assert_eq!(graph.tops(&graph.joined([12])), [(10, 11), (10, 12), (10, 13)]);
    }

    #[test]
    fn a_reader_outside_joins_only_where_that_is_wanted() {
        let all = machine(&[
            (11, 1, &[], &[1, 9]),
            (12, 1, &[1], &[9]),
            (13, 1, &[], &[2, 9]),
            (14, 1, &[2], &[]),
        ]);
        assert_eq!(pipelines(&all), [[11, 12], [13, 14]]);
        assert_eq!(Graph::of(&all, Joining::All).joined([11]).len(), 4);
    }

    #[test]
    fn whoever_holds_both_ends_and_other_sessions_join_nobody() {
        let mut all =
            machine(&[(11, 1, &[5], &[5, 1]), (12, 11, &[5, 1], &[5]), (13, 11, &[5], &[5])]);
        assert_eq!(pipelines(&all), [[11, 12, 13]], "by pipe 1 and by descent, not by pipe 5");
        all.get_mut(&12).unwrap().session = 2;
        assert_eq!(pipelines(&all), Vec::<Vec<i32>>::new());
    }

    #[test]
    fn a_pipeline_within_another_is_part_of_it_whatever_the_numbers() {
        // 50 | (40 starts 30 | 31)
        let all = machine(&[
            (50, 1, &[], &[1]),
            (60, 1, &[1], &[]),
            (30, 60, &[], &[2]),
            (31, 60, &[2], &[]),
        ]);
        assert_eq!(pipelines(&all), [[30, 31, 50, 60]]);
    }

    #[test]
    fn a_descriptor_left_open_by_a_shell_joins_nobody() {
        let pipe = PipeId { device: 0, inode: 7 };
        let end = |fd| [PipeEnd { fd, pipe, path: None, reads: true, writes: false }];
        assert!(sides(&end(63), || vec!["sort".to_owned()]).is_empty());
        assert_eq!(sides(&end(63), || vec!["cmp".to_owned(), "/dev/fd/63".to_owned()]).len(), 1);
        assert_eq!(sides(&end(0), || unreachable!()).len(), 1);
    }
}
