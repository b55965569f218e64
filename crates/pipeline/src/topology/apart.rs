//! When a stage is really several: a pipe has joined two of its processes for some time.

use std::collections::{BTreeMap, BTreeSet};

use fullbore_pipe::End;

use crate::topology::pipes::{Pipe, Pipes};
use crate::topology::process::Process;

/// Two processes of one stage that a pipe joins must both be older than this before the stage is taken apart: the
/// `echo | sed` of a loop's body must not become two stages a turn.
const INNER_PIPE_NS: u64 = 150_000_000;

/// What the pipes within stages ask for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parting {
    /// Processes whose children should be stages of their own.
    pub(crate) parents: BTreeSet<i32>,
    /// When to look again, for pipes that are still too young.
    pub(crate) again_ns: Option<u64>,
}

/// Finds the stages to take apart: `(a | b) | c`, `tee >(b)`, `tar -I zstd`.
pub(crate) fn parting(pipes: &Pipes, processes: &BTreeMap<i32, Process>, now_ns: u64) -> Parting {
    let mut parting = Parting::default();
    for (_, pipe) in pipes.iter() {
        let Some((writer, reader)) = inner_pair(pipe) else { continue };
        let is_old = |pid: i32| {
            processes.get(&pid).is_some_and(|process| now_ns > process.first_ns + INNER_PIPE_NS)
        };
        if is_old(writer) && is_old(reader) {
            let ancestor = common_ancestor(processes, writer, reader);
            parting
                .parents
                .extend(ancestor.filter(|pid| !is_one_stage(processes, *pid, writer, reader)));
        } else {
            parting.again_ns = Some(now_ns + INNER_PIPE_NS / 3);
        }
    }
    parting
}

/// `fullbore par`, its copies and what these start are one stage, whatever joins them.
fn is_one_stage(
    processes: &BTreeMap<i32, Process>,
    ancestor: i32,
    writer: i32,
    reader: i32,
) -> bool {
    let works_for_par = processes.get(&ancestor).is_some_and(|process| process.kin.par.is_some());
    works_for_par || is_own_copy(processes, ancestor, writer, reader)
}

/// A program and a copy of it that it talks to are one stage, and so are copies of one program that talk to each other (a
/// pool of worker processes). Copies of a shell are not: `(a | b)` in its functions and loops is a pipeline.
fn is_own_copy(
    processes: &BTreeMap<i32, Process>,
    ancestor: i32,
    writer: i32,
    reader: i32,
) -> bool {
    let words = |pid: i32| processes.get(&pid).map(|process| &process.words);
    let is_shell = || words(ancestor).is_some_and(|words| is_shell(words));
    words(writer) == words(reader)
        && ([writer, reader].contains(&ancestor) || words(ancestor) == words(writer) && !is_shell())
}

/// Copies of a shell work each for itself; those of any other program are one pool.
fn is_shell(words: &[String]) -> bool {
    words.first().is_some_and(|first| fullbore_shell::is_shell(first))
}

/// A process that only writes and one that only reads the pipe, when both belong to one stage.
fn inner_pair(pipe: &Pipe) -> Option<(i32, i32)> {
    let ends = |pid: i32| {
        let of =
            |end| pipe.handles.iter().any(|held| held.handle.pid == pid && held.handle.end == end);
        (of(End::Write), of(End::Read))
    };
    let only = |wanted: (bool, bool)| {
        // The youngest: a parent may still hold what it opened for its children.
        pipe.handles
            .iter()
            .rfind(|held| ends(held.handle.pid) == wanted)
            .map(|held| (held.handle.pid, held.stage))
    };
    let (writer, writing_stage) = only((true, false))?;
    let (reader, reading_stage) = only((false, true))?;
    (writing_stage == reading_stage && writer != reader).then_some((writer, reader))
}

fn common_ancestor(processes: &BTreeMap<i32, Process>, one: i32, two: i32) -> Option<i32> {
    let line = |pid: i32| std::iter::successors(Some(pid), |pid| Some(processes.get(pid)?.parent));
    let ancestors: Vec<i32> = line(one).collect();
    line(two).find(|pid| ancestors.contains(pid) && processes.contains_key(pid))
}
